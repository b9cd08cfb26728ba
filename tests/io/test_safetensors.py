"""The safetensors format, against the safetensors package."""

import json
import struct

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch

from autograd_lab.core.tensor import wrap
from autograd_lab.io import load
from autograd_lab.io.safetensors import load_file, save_file
from tests.io.compare import DTYPES, assert_same, torch_tensor

HELD = [name for name in DTYPES if name != "complex128"]
TENSORS = {name: torch_tensor(name, 7) for name in HELD} | {"one": torch.tensor(2.5), "none": torch.empty(0, 3)}


def test_theirs_load_here(tmp_path):
    path = tmp_path / "theirs.safetensors"
    safetensors.torch.save_file(TENSORS, path, metadata={"by": "torch"})
    ours = load_file(path)
    assert_same({name: ours[name] for name in TENSORS}, TENSORS)
    assert_same({name: load(path, map_location="cpu")[name] for name in TENSORS}, TENSORS)


def test_ours_load_there(tmp_path):
    path = tmp_path / "ours.safetensors"
    safetensors.torch.save_file(TENSORS, tmp_path / "theirs.safetensors")
    ours = load_file(tmp_path / "theirs.safetensors")
    ours["turned"] = wrap(np.arange(6.0).reshape(2, 3).T)
    save_file(ours, path, metadata={"format": "pt", "note": "Größe"})
    there = safetensors.torch.load_file(path)
    assert_same({name: ours[name] for name in TENSORS}, {name: there[name] for name in TENSORS})
    assert there["turned"].tolist() == [[0, 3], [1, 4], [2, 5]]
    with safetensors.safe_open(path, "pt") as file:
        assert file.metadata()["note"] == "Größe"


def test_what_the_format_lacks_is_named(tmp_path):
    for value, match in [(wrap(np.zeros(2, complex)), "complex128"), ([1, 2], "list")]:
        with pytest.raises(ValueError, match=match):
            save_file({"x": value}, tmp_path / "no.safetensors")
    assert not list(tmp_path.iterdir())


def file_of(header, data=b""):
    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(encoded)) + encoded + data


def one(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"x": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}}


BAD = {
    "empty": b"",
    "cut": file_of(one(), bytes(8))[:20],
    "huge header": struct.pack("<Q", 2**62) + b"{}",
    "not json": file_of(b"hello"),
    "deep json": file_of(b"[" * 200_000),
    "a list": file_of([]),
    "huge tensor": file_of(one(shape=(2**40, 2**40), offsets=(0, 2**82))),
    "wrong size": file_of(one(shape=(3,)), bytes(8)),
    "negative size": file_of(one(shape=(-2, -1)), bytes(8)),
    "too many dimensions": file_of(one(shape=(1,) * 65, offsets=(0, 4)), bytes(4)),
    "gap": file_of(one(offsets=(4, 12)), bytes(12)),
    "overlap": file_of(one() | {"y": one()["x"]}, bytes(8)),
    "data left over": file_of(one(), bytes(9)),
    "data missing": file_of(one(), bytes(7)),
    "unknown dtype": file_of(one(dtype="F1"), bytes(8)),
    "dtype a list": file_of(one(dtype=["F32"]), bytes(8)),
    "name twice": file_of(b'{"x":1,"x":2}'),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused(name, tmp_path):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(BAD[name])
    with pytest.raises(RuntimeError, match="safetensors"):
        load(path)


def test_other_ways_to_place_are_refused(tmp_path):
    with pytest.raises(RuntimeError, match="map_location"):
        load(tmp_path / "x.safetensors", map_location={"cpu": "cpu"})
    with pytest.raises(FileNotFoundError):
        load_file(tmp_path / "x.safetensors")
