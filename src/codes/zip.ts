import { cite } from './entry.ts';

const archives = cite('formats §1, Part archive');
const limits = cite('formats, Limits');

const appnote = (section: string) => cite(`APPNOTE 6.3.10 §${section}`);

/** Codes of the ZIP reader and writer. */
export const zipCodes = {
  'zip.NOT_A_ZIP': appnote('4.3.16').malformed(
    'The file has no end of central directory record, so it is not a ZIP archive or is truncated.',
    'Fetch the archive again; the download may be incomplete.',
  ),
  'zip.TRUNCATED': appnote('4.3').malformed(
    'A record of the archive extends past the end of the file.',
    'Fetch the archive again; the download may be incomplete.',
  ),
  'zip.RECORD_INVALID': appnote('4.3').malformed(
    'A record of the archive has a wrong signature or contradicts itself.',
    'Get the original archive; this one is damaged or forged.',
  ),
  'zip.BYTES_UNACCOUNTED': appnote('4.3.6').extra(
    'The file contains bytes that belong to no record, before, between or after the entries.',
    'Treat the archive as forged; another reader could see different content.',
  ),
  'zip.ENTRY_OVERLAP': appnote('4.3.6').malformed(
    'Two records of the archive share bytes.',
    'Treat the archive as forged.',
  ),
  'zip.COMMENT': appnote('4.4.12').extra(
    'The archive or an entry has a comment, which can hide a second directory.',
    'Pack the evidence again without comments.',
  ),
  'zip.HEADER_MISMATCH': appnote('4.3.7, 4.3.12').mismatch(
    'The local header of an entry contradicts the central directory.',
    'Treat the archive as forged; two readers could see different content.',
  ),
  'zip.ENTRY_DUPLICATE': cite('formats §1, Paths').malformed(
    'Two entries have the same name, or names that some file systems treat as the same.',
    'Treat the archive as forged; two readers could see different content.',
  ),
  'zip.NAME_INVALID': cite('formats §1, Paths').malformed(
    'The name of an entry is not a safe relative path in UTF-8.',
    'Do not extract the archive with another tool, and ask its producer.',
  ),
  'zip.ENTRY_KIND': archives.unsupported(
    'An entry is a directory, a link or a device, but evidence has only regular files.',
    'Do not extract the archive with another tool, and ask its producer.',
  ),
  'zip.ENCRYPTED': appnote('4.4.4').unsupported(
    'An entry is encrypted.',
    'Ask the producer for an archive without encryption.',
  ),
  'zip.MULTI_DISK': appnote('4.4.19').unsupported(
    'The archive is marked as spanning several disks.',
    'Pack the evidence as one file.',
  ),
  'zip.METHOD_UNSUPPORTED': appnote('4.4.5').unsupported(
    'The compression method of an entry is not supported.',
    'Pack the evidence again with the methods store or deflate.',
  ),
  'zip.FEATURE_UNSUPPORTED': appnote('4.4.3, 4.4.4').unsupported(
    'An entry uses a flag or needs a version that is not supported.',
    'Pack the evidence again with plain stored or deflated entries.',
  ),
  'zip.ZIP64_INVALID': appnote('4.3.14, 4.5.3').malformed(
    'A ZIP64 record is missing, or contradicts the record that it extends.',
    'Get the original archive; this one is damaged or forged.',
  ),
  'zip.DATA_INVALID': cite('RFC 1951 §3.2.3').malformed(
    'The compressed data of an entry does not decode, or has bytes after its end.',
    'Get the original archive; this one is damaged.',
  ),
  'zip.SIZE_MISMATCH': appnote('4.4.9').mismatch(
    'The size of an entry does not match its header.',
    'Get the original archive; this one is damaged or forged.',
  ),
  'zip.CRC_MISMATCH': appnote('4.4.7').mismatch(
    'The CRC-32 of an entry does not match its header.',
    'Get the original archive; this one is damaged.',
  ),
  'zip.ENTRIES_EXCEEDED': limits.limit(
    'The archive has more entries than the limit.',
    'Do not trust it; only a program that uses the library can raise the limit.',
  ),
  'zip.SIZE_EXCEEDED': limits.limit(
    'An entry or the directory of the archive is larger than the limit.',
    'Do not trust it; only a program that uses the library can raise the limit.',
  ),
  'zip.RATIO_EXCEEDED': limits.limit(
    'An entry expands more than the limit allows for its compressed size.',
    'Treat the archive as a decompression bomb unless its producer explains it.',
  ),
  'zip.SECOND_OPINION': archives.mismatch(
    'A second, independent ZIP reader sees different entries or bytes.',
    'Treat the archive as forged, and report it to the maintainers.',
  ),
  'zip.ORDER_UNUSUAL': archives.extra(
    'The entries are not in the order in which drillproof writes them.',
    'Ignore it; another tool packed the archive, and the order has no meaning.',
    'warning',
  ),
  'zip.METADATA_UNUSUAL': archives.extra(
    'The archive or an entry has metadata that drillproof does not write, such as a time, a mode or an extra field.',
    'Do not rely on this metadata, which is not signed; another tool packed the archive.',
    'info',
  ),
} as const;
