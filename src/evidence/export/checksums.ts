import { compareUtf8, fromUtf8, toUtf8 } from '../../bytes/text/encoding.ts';
import type { Digest } from '../../bytes/hash.ts';
import { foldPath, findPathProblem } from '../../bytes/portable-path.ts';
import { DrillproofError } from '../../errors.ts';

/** The name of the file in a mirror. */
export const CHECKSUMS = 'SHA256SUMS';

/** One line: the digest of a file, and its path from the root of the mirror. */
export type Checksum = { readonly path: string; readonly digest: string };

const LINE = /^([0-9a-f]{64}) [ *](.+)$/;

/**
 * The bytes of a SHA256SUMS file, as `sha256sum -c` reads it, sorted by path.
 * @throws TypeError for a path that is not portable: such a line would need escapes, which tools treat differently
 */
export const formatChecksums = (rows: Iterable<Checksum>): Uint8Array =>
  formatRows(rows, (path) => {
    const problem = findPathProblem(path);
    if (problem !== undefined) throw new TypeError(`the path is not portable: ${problem}`);
    return path;
  });

function formatRows(rows: Iterable<Checksum>, encode: (path: string) => string): Uint8Array {
  const lines = [...rows]
    .toSorted((a, b) => compareUtf8(a.path, b.path))
    .map(({ path, digest }) => `${digest.slice('sha256:'.length)}  ${encode(path)}\n`);
  return toUtf8(lines.join(''));
}

/**
 * The lines of a SHA256SUMS file: lowercase hex, a space, a space or `*`, and a portable path that occurs once.
 * @throws DrillproofError `receipt.INVALID`, `encoding.UTF8_INVALID`
 */
export function parseChecksums(bytes: Uint8Array): Checksum[] {
  const lines = fromUtf8(bytes).split('\n');
  if (lines.pop() !== '') throw checksumsError(lines.length + 1, 'the last line has no end');
  return parseRows(lines, {
    row: LINE,
    decode: (path) => path,
    keyOf: foldPath,
    invalid: checksumsError,
  }).map(({ path, hex }) => ({ path, digest: `sha256:${hex}` }));
}

const checksumsError = (line: number, why: string): DrillproofError =>
  new DrillproofError('receipt.INVALID', `line ${line} of the checksums: ${why}`, { details: { line } });

/** The format of a file of checksums. */
type RowFormat = {
  /** Its groups are the hex of the digest and the path. */
  readonly row: RegExp;
  readonly decode: (path: string) => string;
  /** Rows with equal keys are the same file. */
  readonly keyOf: (path: string) => string;
  /** The error for a line, counted from 1. */
  readonly invalid: (line: number, why: string) => DrillproofError;
};

function parseRows(lines: readonly string[], { row, decode, keyOf, invalid: fail }: RowFormat): BagRow[] {
  const seen = new Set<string>();
  return lines.map((line, i) => {
    const [, hex = '', encoded = ''] = row.exec(line) ?? [];
    if (hex === '') throw fail(i + 1, 'it is not a checksum and a path');
    const path = decode(encoded);
    const problem = findPathProblem(path);
    if (problem !== undefined) throw fail(i + 1, `its path is not portable: ${problem}`);
    if (seen.has(keyOf(path))) throw fail(i + 1, 'its path occurs twice');
    seen.add(keyOf(path));
    return { path, hex: hex.toLowerCase() };
  });
}

/** Names in a BagIt bag (RFC 8493). The payload, which is the tree of an export, is under `data/`. */
export const BAG_DECLARATION = 'bagit.txt';
export const BAG_INFO = 'bag-info.txt';
export const BAG_PAYLOAD = 'data/';
export const BAG_MANIFEST = 'manifest-sha256.txt';
export const BAG_TAG_MANIFEST = 'tagmanifest-sha256.txt';

/** `manifest-<algorithm>.txt`, or `tagmanifest-<algorithm>.txt`. */
export const BAG_MANIFEST_NAME = /^(tag)?manifest-[a-z0-9]+\.txt$/;

/** The bytes of `bagit.txt` (RFC 8493 §2.1.1). */
export const formatBagDeclaration = (): Uint8Array =>
  toUtf8('BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n');

/** The bytes of a payload or tag manifest (RFC 8493 §2.1.3), sorted by path from the root of the bag. */
export const formatBagManifest = (rows: Iterable<Checksum>): Uint8Array => formatRows(rows, encodePath);

/** An element of `bag-info.txt`, such as `Contact-Name` (RFC 8493 §2.2.2). */
export type BagField = readonly [label: string, value: string];

/** The bytes of `bag-info.txt` (RFC 8493 §2.2.2): one element a line, in the order given. */
export function formatBagInfo(elements: readonly BagField[]): Uint8Array {
  return toUtf8(elements.map(([label, value]) => `${label}: ${value.replaceAll(/\s+/g, ' ')}\n`).join(''));
}

const DECLARATION =
  /^BagIt-Version: (\d+\.\d+)(?:\r\n|\r|\n)Tag-File-Character-Encoding: (\S+)(?:\r\n|\r|\n)?$/;
const VERSIONS: ReadonlySet<string> = new Set(['0.97', '1.0']);

/**
 * Reads `bagit.txt`.
 * @throws DrillproofError `bag.INVALID`; `bag.UNSUPPORTED` for a version other than 0.97 and 1.0, and for tag files
 *   that are not UTF-8; `encoding.UTF8_INVALID`
 */
export function parseBagDeclaration(bytes: Uint8Array): { readonly version: string } {
  const [, version = '', encoding = ''] = DECLARATION.exec(fromUtf8(bytes)) ?? [];
  if (version === '')
    throw new DrillproofError('bag.INVALID', 'it is not the two lines of version and encoding');
  if (!VERSIONS.has(version))
    throw new DrillproofError('bag.UNSUPPORTED', `version ${version} of BagIt is not supported`);
  if (encoding.toUpperCase() !== 'UTF-8')
    throw new DrillproofError('bag.UNSUPPORTED', `tag files in ${encoding} are not supported`);
  return { version };
}

/** A line of a manifest: the checksum in lowercase hex, of any algorithm, and a path from the root of the bag. */
export type BagRow = { readonly path: string; readonly hex: string };

const ROW = /^([0-9A-Fa-f]{32,128})[ \t]+\*?(.+)$/;

/**
 * Reads a payload or tag manifest.
 * @throws DrillproofError `bag.INVALID` with the first line that breaks a rule, `encoding.UTF8_INVALID`
 */
export const parseBagManifest = (bytes: Uint8Array): BagRow[] =>
  parseRows(splitLines(bytes), { row: ROW, decode: decodePath, keyOf: (path) => path, invalid: bagError });

/** Number and bytes of the payload files, as `Payload-Oxum` states them (RFC 8493 §2.2.2). */
export type PayloadOxum = { readonly bytes: number; readonly files: number };

/**
 * The `Payload-Oxum` of `bag-info.txt`, if it has one.
 * @throws DrillproofError `bag.INVALID`, `encoding.UTF8_INVALID`
 */
export function parseBagInfo(bytes: Uint8Array): PayloadOxum | undefined {
  const values: string[] = [];
  for (const [i, line] of splitLines(bytes).entries()) {
    if (/^[ \t]/.test(line) && i > 0) continue; // continues the value of the line before
    const [, label = '', value = ''] = /^([^:\s][^:]*?)[ \t]*:[ \t]*(.*)$/.exec(line) ?? [];
    if (label === '') throw bagError(i + 1, 'it is not a label and a value');
    if (label.toLowerCase() === 'payload-oxum') values.push(value.trim());
  }
  if (values.length === 0) return undefined;
  const [, octets = '', files = ''] = /^(\d{1,15})\.(\d{1,15})$/.exec(values[0]!) ?? [];
  if (values.length > 1 || octets === '')
    throw new DrillproofError('bag.INVALID', 'Payload-Oxum is not bytes, a dot and a number of files, once');
  return { bytes: Number(octets), files: Number(files) };
}

/** `sha256:` and the hex of a row of a SHA-256 manifest. */
export const formatBagDigest = ({ hex }: BagRow): Digest => `sha256:${hex}`;

// Lines end with LF, CR or CRLF; an empty file has none.
function splitLines(bytes: Uint8Array): string[] {
  const lines = fromUtf8(bytes).split(/\r\n|\r|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

const ENCODED: Readonly<Record<string, string>> = { '%': '%25', '\n': '%0A', '\r': '%0D' };
const encodePath = (path: string): string => path.replaceAll(/[%\n\r]/g, (char) => ENCODED[char]!);

// Tools before 1.0 do not encode percent signs, so other percent signs stay as they are.
const decodePath = (encoded: string): string =>
  encoded.replaceAll(/%(25|0A|0D)/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));

const bagError = (line: number, why: string): DrillproofError =>
  new DrillproofError('bag.INVALID', `line ${line}: ${why}`, { details: { line } });
