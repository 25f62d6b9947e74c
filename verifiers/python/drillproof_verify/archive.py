"""ZIP archives that every reader sees alike (formats §1, Part archive; APPNOTE 6.3.10)."""

import dataclasses
import struct
import zlib

from .text import Fault, is_path, require, twin

LIMITS = {
    "entries": 100_000, "directoryBytes": 64 << 20, "entryBytes": 16 << 30, "totalBytes": None,
    "expansionRatio": 1100, "expansionFloorBytes": 1 << 20,
}
_FULL32, _FULL16 = 0xFFFFFFFF, 0xFFFF
_ENCRYPTION_FIELDS = {*range(0x14, 0x18), 0x19, 0x9901}
_IRREGULAR_ATTRIBUTES = 0x08 | 0x10 | 0x40 | 0x400  # label, directory, device, reparse point

@dataclasses.dataclass
class Entry:
    """One file in an archive."""

    name: str
    raw_name: bytes
    flags: int
    method: int
    compressed: int
    size: int
    crc: int
    offset: int
    header: tuple
    zip64: bool
    data: memoryview = None

    def chunks(self):
        """The decompressed bytes, whose number and CRC-32 are checked at the end."""
        length, crc = 0, 0
        for chunk in (self._inflate() if self.method else [self.data]):
            length, crc = length + len(chunk), zlib.crc32(chunk, crc)
            require(length <= self.size, "zip.SIZE_MISMATCH")
            yield chunk
        require(length == self.size, "zip.SIZE_MISMATCH")
        require(crc == self.crc, "zip.CRC_MISMATCH")

    def _inflate(self):
        decoder, rest = zlib.decompressobj(-zlib.MAX_WBITS), bytes(self.data)
        try:
            while not decoder.eof:
                chunk = decoder.decompress(rest, 1 << 20)
                require(chunk or decoder.eof, "zip.DATA_INVALID")
                rest = decoder.unconsumed_tail
                yield chunk
        except zlib.error as error:
            raise Fault("zip.DATA_INVALID") from error
        require(not decoder.unused_data, "zip.DATA_INVALID")

    def read(self):
        return b"".join(self.chunks())

class Archive:
    """The entries of an archive by name, in the order of the file, and the warnings about it."""

    def __init__(self, data, limits=None):
        self.data, self.limits, self.warnings = memoryview(data), {**LIMITS, **(limits or {})}, set()
        entries = self._read_directory(*self._read_end(data))
        require(len({twin(entry.name) for entry in entries}) == len(entries), "zip.ENTRY_DUPLICATE")
        for entry in entries:
            require(self.data[entry.offset : entry.offset + 4] == b"PK\3\4", "zip.RECORD_INVALID")
        ordered = sorted(entries, key=lambda entry: entry.offset)
        if ordered != entries:
            self.warnings.add("zip.ORDER_UNUSUAL")
        position = 0
        ends = [entry.offset for entry in ordered[1:]] + [self.directory]
        for entry, end in zip(ordered, ends):
            self._read_local(entry, end, entry.offset - position)
            position = end
        require(position == self.directory, "zip.BYTES_UNACCOUNTED")
        self.entries = {entry.name: entry for entry in entries}
        self.in_file_order = [entry.name for entry in ordered]

    def _unusual(self, condition):
        if condition:
            self.warnings.add("zip.METADATA_UNUSUAL")

    def _read_end(self, data):
        """The offset, size and number of headers of the directory."""
        end = data.rfind(b"PK\5\6", 0, max(len(data) - 18, 0))
        require(end >= 0, "zip.NOT_A_ZIP")
        disk, start_disk, here, total, size, offset, comment = struct.unpack_from("<4H2LH", data, end + 4)
        require(end + 22 + comment <= len(data), "zip.TRUNCATED")
        require(end + 22 + comment == len(data), "zip.BYTES_UNACCOUNTED")
        require(comment == 0, "zip.COMMENT")
        short = (disk, start_disk, here, total, size, offset)
        full, directory_end = short, end
        if data[max(end - 20, 0) : end].startswith(b"PK\6\7"):
            locator_disk, position, disks = struct.unpack_from("<LQL", data, end - 16)
            record = data[max(end - 76, 0) : end - 20]
            require(position == end - 76 and record.startswith(b"PK\6\6"), "zip.ZIP64_INVALID")
            length, made, needed, *full = struct.unpack("<Q2H2L4Q", record[4:])
            require(length == 44, "zip.ZIP64_INVALID")
            require(needed <= 45, "zip.FEATURE_UNSUPPORTED")
            require(locator_disk == 0 and disks == 1, "zip.MULTI_DISK")
            limits = (_FULL16,) * 4 + (_FULL32,) * 2
            agree = all(a == b or a == most for a, b, most in zip(short, full, limits))
            require(agree and max(full) < 1 << 53, "zip.ZIP64_INVALID")
            self._unusual(short != tuple(map(min, full, limits)) or short == tuple(full) or (made, needed) != (0x33F, 45))
            directory_end = end - 76
        else:
            require(_FULL32 not in (size, offset), "zip.ZIP64_INVALID")
        disk, start_disk, here, total, size, offset = full
        require(disk == start_disk == 0 and here == total, "zip.MULTI_DISK")
        require(offset + size <= directory_end, "zip.ENTRY_OVERLAP")
        require(offset + size == directory_end, "zip.BYTES_UNACCOUNTED")
        require(total <= self.limits["entries"], "zip.ENTRIES_EXCEEDED")
        require(size <= self.limits["directoryBytes"], "zip.SIZE_EXCEEDED")
        self.directory = offset
        return directory_end, total

    def _read_directory(self, directory_end, count):
        entries, position, total = [], self.directory, 0
        for _ in range(count):
            fits = position + 46 <= directory_end and self.data[position : position + 4] == b"PK\1\2"
            require(fits, "zip.RECORD_INVALID")
            made, *header = struct.unpack_from("<6H3L5H2L", self.data, position + 4)
            needed, flags, method, time, date, crc, compressed, size = header[:8]
            name_length, extra_length, comment, disk, internal, external, offset = header[8:]
            name_end = position + 46 + name_length
            position = name_end + extra_length + comment
            require(position <= directory_end, "zip.RECORD_INVALID")
            require(comment == 0, "zip.COMMENT")
            raw_name = bytes(self.data[name_end - name_length : name_end])
            fields = self._read_extra(bytes(self.data[name_end : name_end + extra_length]), raw_name)
            (size, compressed, offset, disk), zip64 = _widen(
                fields, [(size, _FULL32), (compressed, _FULL32), (offset, _FULL32), (disk, _FULL16)]
            )
            require(disk == 0, "zip.MULTI_DISK")
            self._check_features(needed, flags, method, compressed, size)
            name = _decode_name(raw_name, flags, external)
            total += size
            for value, limit in ((size, "entryBytes"), (total, "totalBytes")):
                require(self.limits[limit] is None or value <= self.limits[limit], "zip.SIZE_EXCEEDED")
            most = max(self.limits["expansionFloorBytes"], self.limits["expansionRatio"] * compressed)
            require(size <= most, "zip.RATIO_EXCEEDED")
            usual = (0x33F, 45 if zip64 else 20, 0, 0x21, 0, 0o100644 << 16)
            self._unusual((made, needed, time, date, internal, external) != usual or flags & 8)
            header = (needed, flags, method, time, date)
            entries.append(
                Entry(name, raw_name, flags, method, compressed, size, crc, offset, header, zip64)
            )
        require(position == directory_end, "zip.BYTES_UNACCOUNTED")
        return entries

    def _read_extra(self, extra, raw_name):
        """The extra fields of a header by their ids."""
        fields, position = {}, 0
        while position < len(extra):
            require(position + 4 <= len(extra), "zip.RECORD_INVALID")
            field, length = struct.unpack_from("<2H", extra, position)
            position += 4 + length
            require(position <= len(extra) and field not in fields, "zip.RECORD_INVALID")
            fields[field] = extra[position - length : position]
        require(not fields.keys() & _ENCRYPTION_FIELDS, "zip.ENCRYPTED")
        require(0x756E not in fields, "zip.ENTRY_KIND")
        require(0x6375 not in fields, "zip.COMMENT")
        require(0x000F not in fields, "zip.FEATURE_UNSUPPORTED")
        repeated = b"\1" + struct.pack("<L", zlib.crc32(raw_name)) + raw_name
        require(fields.get(0x7075, repeated) == repeated, "zip.NAME_INVALID")
        self._unusual(fields.keys() - {1})
        return fields

    def _check_features(self, needed, flags, method, compressed, size):
        require(not flags & 0x2041, "zip.ENCRYPTED")
        require(method in (0, 8), "zip.METHOD_UNSUPPORTED")
        require(not flags & ~(0x80E if method else 0x808) and needed <= 45, "zip.FEATURE_UNSUPPORTED")
        require(method or compressed == size, "zip.SIZE_MISMATCH")

    def _read_local(self, entry, end, gap):
        """Compare the local header, the place of the data and the data descriptor with the directory."""
        start = entry.offset
        require(start + 30 <= len(self.data), "zip.TRUNCATED")
        *header, crc, compressed, size, name_length, extra_length = struct.unpack_from("<5H3L2H", self.data, start + 4)
        name_end = start + 30 + name_length
        data_start = name_end + extra_length
        require(data_start <= len(self.data), "zip.TRUNCATED")
        require(self.data[start + 30 : name_end] == entry.raw_name, "zip.HEADER_MISMATCH")
        fields = self._read_extra(bytes(self.data[name_end:data_start]), entry.raw_name)
        (size, compressed), zip64 = _widen(fields, [(size, _FULL32), (compressed, _FULL32)])
        require(not zip64 or len(fields[1]) == 16, "zip.ZIP64_INVALID")
        needed = (entry.header[0],) if not entry.zip64 else (entry.header[0], *range(45))
        require(header[0] in needed and tuple(header[1:]) == entry.header[1:], "zip.HEADER_MISMATCH")
        descriptor = entry.flags & 8
        for local, central in ((crc, entry.crc), (compressed, entry.compressed), (size, entry.size)):
            require(local == central or descriptor and local == 0, "zip.HEADER_MISMATCH")
        require(gap == 0, "zip.BYTES_UNACCOUNTED" if gap > 0 else "zip.ENTRY_OVERLAP")
        data_end = data_start + entry.compressed
        require(data_end <= end, "zip.ENTRY_OVERLAP")
        entry.data = self.data[data_start:data_end]
        if descriptor:
            self._check_descriptor(entry, bytes(self.data[data_end:end]), zip64 or entry.zip64)
        else:
            require(data_end == end, "zip.BYTES_UNACCOUNTED")

    def _check_descriptor(self, entry, descriptor, zip64):
        require(len(descriptor) in ((12, 16, 20, 24) if zip64 else (12, 16)), "zip.BYTES_UNACCOUNTED")
        if len(descriptor) in (16, 24):
            require(descriptor.startswith(b"PK\7\x08"), "zip.RECORD_INVALID")
            descriptor = descriptor[4:]
        values = struct.unpack("<3L" if len(descriptor) == 12 else "<L2Q", descriptor)
        require(values == (entry.crc, entry.compressed, entry.size), "zip.HEADER_MISMATCH")

def _widen(fields, values):
    """Replace each value that is all ones by its number in the ZIP64 field."""
    field, position, wide = fields.get(1, b""), 0, []
    for value, full in values:
        if value == full:
            layout = "<Q" if full == _FULL32 else "<L"
            require(position + struct.calcsize(layout) <= len(field), "zip.ZIP64_INVALID")
            (value,) = struct.unpack_from(layout, field, position)
            require(value < 1 << 53, "zip.ZIP64_INVALID")
            position += struct.calcsize(layout)
        wide.append(value)
    require(position == len(field) and (1 in fields) == (position > 0), "zip.ZIP64_INVALID")
    return wide, position > 0

def _decode_name(raw_name, flags, external):
    try:
        name = raw_name.decode("utf-8" if flags & 0x800 else "ascii")
    except UnicodeDecodeError as error:
        raise Fault("zip.NAME_INVALID") from error
    irregular = external & _IRREGULAR_ATTRIBUTES or external >> 28 not in (0, 8)
    require(not name.endswith("/") and not irregular, "zip.ENTRY_KIND")
    require(is_path(name), "zip.NAME_INVALID")
    return name
