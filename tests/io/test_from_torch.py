"""Files that torch wrote load here as the same objects."""

import io
from collections import Counter, OrderedDict
from pickle import UnpicklingError

import pytest
import torch

from autograd_lab.core.tensor import Parameter
from autograd_lab.io import load
from autograd_lab.io.records import RecordReader, RecordWriter
from tests.io.compare import DTYPES, FORMS, assert_same, torch_tensor


def through_torch(obj, **options):
    """What we load from the file torch makes of ``obj``."""
    buffer = io.BytesIO()
    torch.save(obj, buffer, **options)
    buffer.seek(0)
    return load(buffer)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_form(name, form):
    theirs = FORMS[form](torch_tensor(name, seed=len(form)))
    ours = through_torch(theirs)
    assert_same(ours, theirs)
    if theirs.numel():
        assert ours.storage_offset() == theirs.storage_offset()


def containers(seed):
    """Nested containers whose contents depend on the seed."""
    gen = torch.manual_seed(seed)
    names = DTYPES[seed % len(DTYPES) :] + DTYPES[: seed % len(DTYPES)]

    def value(depth):
        pick = int(torch.randint(0, 16 if depth else 11, (), generator=gen))
        if pick < 4:
            return torch_tensor(names[pick], seed + pick)
        if pick < 11:
            options = [
                seed * 3**seed,
                -seed,
                seed / 3,
                "text ÿ ☃ \ud800" + str(seed),
                b"\x00\xffraw",
                None,
                bool(seed % 2),
            ]
            return options[pick - 4]
        inner = [value(depth - 1) for _ in range(int(torch.randint(0, 5, (), generator=gen)))]
        makers = [
            list,
            tuple,
            lambda v: dict(enumerate(v)),
            lambda v: OrderedDict((str(i), x) for i, x in enumerate(v)),
        ]
        return makers[pick - 12](inner) if pick > 11 else {(i, str(i)): x for i, x in enumerate(inner)}

    return {"seed": seed, "values": [value(4) for _ in range(12)]}


@pytest.mark.parametrize("seed", range(20))
def test_nested_containers(seed):
    theirs = containers(seed)
    assert_same(through_torch(theirs), theirs)


def test_every_plain_type():
    theirs = {
        "size": torch.Size([2, 3]),
        "dtypes": [getattr(torch, name) for name in DTYPES],
        "device": [torch.device("cpu"), torch.device("cuda", 1)],
        "set": {1},
        "frozenset": frozenset([2]),
        "counter": Counter("aab"),
        "bytes": [b"", b"a", bytearray(), bytearray(b"xy")],
        "complex": complex(1, -0.0),
        "ints": [0, 255, 256, 65535, 65536, -1, -(2**31), 2**31, 2**64, -(2**2100)],
        "floats": [0.0, -0.0, float("inf"), float("nan"), 1e-320],
        "long": list(range(2500)),
        "wide": {i: i for i in range(2001)},
        "ordered": OrderedDict((i, i) for i in range(1001)),
    }
    assert_same(through_torch(theirs), theirs)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_newer_pickle_protocols(protocol):
    theirs = {
        "a": torch.arange(3.0),
        "set": {1},
        "bytes": b"ab",
        "big": b"x" * 300,
        "frozen": frozenset([1]),
        "n": 2**80,
    }
    assert_same(through_torch(theirs, pickle_protocol=protocol), theirs)


def test_parameters_and_requires_grad():
    tied = torch.nn.Parameter(torch.randn(3))
    theirs = [tied, tied, torch.nn.Parameter(torch.arange(3), requires_grad=False), torch.ones(2, requires_grad=True)]
    ours = through_torch(theirs)
    assert_same(ours, theirs)
    assert ours[0] is ours[1]


def test_state_dicts_of_a_model_and_its_optimisers():
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Flatten(), torch.nn.Linear(8, 3)
    )
    for make in (torch.optim.Adam, torch.optim.SGD, torch.optim.AdamW, torch.optim.RMSprop):
        optimiser = make(model.parameters(), lr=0.1)
        model(torch.randn(2, 1, 4, 4)).sum().backward()
        optimiser.step()
        theirs = {"model": model.state_dict(), "optimiser": optimiser.state_dict(), "epoch": 3}
        ours = through_torch(theirs)
        assert_same(ours, theirs)
        assert ours["model"]._metadata == theirs["model"]._metadata


def test_views_share_memory_and_version():
    base = torch.arange(12.0).reshape(3, 4)
    whole, row, turned, other = through_torch([base, base[1], base.t(), base.clone()])
    row._array()[0] = 99.0
    assert whole._array()[1, 0] == 99.0 == turned._array()[0, 1]
    assert other._array()[1, 0] == 4.0
    assert whole._st is row._st is turned._st and whole._st is not other._st
    assert whole.detach()._st is row._st


def test_parameters_that_are_views_of_one_storage_share_it():
    flat = torch.randn(6)
    parts = [torch.nn.Parameter(flat[:3]), torch.nn.Parameter(flat[3:]), flat]
    ours = through_torch(parts)
    assert_same(ours, parts)
    assert type(ours[0]) is Parameter
    ours[2]._array()[0] = 5.0
    assert ours[0]._array()[0] == 5.0
    assert ours[0]._st is ours[1]._st is ours[2]._st


def test_untyped_storage_read_with_two_dtypes():
    words = torch_tensor("uint16", 1, (8,))
    ours = through_torch([words, words.view(torch.uint32)])
    ours[0]._array()[:2] = 0xFFFF
    assert ours[1]._array()[0] == 0xFFFFFFFF


def test_conjugate_and_negative_bits_are_resolved():
    values = torch.tensor([1 + 2j, 3 - 4j])
    for theirs in (values.conj(), values.conj().imag, values.imag):
        assert_same(through_torch(theirs), theirs, strides=False)


def test_containers_that_hold_themselves():
    loop = [1]
    loop.append((loop, {"loop": loop}))
    ours = through_torch(loop)
    assert ours[1][0] is ours and ours[1][1]["loop"] is ours


def test_attributes_put_on_tensors():
    tensor, parameter = torch.ones(2), torch.nn.Parameter(torch.ones(2))
    tensor.note, parameter.note = "mine", [1, 2]
    ours = through_torch([tensor, parameter])
    assert (ours[0].note, ours[1].note) == ("mine", [1, 2])


def test_other_byte_order():
    buffer = io.BytesIO()
    kinds = ["int16", "float32", "complex64", "uint8", "bool", "bfloat16"]
    theirs = [torch_tensor(name, 3) for name in kinds]
    source = io.BytesIO()
    torch.save(theirs, source)
    source.seek(0)
    records = RecordReader(source)
    writer = RecordWriter(buffer.write, "archive")
    writer.add("data.pkl", records.read("data.pkl"))
    writer.add("byteorder", b"big")
    for i, width in enumerate([2, 4, 4, 1, 1, 2]):
        writer.add(f"data/{i}", records.read(f"data/{i}").reshape(-1, width)[:, ::-1].copy().reshape(-1))
    writer.close()
    buffer.seek(0)
    assert_same(load(buffer), theirs)


def test_files_without_checksums_load():
    torch.serialization.set_crc32_options(False)
    try:
        assert_same(through_torch([torch.arange(5)]), [torch.arange(5)])
    finally:
        torch.serialization.set_crc32_options(True)


@pytest.mark.parametrize("what", ["sparse", "meta"])
def test_tensors_that_we_lack_are_named(what):
    made = {
        "sparse": lambda: torch.eye(3).to_sparse(),
        "meta": lambda: torch.empty(3, device="meta"),
    }[what]()
    with pytest.raises(UnpicklingError, match=what):
        through_torch(made)
