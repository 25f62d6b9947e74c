"""ZIP archives that every reader sees alike (formats §1, Part archive; APPNOTE 6.3.10)."""
import struct
import types
import zlib

from .documents import are_distinct, blame, is_path, refuse

LIMITS = {"entries": 100_000, "directoryBytes": 64 << 20, "entryBytes": 16 << 30, "totalBytes": (1 << 53) - 1,
          "expansionRatio": 1100, "expansionFloorBytes": 1 << 20}
_END = ("disk", "start_disk", "here", "total", "size", "offset")
_HEADER = tuple("needed flags method time date crc compressed size name_length extra_length".split())
_CENTRAL = ("made", *_HEADER, "comment", "disk", "internal", "external", "offset")
_FULL = dict.fromkeys(("size", "compressed", "offset"), 0xFFFFFFFF) | dict.fromkeys(_END[:4], 0xFFFF)
_FORBIDDEN_FIELDS = dict.fromkeys((0x14, 0x15, 0x16, 0x17, 0x19, 0x9901), "zip.ENCRYPTED") | {
    0x756E: "zip.ENTRY_KIND", 0x6375: "zip.COMMENT", 0x000F: "zip.FEATURE_UNSUPPORTED"}
_IRREGULAR = 0x08 | 0x10 | 0x40 | 0x400  # the attributes of a label, directory, device and reparse point

def _unpack(names, layout, data, position):
    return types.SimpleNamespace(**dict(zip(names, struct.unpack_from("<" + layout, data, position))))

class Archive:
    """The entries of an archive by name, in the order of its directory, and the warnings about it."""
    def __init__(self, data, limits=None):
        self.data, self.limits, self.warnings = data, LIMITS | (limits or {}), set()
        entries = self._read_directory(*self._read_end())
        ordered = sorted(entries, key=lambda entry: entry.offset)
        starts = [*(entry.offset for entry in ordered), self.directory]
        refuse({"zip.ENTRY_DUPLICATE": not are_distinct([entry.name for entry in entries])})
        for entry, end in zip(ordered, starts[1:]):
            self._read_local(entry, end)
        refuse({"zip.BYTES_UNACCOUNTED": starts[0] != 0})
        self.entries = {entry.name: entry for entry in entries}
        self.warnings |= {"zip.ORDER_UNUSUAL"} if ordered != entries else set()

    def read(self, name, checked=True):
        """The decompressed bytes of an entry, which must have its size and its CRC-32, if that is checked."""
        entry = self.entries[name]
        content = self.data[entry.start : entry.start + entry.compressed]
        if entry.method:
            decoder = zlib.decompressobj(-zlib.MAX_WBITS)
            with blame("zip.DATA_INVALID", zlib.error):
                content = decoder.decompress(content, entry.size + 1)
            incomplete = not decoder.eof or decoder.unused_data
            refuse({"zip.SIZE_MISMATCH": len(content) > entry.size, "zip.DATA_INVALID": incomplete})
        refuse({"zip.SIZE_MISMATCH": len(content) != entry.size,
                "zip.CRC_MISMATCH": checked and zlib.crc32(content) != entry.crc})
        return content

    def _unusual(self, condition):
        self.warnings |= {"zip.METADATA_UNUSUAL"} if condition else set()

    def _read_end(self):
        """Where the directory ends, and how many headers it has."""
        data = self.data
        position = end = data.rfind(b"PK\5\6", 0, max(len(data) - 18, 0))
        refuse({"zip.NOT_A_ZIP": end < 0})
        record = _unpack((*_END, "comment"), "4H2LH", data, end + 4)
        rest = len(data) - end - 22 - record.comment
        refuse({"zip.TRUNCATED": rest < 0, "zip.BYTES_UNACCOUNTED": rest > 0, "zip.COMMENT": record.comment})
        if data[max(end - 20, 0) : end].startswith(b"PK\6\7"):
            position, short = end - 76, record
            locator = _unpack(("disk", "offset", "disks"), "LQL", data, end - 16)
            valid = 0 <= position == locator.offset and data.startswith(b"PK\6\6", position)
            refuse({"zip.ZIP64_INVALID": not valid})
            record = _unpack(("length", "made", "needed", *_END), "Q2H2L4Q", data, position + 4)
            pairs = [(getattr(short, name), getattr(record, name), _FULL[name]) for name in _END]
            agree = all(value in (wide, full) and wide < 1 << 53 for value, wide, full in pairs)
            refuse({"zip.FEATURE_UNSUPPORTED": record.needed > 45,
                    "zip.MULTI_DISK": (locator.disk, locator.disks) != (0, 1),
                    "zip.ZIP64_INVALID": record.length != 44 or not agree})
            needless = all(wide < full for _, wide, full in pairs)
            self._unusual(needless or any(value != min(wide, full) for value, wide, full in pairs))
        refuse({"zip.ZIP64_INVALID": position == end and _FULL["size"] in (record.size, record.offset),
                "zip.MULTI_DISK": record.disk or record.start_disk or record.here != record.total,
                "zip.ENTRY_OVERLAP": record.offset + record.size > position,
                "zip.BYTES_UNACCOUNTED": record.offset + record.size < position,
                "zip.ENTRIES_EXCEEDED": record.total > self.limits["entries"],
                "zip.SIZE_EXCEEDED": record.size > self.limits["directoryBytes"]})
        self.directory = record.offset
        return position, record.total

    def _read_directory(self, end, count):
        entries, position = [], self.directory
        for _ in range(count):
            valid = position + 46 <= end and self.data.startswith(b"PK\1\2", position)
            refuse({"zip.RECORD_INVALID": not valid})
            entry, name_start = _unpack(_CENTRAL, "6H3L5H2L", self.data, position + 4), position + 46
            position = name_start + entry.name_length + entry.extra_length + entry.comment
            refuse({"zip.RECORD_INVALID": position > end, "zip.COMMENT": entry.comment})
            self._read_names(entry, name_start, ("size", "compressed", "offset", "disk"))
            self._check_entry(entry)
            entries.append(entry)
        exceeded = sum(entry.size for entry in entries) > self.limits["totalBytes"]
        refuse({"zip.BYTES_UNACCOUNTED": position != end, "zip.SIZE_EXCEEDED": exceeded})
        return entries

    def _read_names(self, header, name_start, numbers):
        """Read the name and the extra fields of a header; ZIP64 numbers replace those that are all ones."""
        position, fields = name_start + header.name_length, {}
        end, header.raw_name = position + header.extra_length, self.data[name_start:position]
        while position < end:
            refuse({"zip.RECORD_INVALID": position + 4 > end})
            field, length = struct.unpack_from("<2H", self.data, position)
            position += 4 + length
            refuse({"zip.RECORD_INVALID": position > end or field in fields})
            refuse({_FORBIDDEN_FIELDS.get(field): field in _FORBIDDEN_FIELDS})
            fields[field] = self.data[position - length : position]
        repeated = b"\1" + struct.pack("<L", zlib.crc32(header.raw_name)) + header.raw_name
        refuse({"zip.NAME_INVALID": fields.get(0x7075, repeated) != repeated})
        self._unusual(fields.keys() - {1})
        wide = [name for name in numbers if getattr(header, name) == _FULL[name]]
        layout, header.zip64 = "<" + "".join("L" if name == "disk" else "Q" for name in wide), 1 in fields
        valid = header.zip64 == bool(wide) and len(fields.get(1, b"")) == struct.calcsize(layout)
        refuse({"zip.ZIP64_INVALID": not valid})
        for name, value in zip(wide, struct.unpack(layout, fields.get(1, b""))):
            refuse({"zip.ZIP64_INVALID": value >= 1 << 53})
            setattr(header, name, value)

    def _check_entry(self, entry):
        """Check everything about an entry that the directory states by itself."""
        known, limits = 0x80E if entry.method else 0x808, self.limits
        refuse({"zip.MULTI_DISK": entry.disk, "zip.ENCRYPTED": entry.flags & 0x2041,
                "zip.METHOD_UNSUPPORTED": entry.method not in (0, 8),
                "zip.FEATURE_UNSUPPORTED": entry.flags & ~known or entry.needed > 45,
                "zip.SIZE_MISMATCH": not entry.method and entry.compressed != entry.size})
        with blame("zip.NAME_INVALID", UnicodeDecodeError):
            entry.name = entry.raw_name.decode("utf-8" if entry.flags & 0x800 else "ascii")
        irregular = entry.external & _IRREGULAR or entry.external >> 28 not in (0, 8)
        most = max(limits["expansionFloorBytes"], limits["expansionRatio"] * entry.compressed)
        refuse({"zip.ENTRY_KIND": entry.name.endswith("/") or irregular,
                "zip.NAME_INVALID": not is_path(entry.name),
                "zip.SIZE_EXCEEDED": entry.size > limits["entryBytes"],
                "zip.RATIO_EXCEEDED": entry.size > most,
                "zip.RECORD_INVALID": not self.data.startswith(b"PK\3\4", entry.offset)})
        actual = (entry.made, entry.needed, entry.time, entry.date, entry.internal, entry.external)
        usual = (0x33F, 45 if entry.zip64 else 20, 0, 0x21, 0, 0o100644 << 16)
        self._unusual(actual != usual or entry.flags & 8)

    def _read_local(self, entry, end):
        """Compare the local header, the place of the data and the data descriptor with the directory."""
        refuse({"zip.TRUNCATED": entry.offset + 30 > len(self.data)})
        local = _unpack(_HEADER, "5H3L2H", self.data, entry.offset + 4)
        entry.start = entry.offset + 30 + local.name_length + local.extra_length
        one = (local.size == _FULL["size"]) != (local.compressed == _FULL["size"])
        refuse({"zip.TRUNCATED": entry.start > len(self.data), "zip.ZIP64_INVALID": one})
        self._read_names(local, entry.offset + 30, ("size", "compressed"))
        descriptor, described = self.data[entry.start + entry.compressed : end], entry.flags & 8
        names = ("raw_name", *_HEADER[:8])
        differs = {name for name in names if getattr(local, name) != getattr(entry, name)}
        differs -= {name for name in ("crc", "compressed", "size") if described and getattr(local, name) == 0}
        differs -= {"needed"} if entry.zip64 and local.needed < 45 else set()
        lengths = (0,) if not described else (12, 16, 20, 24) if local.zip64 or entry.zip64 else (12, 16)
        signed = len(descriptor) in (16, 24)
        refuse({"zip.HEADER_MISMATCH": differs, "zip.ENTRY_OVERLAP": entry.start + entry.compressed > end,
                "zip.BYTES_UNACCOUNTED": len(descriptor) not in lengths,
                "zip.RECORD_INVALID": signed and not descriptor.startswith(b"PK\7\x08")})
        if descriptor:
            layout = "<3L" if len(descriptor) < 20 else "<L2Q"
            values = struct.unpack_from(layout, descriptor, 4 if signed else 0)
            refuse({"zip.HEADER_MISMATCH": values != (entry.crc, entry.compressed, entry.size)})
