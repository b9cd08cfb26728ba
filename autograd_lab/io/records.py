"""The zip archive around a PyTorch file: uncompressed records, each beginning at a multiple of 64 bytes.

The layout is the one of torch's own writer (miniz with a padding field), to the byte, so that torch can also map our
files into memory and compute the place of every record without reading the directory.
"""

import io
import struct
import zlib
from typing import NamedTuple

import numpy as np

ALIGNMENT = 64
_CHUNK = 1 << 20
_MAX32 = 0xFFFFFFFF
_UTF8, _DESCRIPTOR = 0x800, 0x008
_STORED = 0
_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")


class _Written(NamedTuple):
    name: bytes
    flags: int
    crc: int
    size: int
    offset: int


class RecordWriter:
    """Writes records one after the other to a function ``write(bytes)``; it never seeks.

    archive  the folder inside the archive that holds all records
    """

    def __init__(self, write, archive):
        self.write, self.archive = write, archive
        self.position, self.written = 0, []

    def _put(self, data):
        """Write all of ``data``: raw files may take less than they are given."""
        view = memoryview(data)
        while len(view):
            taken = self.write(view)
            taken = len(view) if taken is None else taken
            self.position += taken
            view = view[taken:]

    def add(self, name, data):
        """Append a record; ``data`` is bytes, or a contiguous uint8 array."""
        view, size, offset = memoryview(data), len(data), self.position
        encoded = f"{self.archive}/{name}".encode()
        flags = _UTF8 | (_DESCRIPTOR if size else 0)
        extra = _zip64_field(size, offset, local=True)
        start = offset + _LOCAL.size + len(encoded) + len(extra) + 4
        padding = -start % ALIGNMENT
        extra += struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        self._put(_LOCAL.pack(b"PK\3\4", 0, flags, 0, 0, 0, 0, 0, 0, len(encoded), len(extra)) + encoded + extra)
        crc = 0
        for begin in range(0, size, _CHUNK):
            chunk = view[begin : begin + _CHUNK]
            crc = zlib.crc32(chunk, crc)
            self._put(chunk)
        if size:
            wide = size >= _MAX32 or offset >= _MAX32
            self._put(struct.pack("<4sIQQ" if wide else "<4sIII", b"PK\7\x08", crc, size, size))
        self.written.append(_Written(encoded, flags, crc, size, offset))

    def close(self):
        """Append the version and identity records, then the directory."""
        self.add("version", b"3\n")
        names = zlib.crc32(b"\n".join(sorted(record.name for record in self.written)))
        contents = zlib.crc32(b"".join(struct.pack("<I", record.crc) for record in self.written))
        self.add(".data/serialization_id", f"{names:020d}{contents:020d}".encode())
        start = self.position
        for name, flags, crc, size, offset in self.written:
            extra = _zip64_field(size, offset)
            small, low = min(size, _MAX32), min(offset, _MAX32)
            head = (b"PK\1\2", 0, 0, flags, 0, 0, 0, crc, small, small, len(name), len(extra), 0, 0, 0, 0, low)
            self._put(_CENTRAL.pack(*head) + name + extra)
        length, end, count = self.position - start, self.position, len(self.written)
        self._put(struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 0x031E, 0x2D, 0, 0, count, count, length, start))
        self._put(struct.pack("<4sIQI", b"PK\6\7", 0, end, 1))
        count = min(count, 0xFFFF)
        self._put(struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, min(length, _MAX32), min(start, _MAX32), 0))


def _zip64_field(size, offset, local=False):
    """The extra field with sizes beyond 32 bits; a local one says zero, since the true sizes follow the data."""
    values = ([0, 0] if local else [size, size]) if size >= _MAX32 else []
    values += [offset] if offset >= _MAX32 else []
    return struct.pack(f"<2H{len(values)}Q", 1, 8 * len(values), *values) if values else b""


def broken(reason):
    """The RuntimeError, worded as torch's, for an archive that is not whole."""
    return RuntimeError(
        f"PytorchStreamReader failed reading zip archive: {reason}. The file is corrupted: it may not have been saved "
        "or transferred completely, or not be a file of torch.save. Save or fetch it again."
    )


class _Window(io.RawIOBase):
    """A seekable file seen from its present position to its end, which an archive may be written at."""

    def __init__(self, file):
        self.file, self.start = file, file.tell()
        self.length = file.seek(0, io.SEEK_END) - self.start
        self.at = 0

    def seekable(self):
        return True

    def readable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, offset, whence=io.SEEK_SET):
        self.at = max(0, offset + (0, self.at, self.length)[whence])
        return self.at

    def read(self, size=-1):
        self.file.seek(self.start + self.at)
        data = self.file.read(max(0, self.length - self.at) if size is None or size < 0 else size)
        self.at += len(data)
        return data

    def readinto(self, buffer):
        if not hasattr(self.file, "readinto"):
            data = self.read(len(buffer))
            buffer[: len(data)] = data
            return len(data)
        self.file.seek(self.start + self.at)
        got = self.file.readinto(buffer)
        self.at += got or 0
        return got


def _directory(file):
    """The entries of the archive's directory, in its order."""
    import zipfile  # on first use: with its compressors it takes longer to import than this whole folder

    try:
        with zipfile.ZipFile(file) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OverflowError, OSError) as error:
        raise broken(f"failed finding central directory ({error})") from None


class RecordReader:
    """Finds and reads the records of an archive, checking every size before memory is taken.

    Raises: RuntimeError for an archive that is cut short, compressed, encrypted, or whose records overlap.
    """

    def __init__(self, file):
        self.file = _Window(file)
        entries = _directory(self.file)
        if not entries:
            raise broken("it has no records")
        self.archive = entries[0].filename.partition("/")[0]
        self.entries = {entry.filename: entry for entry in entries}
        if len(self.entries) != len(entries):
            raise broken("two records have the same name")
        self._check_layout(sorted(entries, key=lambda entry: entry.header_offset))

    def _check_layout(self, entries):
        for entry, after in zip(entries, [*entries[1:], None], strict=True):
            if entry.compress_type != _STORED or entry.file_size != entry.compress_size:
                raise broken(f"record {entry.filename!r} is compressed, which torch.save never does; unpack it first")
            if entry.flag_bits & 0x1:
                raise broken(f"record {entry.filename!r} is encrypted")
            limit = self.file.length if after is None else after.header_offset
            if entry.header_offset < 0 or entry.header_offset + _LOCAL.size + entry.file_size > limit:
                raise broken(f"record {entry.filename!r} claims {entry.file_size} bytes, more than the file has for it")

    def __contains__(self, name):
        return f"{self.archive}/{name}" in self.entries

    def size(self, name):
        """Length of a record in bytes. Raises: RuntimeError when there is none."""
        return self._entry(name).file_size

    def _entry(self, name):
        try:
            return self.entries[f"{self.archive}/{name}"]
        except KeyError:
            raise broken(f"file not found: {self.archive}/{name}") from None

    def offset(self, name):
        """Where the record's data begin, counted from the start of the archive."""
        entry = self._entry(name)
        self.file.seek(entry.header_offset)
        header = self.file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or header[:4] != b"PK\3\4":
            raise broken(f"record {entry.filename!r} has no header")
        name_length, extra_length = _LOCAL.unpack(header)[-2:]
        start = entry.header_offset + _LOCAL.size + name_length + extra_length
        if self.file.read(name_length) != entry.filename.encode() or start + entry.file_size > self.file.length:
            raise broken(f"record {entry.filename!r} does not match its header")
        return start

    def read(self, name):
        """The record as a fresh uint8 array, its checksum verified (zero: torch was told to write none)."""
        entry = self._entry(name)
        self.file.seek(self.offset(name))
        out = np.empty(entry.file_size, np.uint8)
        view, crc = memoryview(out), 0
        while len(view):
            got = self.file.readinto(view[:_CHUNK])
            if not got:
                raise broken(f"record {entry.filename!r} is cut short")
            crc = zlib.crc32(view[:got], crc)
            view = view[got:]
        if entry.CRC not in (0, crc):
            raise broken(f"record {entry.filename!r} does not match its checksum")
        return out
