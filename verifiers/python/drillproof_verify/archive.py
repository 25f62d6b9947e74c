"""ZIP archives that every reader sees alike (formats §1, Part archive; APPNOTE 6.3.10)."""
import struct
import types
import zlib

from .text import are_distinct, blame, is_path, require

LIMITS = {"entries": 100_000, "directoryBytes": 64 << 20, "entryBytes": 16 << 30, "totalBytes": 1 << 63,
          "expansionRatio": 1100, "expansionFloorBytes": 1 << 20}
_FULL32, _FULL16 = 0xFFFFFFFF, 0xFFFF
_ENCRYPTION_FIELDS = {*range(0x14, 0x18), 0x19, 0x9901}
_IRREGULAR_ATTRIBUTES = 0x08 | 0x10 | 0x40 | 0x400  # label, directory, device, reparse point
_CENTRAL = "made needed flags method time date crc compressed size name_length extra_length comment disk internal external offset"
_LOCAL = "needed flags method time date crc compressed size name_length extra_length"

def _unpack(names, layout, data, position):
    return types.SimpleNamespace(**dict(zip(names.split(), struct.unpack_from(layout, data, position))))

class Archive:
    """The entries of an archive by name, in the order of the file, and the warnings about it."""
    def __init__(self, data, limits=None):
        self.data, self.limits, self.warnings = data, LIMITS | (limits or {}), set()
        end, count = self._read_end()
        entries = self._read_directory(end, count)
        require(are_distinct([entry.name for entry in entries]), "zip.ENTRY_DUPLICATE")
        for entry in entries:
            require(data[entry.offset :][:4] == b"PK\3\4", "zip.RECORD_INVALID")
        ordered = sorted(entries, key=lambda entry: entry.offset)
        self.warnings |= {"zip.ORDER_UNUSUAL"} if ordered != entries else set()
        starts = [*(entry.offset for entry in ordered), self.directory]
        for entry, end in zip(ordered, starts[1:]):
            self._read_local(entry, end)
        require(starts[0] == 0, "zip.BYTES_UNACCOUNTED")
        self.entries = {entry.name: entry for entry in entries}
        self.names = [entry.name for entry in ordered]

    def read(self, name):
        """The decompressed bytes of an entry, which must have its size and CRC-32."""
        entry = self.entries[name]
        content = self.data[entry.start : entry.start + entry.compressed]
        if entry.method:
            decoder = zlib.decompressobj(-zlib.MAX_WBITS)
            with blame("zip.DATA_INVALID", zlib.error):
                content = decoder.decompress(content, entry.size + 1)
            require(len(content) <= entry.size, "zip.SIZE_MISMATCH")
            require(decoder.eof and not decoder.unused_data, "zip.DATA_INVALID")
        require(len(content) == entry.size, "zip.SIZE_MISMATCH")
        require(zlib.crc32(content) == entry.crc, "zip.CRC_MISMATCH")
        return content

    def _unusual(self, condition):
        self.warnings |= {"zip.METADATA_UNUSUAL"} if condition else set()

    def _read_end(self):
        """Where the directory ends, and how many headers it has."""
        data, names = self.data, "disk start_disk here total size offset"
        end = data.rfind(b"PK\5\6", 0, max(len(data) - 18, 0))
        require(end >= 0, "zip.NOT_A_ZIP")
        record = _unpack(names + " comment", "<4H2LH", data, end + 4)
        require(end + 22 + record.comment <= len(data), "zip.TRUNCATED")
        require(end + 22 + record.comment == len(data), "zip.BYTES_UNACCOUNTED")
        require(record.comment == 0, "zip.COMMENT")
        if data[max(end - 20, 0) : end].startswith(b"PK\6\7"):
            locator = _unpack("disk position disks", "<LQL", data, end - 16)
            valid = 0 <= end - 76 == locator.position and data[end - 76 :].startswith(b"PK\6\6")
            require(valid, "zip.ZIP64_INVALID")
            wide = _unpack("length made needed " + names.replace("disk", "disk", 1), "<Q2H2L4Q", data, end - 72)
            require(wide.length == 44, "zip.ZIP64_INVALID")
            require(wide.needed <= 45, "zip.FEATURE_UNSUPPORTED")
            require(locator.disk == 0 and locator.disks == 1, "zip.MULTI_DISK")
            pairs = [(getattr(record, name), getattr(wide, name)) for name in names.split()]
            fulls = [_FULL16] * 4 + [_FULL32] * 2
            agree = all(short in (long, full) and long < 1 << 53 for (short, long), full in zip(pairs, fulls))
            require(agree, "zip.ZIP64_INVALID")
            needed = any(long >= full for (_, long), full in zip(pairs, fulls))
            self._unusual(not needed or any(short != min(long, full) for (short, long), full in zip(pairs, fulls)))
            record, end = wide, end - 76
        else:
            require(_FULL32 not in (record.size, record.offset), "zip.ZIP64_INVALID")
        require(record.disk == record.start_disk == 0 and record.here == record.total, "zip.MULTI_DISK")
        require(record.offset + record.size <= end, "zip.ENTRY_OVERLAP")
        require(record.offset + record.size == end, "zip.BYTES_UNACCOUNTED")
        require(record.total <= self.limits["entries"], "zip.ENTRIES_EXCEEDED")
        require(record.size <= self.limits["directoryBytes"], "zip.SIZE_EXCEEDED")
        self.directory = record.offset
        return end, record.total

    def _read_directory(self, end, count):
        entries, position, total = [], self.directory, 0
        for _ in range(count):
            valid = position + 46 <= end and self.data[position : position + 4] == b"PK\1\2"
            require(valid, "zip.RECORD_INVALID")
            entry = _unpack(_CENTRAL, "<6H3L5H2L", self.data, position + 4)
            name_start, position = position + 46, position + 46 + entry.name_length + entry.extra_length + entry.comment
            require(position <= end, "zip.RECORD_INVALID")
            require(entry.comment == 0, "zip.COMMENT")
            self._read_names(entry, name_start, [*_SIZES, ("offset", _FULL32), ("disk", _FULL16)])
            self._check_entry(entry)
            total += entry.size
            require(total <= self.limits["totalBytes"], "zip.SIZE_EXCEEDED")
            entries.append(entry)
        require(position == end, "zip.BYTES_UNACCOUNTED")
        return entries

    def _read_names(self, header, name_start, wide):
        """Read the name and the extra fields of a header; ZIP64 numbers replace those that are all ones."""
        position, fields = name_start + header.name_length, {}
        end = position + header.extra_length
        header.raw_name = self.data[name_start:position]
        while position < end:
            require(position + 4 <= end, "zip.RECORD_INVALID")
            field, length = struct.unpack_from("<2H", self.data, position)
            position += 4 + length
            require(position <= end and field not in fields, "zip.RECORD_INVALID")
            fields[field] = self.data[position - length : position]
        require(not fields.keys() & _ENCRYPTION_FIELDS, "zip.ENCRYPTED")
        require(0x756E not in fields, "zip.ENTRY_KIND")
        require(0x6375 not in fields, "zip.COMMENT")
        require(0x000F not in fields, "zip.FEATURE_UNSUPPORTED")
        repeated = b"\1" + struct.pack("<L", zlib.crc32(header.raw_name)) + header.raw_name
        require(fields.get(0x7075, repeated) == repeated, "zip.NAME_INVALID")
        self._unusual(fields.keys() - {1})
        widened = [(name, full) for name, full in wide if getattr(header, name) == full]
        layout = "<" + "".join("Q" if full == _FULL32 else "L" for _, full in widened)
        header.zip64 = 1 in fields
        require(header.zip64 == bool(widened), "zip.ZIP64_INVALID")
        require(len(fields.get(1, b"")) == struct.calcsize(layout), "zip.ZIP64_INVALID")
        for (name, _), value in zip(widened, struct.unpack(layout, fields.get(1, b""))):
            require(value < 1 << 53, "zip.ZIP64_INVALID")
            setattr(header, name, value)

    def _check_entry(self, entry):
        require(entry.disk == 0, "zip.MULTI_DISK")
        require(not entry.flags & 0x2041, "zip.ENCRYPTED")
        require(entry.method in (0, 8), "zip.METHOD_UNSUPPORTED")
        require(not entry.flags & ~(0x80E if entry.method else 0x808), "zip.FEATURE_UNSUPPORTED")
        require(entry.needed <= 45, "zip.FEATURE_UNSUPPORTED")
        require(entry.method or entry.compressed == entry.size, "zip.SIZE_MISMATCH")
        with blame("zip.NAME_INVALID", UnicodeDecodeError):
            entry.name = entry.raw_name.decode("utf-8" if entry.flags & 0x800 else "ascii")
        irregular = entry.external & _IRREGULAR_ATTRIBUTES or entry.external >> 28 not in (0, 8)
        require(not entry.name.endswith("/") and not irregular, "zip.ENTRY_KIND")
        require(is_path(entry.name), "zip.NAME_INVALID")
        require(entry.size <= self.limits["entryBytes"], "zip.SIZE_EXCEEDED")
        most = max(self.limits["expansionFloorBytes"], self.limits["expansionRatio"] * entry.compressed)
        require(entry.size <= most, "zip.RATIO_EXCEEDED")
        usual = (0x33F, 45 if entry.zip64 else 20, 0, 0x21, 0, 0o100644 << 16, 0)
        actual = (entry.made, entry.needed, entry.time, entry.date, entry.internal, entry.external, entry.flags & 8)
        self._unusual(actual != usual)

    def _read_local(self, entry, end):
        """Compare the local header, the place of the data and the data descriptor with the directory."""
        require(entry.offset + 30 <= len(self.data), "zip.TRUNCATED")
        local = _unpack(_LOCAL, "<5H3L2H", self.data, entry.offset + 4)
        entry.start = entry.offset + 30 + local.name_length + local.extra_length
        require(entry.start <= len(self.data), "zip.TRUNCATED")
        both = _FULL32 in (local.size, local.compressed)
        require(not both or local.size == local.compressed, "zip.ZIP64_INVALID")
        self._read_names(local, entry.offset + 30, _SIZES)
        same = all(getattr(local, name) == getattr(entry, name) for name in ("raw_name", "flags", "method", "time", "date"))
        require(same, "zip.HEADER_MISMATCH")
        older = entry.zip64 and local.needed < 45
        require(local.needed == entry.needed or older, "zip.HEADER_MISMATCH")
        for name in ("crc", "compressed", "size"):
            absent = entry.flags & 8 and getattr(local, name) == 0
            require(getattr(local, name) == getattr(entry, name) or absent, "zip.HEADER_MISMATCH")
        data_end = entry.start + entry.compressed
        require(data_end <= end, "zip.ENTRY_OVERLAP")
        descriptor = self.data[data_end:end]
        lengths = (12, 16, 20, 24) if local.zip64 or entry.zip64 else (12, 16)
        require(len(descriptor) in (lengths if entry.flags & 8 else (0,)), "zip.BYTES_UNACCOUNTED")
        if len(descriptor) in (16, 24):
            require(descriptor.startswith(b"PK\7\x08"), "zip.RECORD_INVALID")
            descriptor = descriptor[4:]
        if descriptor:
            values = struct.unpack("<3L" if len(descriptor) == 12 else "<L2Q", descriptor)
            require(values == (entry.crc, entry.compressed, entry.size), "zip.HEADER_MISMATCH")

_SIZES = [("size", _FULL32), ("compressed", _FULL32)]
