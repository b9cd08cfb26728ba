"""Paths, file objects, atomic writing, memory maps and where tensors go."""

import io
import os
import pathlib
import time
import zipfile
from pickle import PicklingError

import numpy as np
import pytest
import torch

from autograd_lab.backend.device import device
from autograd_lab.core.tensor import wrap
from autograd_lab.io import load, save
from tests.io.compare import assert_same
from tests.io.test_hostile import V2, Call, Described, Name, Persistent, archive, pickled

VALUES = {"a": torch.arange(6.0).reshape(2, 3), "flags": torch.tensor([True, False]), "none": torch.empty(0)}


@pytest.fixture
def path(tmp_path):
    """A file that torch wrote."""
    torch.save(VALUES, tmp_path / "file.pt")
    return tmp_path / "file.pt"


@pytest.mark.parametrize("kind", [str, pathlib.Path])
def test_paths_of_every_kind(path, kind):
    ours = load(path)
    target = path.with_name("Größe.v2.pt")
    save(ours, kind(target))
    assert_same(load(kind(target)), VALUES)
    assert_same(ours, torch.load(target, weights_only=True))


def test_the_folder_inside_is_named_after_the_file(tmp_path):
    for name, inside in [("a.pt", "a"), ("a.b.pt", "a.b"), ("plain", "plain"), ("ü.pt", "archive")]:
        save(1, tmp_path / name)
        assert zipfile.ZipFile(tmp_path / name).namelist()[0] == f"{inside}/data.pkl"


class Slow(io.RawIOBase):
    """A raw file that takes and gives a few bytes at a time, as a socket or pipe may."""

    def __init__(self, data=b""):
        self.inner = io.BytesIO(data)

    def write(self, data):
        return self.inner.write(data[:7])

    def read(self, size=-1):
        return self.inner.read(size)

    def readinto(self, buffer):
        return self.inner.readinto(buffer[:7])

    def seek(self, *position):
        return self.inner.seek(*position)

    def tell(self):
        return self.inner.tell()


class Minimal:
    """A file object with the fewest methods."""

    def __init__(self, data):
        inner = io.BytesIO(data)
        self.read, self.seek, self.tell = inner.read, inner.seek, inner.tell


def test_file_objects_that_dribble(path):
    slow = Slow()
    save(load(path), slow)
    data = slow.inner.getvalue()
    assert_same(load(Slow(data)), VALUES)
    assert_same(load(Minimal(data)), VALUES)
    assert_same(load(io.BytesIO(data)), torch.load(io.BytesIO(data)))


def test_an_archive_that_starts_inside_a_file(path):
    buffer = io.BytesIO(b"header" + path.read_bytes())
    buffer.seek(6)
    assert_same(load(buffer), VALUES)


def test_errors_about_the_file_itself(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.pt")
    with pytest.raises(RuntimeError, match="Parent directory .* does not exist"):
        save(1, tmp_path / "missing" / "file.pt")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)
    with pytest.raises(AttributeError, match="seekable"):
        load(3)
    with pytest.raises(AttributeError, match="write"):
        save(1, 3)
    with pytest.raises(EOFError):
        load(io.BytesIO())


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "weights.pt"
    save({"epoch": 1}, target)
    with pytest.raises(PicklingError):
        save({"epoch": object()}, target)

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("autograd_lab.io.torch_zip._write", full)
    with pytest.raises(OSError, match="No space"):
        save({"epoch": 2}, target)
    assert load(target) == {"epoch": 1}
    assert os.listdir(tmp_path) == ["weights.pt"]


def test_permissions_and_links_are_kept(tmp_path):
    target, link = tmp_path / "weights.pt", tmp_path / "latest.pt"
    save(1, target)
    target.chmod(0o640)
    link.symlink_to(target)
    save(2, link)
    assert link.is_symlink() and load(target) == 2
    assert target.stat().st_mode & 0o777 == 0o640
    save(1, os.devnull)


def test_mapped_files_are_private(path):
    before = path.read_bytes()
    ours = load(path, mmap=True)
    assert_same(ours, VALUES)
    ours["a"]._array()[:] = 7.0
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="path"):
        load(io.BytesIO(before), mmap=True)
    target = path.with_name("again.pt")
    save(ours, target)
    assert_same(ours, torch.load(target))


def relocated(location):
    """A file whose tensor was on another device."""
    storage = Described(Persistent(("storage", Name("torch", "FloatStorage"), "0", location, 2)))
    hooks = Described(Call(Name("collections", "OrderedDict"), ()))
    return io.BytesIO(archive(pickled(Described(Call(V2, (storage, 0, (2,), (1,), False, hooks)))), [bytes(8)]))


@pytest.mark.parametrize(
    "map_location",
    [
        "cpu",
        device("cpu"),
        {"cuda:3": "cpu"},
        lambda storage, location: storage,
        lambda storage, location: storage.cuda(1).cpu(),
    ],
    ids=["text", "device", "dict", "function", "moves"],
)
def test_map_location(map_location):
    assert load(relocated("cuda:3"), map_location).tolist() == [0.0, 0.0]
    assert load(relocated("cuda:3"), map_location=map_location).device == device("cpu")


@pytest.mark.parametrize("location", ["cuda:3", "xpu", "mps", "meta", "hpu:0"])
def test_a_missing_device_names_the_way_out(location):
    with pytest.raises(RuntimeError, match="map_location='cpu'"):
        load(relocated(location))
    with pytest.raises(RuntimeError, match="map_location='cpu'"):
        load(relocated(location), lambda storage, where: None)


def test_map_location_of_a_wrong_kind():
    with pytest.raises(TypeError, match="map_location"):
        load(relocated("cpu"), 3)
    with pytest.raises(TypeError, match="map_location"):
        load(relocated("cpu"), lambda storage, where: "cpu")


def test_loaded_tensors_are_writable_and_aligned(path):
    ours = load(path)["a"]._array()
    ours += 1
    assert ours.flags.aligned and ours.flags.writeable and ours[0, 0] == 1.0


def test_many_small_tensors_load_quickly():
    buffer = io.BytesIO()
    save({f"layer.{i}": wrap(np.zeros(3, np.float32)) for i in range(3_000)}, buffer)
    buffer.seek(0)
    began = time.process_time()
    assert len(load(buffer)) == 3_000
    assert time.process_time() - began < 3.0
