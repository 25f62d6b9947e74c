import { zipPlatform } from '#platform';
import type { Code } from '../../codes/catalogue.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { DrillproofError } from '../../errors.ts';
import { EXTRA_UNICODE_PATH, EXTRA_ZIP64, IN_ZIP64_32, readUint64, viewOf } from '../layouts.ts';

/** The parts of the extra fields of a header that are used later. A directory can hold sixteen million fields. */
export type ExtraFields = {
  readonly zip64: Uint8Array | undefined;
  readonly unicodePath: Uint8Array | undefined;
  /** The header has a field other than ZIP64. */
  readonly foreign: boolean;
};

const NONE: ExtraFields = { zip64: undefined, unicodePath: undefined, foreign: false };

// Fields that make an entry something other than its header states (APPNOTE 4.5.2, 4.6.1).
const REFUSED = new Map<number, readonly [code: Code, what: string]>([
  [0x00_14, ['zip.ENCRYPTED', 'a PKCS#7 store']],
  [0x00_15, ['zip.ENCRYPTED', 'a certificate']],
  [0x00_16, ['zip.ENCRYPTED', 'a certificate of the directory']],
  [0x00_17, ['zip.ENCRYPTED', 'a strong encryption header']],
  [0x00_19, ['zip.ENCRYPTED', 'a list of recipients']],
  [0x99_01, ['zip.ENCRYPTED', 'AES encryption']],
  [0x00_0f, ['zip.FEATURE_UNSUPPORTED', 'a patch descriptor']],
  [0x63_75, ['zip.COMMENT', 'a Unicode comment']],
  [0x75_6e, ['zip.ENTRY_KIND', 'a Unix kind of file']],
]);

/**
 * Parses an extra field (APPNOTE 4.5.1): its blocks must fill it exactly, each id once, without a refused one.
 * @throws DrillproofError `zip.RECORD_INVALID` or the code of the refused field
 */
export function parseExtraFields(bytes: Uint8Array, path: string): ExtraFields {
  if (bytes.length === 0) return NONE;
  const fail = (code: Code, message: string): DrillproofError => new DrillproofError(code, message, { path });
  const seen = new Set<number>();
  const fields = new Map<number, Uint8Array>();
  const view = viewOf(bytes);
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 > bytes.length ? Infinity : at + 4 + view.getUint16(at + 2, true);
    if (end > bytes.length)
      throw fail('zip.RECORD_INVALID', 'a block of the extra field extends past its end');
    const id = view.getUint16(at, true);
    const refused = REFUSED.get(id);
    if (refused) throw fail(refused[0], `the extra field contains ${refused[1]}`);
    if (seen.has(id)) throw fail('zip.RECORD_INVALID', 'an extra field occurs twice');
    seen.add(id);
    if (id === EXTRA_ZIP64 || id === EXTRA_UNICODE_PATH) fields.set(id, bytes.subarray(at + 4, end));
    at = end;
  }
  const zip64 = fields.get(EXTRA_ZIP64);
  const foreign = seen.size > (zip64 === undefined ? 0 : 1);
  return { zip64, unicodePath: fields.get(EXTRA_UNICODE_PATH), foreign };
}

/**
 * The header with the numbers of its ZIP64 field. That field has one 64-bit number for each of these fields that has its
 * largest value, in this order, and nothing else (APPNOTE 4.5.3).
 * @throws DrillproofError `zip.ZIP64_INVALID`
 */
export function applyZip64<Header extends Readonly<Record<string, number>>>(
  header: Header,
  names: readonly (keyof Header)[],
  extra: ExtraFields,
  path: string,
): Header {
  const data = extra.zip64;
  const wanted = names.filter((name) => header[name] === IN_ZIP64_32);
  if (data?.length !== (wanted.length === 0 ? undefined : wanted.length * 8)) {
    const message = 'the ZIP64 field does not contain exactly the numbers that refer to it';
    throw new DrillproofError('zip.ZIP64_INVALID', message, { path });
  }
  if (data === undefined) return header;
  const view = viewOf(data);
  return { ...header, ...Object.fromEntries(wanted.map((name, i) => [name, readUint64(view, i * 8)])) };
}

/**
 * A Unicode path field (APPNOTE 4.6.9) must agree with the name, because readers differ in which of the two they use.
 * @throws DrillproofError `zip.NAME_INVALID`
 */
export function assertUnicodePathAgrees(extra: ExtraFields, name: string): void {
  const data = extra.unicodePath;
  if (data === undefined) return;
  const nameBytes = toUtf8(name);
  if (
    data.length === 5 + nameBytes.length &&
    data[0] === 1 &&
    viewOf(data).getUint32(1, true) === zipPlatform.crc32(nameBytes, 0) &&
    equalBytes(data.subarray(5), nameBytes)
  )
    return;
  const message = 'the Unicode path field contradicts the name';
  throw new DrillproofError('zip.NAME_INVALID', message, { path: name });
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
