"""Files that we wrote load in torch, with ``weights_only=True``, as the same objects; often they are the same bytes."""

import io
import zipfile
from collections import Counter, OrderedDict
from pickle import PicklingError

import ml_dtypes
import numpy as np
import pytest
import torch

from autograd_lab.backend import dtype as dt
from autograd_lab.backend.device import device
from autograd_lab.core.size import Size
from autograd_lab.core.tensor import Parameter, wrap
from autograd_lab.io import load, save
from tests.io.compare import DTYPES, FORMS, assert_same, torch_tensor
from tests.io.test_from_torch import containers, through_torch


def to_torch(obj):
    """What torch loads from the file we make of ``obj``."""
    buffer = io.BytesIO()
    save(obj, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=True)


NUMPY_FORMS = {
    "whole": lambda a: a,
    "view": lambda a: a.T[1:, ::2],
    "one value": lambda a: a[1:2, 2].reshape(()),
    "empty": lambda a: a[:, :0],
    "expanded": lambda a: np.broadcast_to(a[1:2], (3, 5)),
    "backward": lambda a: a[::-1, ::-1],
}


@pytest.mark.parametrize("form", NUMPY_FORMS)
@pytest.mark.parametrize("kind", dt.ALL, ids=repr)
def test_every_dtype_and_form(kind, form):
    bits = np.random.default_rng(1).integers(0, 256, (4, 5 * kind.itemsize), np.uint8)
    array = bits > 127 if kind is dt.bool_ else bits.view(kind.numpy)
    ours = wrap(NUMPY_FORMS[form](array))
    assert_same(ours, to_torch(ours), strides=form != "backward")


@pytest.mark.parametrize("seed", range(20))
def test_what_torch_wrote_goes_back_the_same(seed):
    theirs = containers(seed)
    assert_same(through_torch(theirs), to_torch(through_torch(theirs)))


@pytest.mark.parametrize("form", FORMS)
def test_the_files_are_the_same_bytes(form):
    """All but the random-looking identity record at the end equals what torch writes."""
    tensors = [FORMS[form](torch_tensor(name, 5)).clone(memory_format=torch.contiguous_format) for name in DTYPES]
    theirs = {"tensors": tensors, "ordered": OrderedDict(values=(1, 2.5)), "bytes": b"xyz", "complex": 1j}
    there, here = io.BytesIO(), io.BytesIO()
    torch.save(theirs, there)
    there.seek(0)
    save(load(there), here)
    first, second = zipfile.ZipFile(there), zipfile.ZipFile(here)
    assert first.namelist() == second.namelist()
    for name in first.namelist()[:-1]:
        assert first.read(name) == second.read(name)
        assert first.getinfo(name).header_offset == second.getinfo(name).header_offset


def test_a_state_dict_is_the_same_pickle():
    theirs = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)).state_dict()
    there, here = io.BytesIO(), io.BytesIO()
    torch.save(theirs, there)
    there.seek(0)
    save(load(there), here)
    assert zipfile.ZipFile(there).read("archive/data.pkl") == zipfile.ZipFile(here).read("archive/data.pkl")


def test_every_plain_type():
    ours = {
        "size": Size([2, 3]),
        "dtypes": list(dt.ALL),
        "device": [device("cpu"), device("cuda", 1)],
        "set": {1},
        "counter": Counter("aab"),
        "bytes": [b"", b"a", bytearray(), bytearray(b"xy")],
        "complex": complex(1, -0.0),
        "ints": [0, 255, 256, 65535, 65536, -1, -(2**31), 2**31, 2**64, -(2**2000)],
        "floats": [0.0, -0.0, float("inf"), float("nan"), 1e-320],
        "long": list(range(2500)),
        "wide": {i: i for i in range(2001)},
        "ordered": OrderedDict((i, i) for i in range(1001)),
        "text": ["", "ÿ☃", "\ud800"],
    }
    assert_same(ours, to_torch(ours))


def test_parameters_tied_and_optimiser_states():
    tied = Parameter(wrap(np.ones((2, 3), np.float32)))
    state = OrderedDict([("a.weight", tied), ("b.weight", tied)])
    state._metadata = OrderedDict([("", {"version": 1})])
    ours = {
        "model": state,
        "optimiser": {
            "state": {0: {"step": wrap(np.float32(3)), "exp_avg": wrap(np.zeros((2, 3), np.float32))}},
            "param_groups": [{"lr": 0.1, "betas": (0.9, 0.999), "params": [0]}],
        },
        "frozen": Parameter(wrap(np.arange(3)), requires_grad=False),
        "leaf": wrap(np.ones(2, np.float32)).requires_grad_(),
    }
    theirs = to_torch(ours)
    assert_same(ours, theirs)
    assert theirs["model"]["a.weight"] is theirs["model"]["b.weight"]
    assert theirs["model"]._metadata == state._metadata


def test_views_share_memory_there():
    base = np.arange(24.0, dtype=np.float32).reshape(4, 6)
    whole, part, turned = wrap(base), wrap(base[1:3, ::2]), wrap(base.T)
    ours = [part, turned, whole, whole.detach(), wrap(base.copy())]
    theirs = to_torch(ours)
    assert_same(ours, theirs)
    pointers = [t.untyped_storage().data_ptr() for t in theirs]
    assert len(set(pointers[:4])) == 1 and pointers[4] not in pointers[:4]
    assert theirs[0].storage_offset() == 6


def test_aliases_by_the_cores_storage_share_one_storage():
    base = wrap(np.arange(6.0, dtype=np.float32))
    left, right = wrap(base._array()[:3]), wrap(base._array()[3:])
    left._st = right._st = base.detach()._st
    theirs = to_torch([left, right])
    assert theirs[0].untyped_storage().data_ptr() == theirs[1].untyped_storage().data_ptr()


def test_memory_that_nothing_saved_looks_at_is_not_written():
    buffer = io.BytesIO()
    save(wrap(np.zeros(1_000_000, np.float32)[10:20]), buffer)
    assert len(buffer.getvalue()) < 2_000


def test_one_memory_with_two_dtypes():
    numbers = np.array([1 + 2j, 3 + 4j], np.complex64)
    theirs = to_torch([wrap(numbers), wrap(numbers.view(np.float32)), wrap(numbers.view(np.float32)[1:])])
    theirs[1][0] = 9.0
    assert theirs[0].tolist() == [9 + 2j, 3 + 4j] and theirs[2].tolist() == [2.0, 3.0, 4.0]


def test_views_by_as_strided_share():
    base = np.arange(8, dtype=np.int32)
    theirs = to_torch([wrap(base), wrap(np.lib.stride_tricks.as_strided(base, (5, 4), (4, 4)))])
    assert theirs[0].data_ptr() == theirs[1].data_ptr() and theirs[1].stride() == (1, 1)


def test_unboxed_values_and_other_byte_orders():
    theirs = to_torch([wrap(np.float32(2.5)), wrap(np.array(1, ml_dtypes.bfloat16)), wrap(np.arange(3, dtype=">i4"))])
    assert [t.tolist() for t in theirs] == [2.5, 1.0, [0, 1, 2]]


def test_containers_that_hold_themselves():
    loop = [1]
    loop.append((loop, {"loop": loop}))
    theirs = to_torch(loop)
    assert theirs[1][0] is theirs and theirs[1][1]["loop"] is theirs
    recursive = ([], [], [], [])
    recursive[0].append(recursive)
    assert (lambda t: t[0][0] is t)(through_ours(recursive))


def through_ours(obj):
    """What we load from our own file."""
    buffer = io.BytesIO()
    save(obj, buffer)
    buffer.seek(0)
    return load(buffer)


def test_attributes_put_on_tensors():
    tensor, parameter = wrap(np.ones(2)), Parameter(wrap(np.ones(2)))
    tensor.note, parameter.note = wrap(np.zeros(1)), [1, 2]
    theirs = to_torch([tensor, parameter])
    assert theirs[0].note.tolist() == [0.0] and theirs[1].note == [1, 2]


def test_torch_maps_our_files(tmp_path):
    path = tmp_path / "mapped.pt"
    ours = {"a": wrap(np.arange(1000.0)), "e": wrap(np.empty((0, 2))), "b": wrap(np.arange(7, dtype=np.int16))}
    save(ours, path)
    assert_same(ours, torch.load(path, weights_only=True, mmap=True))
    torch.utils.serialization.config.load.calculate_storage_offsets = True
    try:
        assert_same(ours, torch.load(path, weights_only=True, mmap=True))
        torch.load(path, map_location="meta")
    finally:
        torch.utils.serialization.config.load.calculate_storage_offsets = False


class _Model:
    def state_dict(self):
        return {}


@pytest.mark.parametrize(
    "value, cure",
    [
        (_Model(), "state_dict"),
        (np.ones(2), "from_numpy"),
        (np.float64(1), "item"),
        (len, "code"),
        (type("Names", (dict,), {})(), "dict"),
        (object(), "into a dict"),
    ],
    ids=["module", "array", "scalar", "function", "subclass", "object"],
)
def test_what_cannot_be_saved_says_what_to_do(value, cure):
    with pytest.raises(PicklingError, match=cure):
        save({"x": [value]}, io.BytesIO())


def test_too_deep_is_refused_when_saving():
    deep = []
    for _ in range(2_000):
        deep = [deep]
    with pytest.raises(PicklingError, match="nested"):
        save(deep, io.BytesIO())
    fine = []
    for _ in range(900):
        fine = [fine]
    through_ours(fine)
