"""Files made to do harm, or damaged: refused with a clear error, quickly, in little memory, running nothing."""

import io
import os
import pickle
import struct
import time
import tracemalloc
import warnings
import zipfile
from collections import OrderedDict
from pickle import UnpicklingError

import numpy as np
import pytest
import torch

from autograd_lab.core.tensor import wrap
from autograd_lab.io import load, save
from autograd_lab.io.encoder import Call, Encoder, Name, Persistent
from autograd_lab.io.records import RecordReader, RecordWriter
from tests.io.compare import assert_same

FLOAT = Name("torch", "FloatStorage")
V2 = Name("torch._utils", "_rebuild_tensor_v2")
V3 = Name("torch._utils", "_rebuild_tensor_v3")


class Described:
    """An object that the encoder writes as it is told."""

    def __init__(self, description):
        self.description = description


def pickled(value):
    """The pickle of a value with ``Described`` parts in it."""
    return Encoder(lambda part: part.description if isinstance(part, Described) else Call(*part)).dump(value)


def archive(pickle_bytes, storages=(), name="data.pkl"):
    """A file of torch's layout around any pickle."""
    buffer = io.BytesIO()
    writer = RecordWriter(buffer.write, "archive")
    writer.add(name, pickle_bytes)
    for key, data in enumerate(storages):
        writer.add(f"data/{key}", data)
    writer.close()
    return buffer.getvalue()


def call(module, name, *arguments):
    return pickled(Described(Call(Name(module, name), arguments)))


def tensor(offset=0, size=(2, 3), stride=(3, 1), *, kind=FLOAT, count=6, key="0", data=bytes(24), grad=False, more=()):
    """A file with one tensor, described at will."""
    storage = Described(Persistent(("storage", kind, key, "cpu", count)))
    hooks = Described(Call(Name("collections", "OrderedDict"), ()))
    function = V3 if more else V2
    return archive(pickled(Described(Call(function, (storage, offset, size, stride, grad, hooks, *more)))), [data])


def raw(opcodes):
    return archive(b"\x80\x02" + opcodes)


def colliding(count):
    """A dict of that many whole numbers with one hash."""
    numbers = (pickle.encode_long(k * (2**61 - 1)) for k in range(1, count))
    return raw(b"}(" + b"".join(b"\x8a%c" % len(number) + number + b"N" for number in numbers) + b"u.")


def doubled_tuple(levels):
    """A dict whose key is a tuple of two times a tuple of two times…: small to write, endless to hash."""
    return raw(b"})" + b"\x85" + b"q\x000h\x00h\x00\x86" * levels + b"K\x01s.")


def overlapping():
    """A directory with two records on the same bytes."""
    whole = bytearray(archive(pickled(1), [bytes(64), bytes(64)]))
    first, second = zipfile.ZipFile(io.BytesIO(whole)).infolist()[1:3]
    at = whole.rfind(b"archive/data/1") - 4
    assert struct.unpack_from("<I", whole, at)[0] == second.header_offset
    struct.pack_into("<I", whole, at, first.header_offset)
    return bytes(whole)


def zipped(compression, content=b"", name="archive/data.pkl"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        file.writestr(name, content)
    return buffer.getvalue()


def long_claim():
    """A record that says it has four gigabytes."""
    whole = bytearray(archive(pickled(1), [bytes(64)]))
    at = whole.rfind(b"archive/data/0") - 46
    struct.pack_into("<II", whole, at + 20, 0xFFFFFFF0, 0xFFFFFFF0)
    return bytes(whole)


def damaged_data():
    buffer = io.BytesIO()
    save(wrap(np.arange(100.0)), buffer)
    whole = bytearray(buffer.getvalue())
    whole[whole.index(struct.pack("<d", 50.0)) + 3] ^= 1
    return bytes(whole)


def whole_file():
    buffer = io.BytesIO()
    torch.manual_seed(0)
    torch.save({"w": torch.randn(20, 30), "l": [torch.arange(4), "text", (1, 2.5)], "o": OrderedDict(a=None)}, buffer)
    return buffer.getvalue()


HOSTILE = {
    "os.system": lambda: archive(call("os", "system", "touch executed")),
    "posix.system": lambda: archive(call("posix", "system", "touch executed")),
    "builtins.eval": lambda: archive(call("builtins", "eval", "open('executed', 'w')")),
    "builtins.exec": lambda: archive(call("__builtin__", "exec", "open('executed', 'w')")),
    "getattr": lambda: archive(call("builtins", "getattr", "x", "upper")),
    "subprocess": lambda: archive(call("subprocess", "Popen", ["touch", "executed"])),
    "torch.load": lambda: archive(call("torch", "load", "other.pt")),
    "stack global": lambda: archive(pickle.dumps(os.system, 4)),
    "real reduce": lambda: archive(pickle.dumps(_Harm(), 2)),
    "instance opcode": lambda: raw(b"(X\x10\x00\x00\x00touch executed!!ios\nsystem\n."),
    "object opcode": lambda: raw(b"(cbuiltins\neval\nX\x01\x00\x00\x001o."),
    "new object": lambda: raw(b"ccollections\nOrderedDict\n)\x81."),
    "extension code": lambda: raw(b"\x82\x01."),
    "call of a call's result": lambda: raw(b"ccollections\nOrderedDict\n)R)R."),
    "call of a dtype": lambda: raw(b"ctorch\nfloat32\n)R."),
    "build on a list": lambda: raw(b"]}X\x01\x00\x00\x00aK\x01sb."),
    "build shadows a method": lambda: raw(b"ccollections\nOrderedDict\n)R}X\x05\x00\x00\x00itemsK\x01sb."),
    "bare function": lambda: raw(b"ctorch._utils\n_rebuild_tensor_v2\n."),
    "bare storage type": lambda: raw(b"ctorch\nFloatStorage\n."),
    "bare storage": lambda: archive(pickled(Described(Persistent(("storage", FLOAT, "0", "cpu", 6)))), [bytes(24)]),
    "huge bytearray": lambda: archive(call("builtins", "bytearray", 10**13)),
    "huge bytes": lambda: archive(call("builtins", "bytes", 10**13)),
    "other encoding": lambda: archive(call("_codecs", "encode", "x", "rot13")),
    "huge storage": lambda: tensor(count=10**15),
    "huge tensor": lambda: tensor(size=(10**9, 10**9)),
    "huge empty tensor": lambda: tensor(size=(0, 2**62, 2**62), stride=(1, 1, 1)),
    "huge expanded tensor": lambda: tensor(size=(2**62, 2**62), stride=(0, 0)),
    "huge stride": lambda: tensor(stride=(2**63, 1)),
    "offset outside": lambda: tensor(offset=1),
    "offset negative": lambda: tensor(offset=-1),
    "offset a float": lambda: tensor(offset=0.0),
    "stride negative": lambda: tensor(stride=(-3, 1)),
    "size negative": lambda: tensor(size=(-2, 3)),
    "size a string": lambda: tensor(size="23"),
    "strides too few": lambda: tensor(stride=(1,)),
    "too many dimensions": lambda: tensor(size=(1,) * 65, stride=(1,) * 65),
    "storage too short": lambda: tensor(data=bytes(20)),
    "storage too long": lambda: tensor(data=bytes(28)),
    "storage missing": lambda: tensor(key="7"),
    "storage elsewhere": lambda: tensor(key="../../data.pkl"),
    "storage of another kind": lambda: tensor(kind=Name("collections", "OrderedDict")),
    "whole numbers with a gradient": lambda: tensor(kind=Name("torch", "IntStorage"), grad=True),
    "no dtype": lambda: tensor(kind=Name("torch.storage", "UntypedStorage"), count=24, more=("float32",)),
    "dtype too wide": lambda: tensor(
        kind=Name("torch.storage", "UntypedStorage"), count=24, more=(Name("torch", "float64"),)
    ),
    "quantised": lambda: tensor(kind=Name("torch", "QInt8Storage")),
    "persistent id a string": lambda: raw(b"X\x01\x00\x00\x000Q."),
    "deep lists": lambda: raw(b"]" * 30_000 + b"a" * 29_999 + b"."),
    "deep tuples": lambda: raw(b")" + b"\x85" * 30_000 + b"."),
    "deep marks": lambda: raw(b"(" * 30_000 + b"t" * 30_000 + b"."),
    "deep tuple as a key": lambda: raw(b"})" + b"\x85" * 30_000 + b"K\x01s."),
    "doubled tuple as a key": lambda: doubled_tuple(60),
    "keys of one hash": lambda: colliding(20_000),
    "list as a key": lambda: raw(b"}]K\x01s."),
    "key without value": lambda: raw(b"}(K\x01u."),
    "memo far away": lambda: raw(b"]r\xff\xff\xff\x7f."),
    "memo not set": lambda: raw(b"h\x05."),
    "memo loop of a call": lambda: raw(b"ccollections\nOrderedDict\nq\x00)Rh\x00b."),
    "empty stack": lambda: raw(b"R."),
    "no mark": lambda: raw(b"K\x01t."),
    "two results": lambda: raw(b"K\x01K\x02."),
    "no stop": lambda: raw(b"K\x01"),
    "after the end of text": lambda: raw(b"X\xff\xff\xff\xffab."),
    "long number": lambda: raw(b"\x8b\xff\xff\xff\x7f\x01."),
    "negative length": lambda: raw(b"\x8b\xff\xff\xff\xff\x01."),
    "protocol 0": lambda: raw(b"I" + b"9" * 100_000 + b"\n."),
    "empty pickle": lambda: archive(b""),
    "no pickle": lambda: archive(pickled(1), name="other.pkl"),
    "script": lambda: archive(pickled(1), name="constants.pkl"),
    "compressed bomb": lambda: zipped(zipfile.ZIP_DEFLATED, bytes(50_000_000)),
    "overlapping records": overlapping,
    "record claims too much": long_claim,
    "damaged data": damaged_data,
    "absolute path": lambda: zipped(zipfile.ZIP_STORED, pickled(1), "/etc/data.pkl"),
    "only a head": lambda: whole_file()[:100],
    "half": lambda: whole_file()[: len(whole_file()) // 2],
    "without its end": lambda: whole_file()[:-10],
    "not a zip": lambda: b"hello, world",
    "old format": lambda: b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.",
    "empty": lambda: b"",
}
REFUSED = (UnpicklingError, RuntimeError, EOFError)


class _Harm:
    def __reduce__(self):
        return os.system, ("touch executed",)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(name, weights_only, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = io.BytesIO(HOSTILE[name]())
    began = time.process_time()
    with pytest.raises(REFUSED) as refused:
        load(data, weights_only=weights_only)
    assert time.process_time() - began < 1.0
    assert len(str(refused.value)) > 20
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_take_little_memory(name):
    data = io.BytesIO(HOSTILE[name]())
    tracemalloc.start()
    try:
        with pytest.raises(REFUSED):
            load(data)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("weights_only", [True, False])
def test_the_error_names_the_global_and_the_way_out(weights_only):
    with pytest.raises(UnpicklingError, match=r"GLOBAL os\.system was not an allowed.*state_dict") as refused:
        load(io.BytesIO(HOSTILE["os.system"]()), weights_only=weights_only)
    assert ("weights_only=False does not change that" in str(refused.value)) == (not weights_only)


def test_a_pickled_module_is_refused_with_the_state_dict_way():
    buffer = io.BytesIO()
    torch.save(torch.nn.Linear(2, 2), buffer)
    buffer.seek(0)
    with pytest.raises(UnpicklingError, match=r"torch\.nn\.modules\.linear\.Linear.*load_state_dict"):
        load(buffer, weights_only=False)


def test_every_cut_is_refused():
    whole = whole_file()
    for end in range(0, len(whole), 37):
        with pytest.raises(REFUSED):
            load(io.BytesIO(whole[:end]))


def test_changed_bytes_are_refused_or_change_nothing():
    whole = whole_file()
    there = torch.load(io.BytesIO(whole), weights_only=True)
    random = np.random.default_rng(0)
    for _ in range(400):
        changed = bytearray(whole)
        changed[random.integers(len(whole))] ^= 1 << int(random.integers(8))
        try:
            ours = load(io.BytesIO(changed))
        except (*REFUSED, ValueError):
            continue
        assert_same(ours, there)


def test_changed_pickles_are_refused_or_load_as_in_torch():
    """The checksum is made right again after each change, so that the reader of opcodes meets it."""
    records = RecordReader(io.BytesIO(whole_file()))
    data, storages = records.read("data.pkl"), [records.read("data/0"), records.read("data/1")]
    random = np.random.default_rng(1)
    outcomes = {"refused": 0, "loaded": 0}
    for _ in range(800):
        changed = data.copy()
        changed[random.integers(len(data))] = random.integers(256)
        file = archive(changed, storages)
        try:
            ours = load(io.BytesIO(file))
        except REFUSED:
            outcomes["refused"] += 1
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about protocols other than 2, which both load
            there = torch.load(io.BytesIO(file), weights_only=True)
        assert_same(ours, there)
        outcomes["loaded"] += 1
    assert min(outcomes.values()) > 20
