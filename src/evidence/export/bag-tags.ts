import { compareUtf8, type Digest, fromUtf8, portablePathProblem, toUtf8 } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { Checksum } from './checksums.ts';

/** Names in a BagIt bag (RFC 8493). The payload, which is the tree of an export, lies under `data/`. */
export const BAG_DECLARATION = 'bagit.txt';
export const BAG_INFO = 'bag-info.txt';
export const BAG_PAYLOAD = 'data/';
export const BAG_MANIFEST = 'manifest-sha256.txt';
export const BAG_TAG_MANIFEST = 'tagmanifest-sha256.txt';

/** `manifest-<algorithm>.txt`, or `tagmanifest-<algorithm>.txt`. */
export const BAG_MANIFEST_NAME = /^(tag)?manifest-[a-z0-9]+\.txt$/;

/** The bytes of `bagit.txt` (RFC 8493 §2.1.1). */
export const bagDeclarationBytes = (): Uint8Array =>
  toUtf8('BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n');

/** The bytes of a payload or tag manifest (RFC 8493 §2.1.3), sorted by path from the root of the bag. */
export function bagManifestBytes(rows: Iterable<Checksum>): Uint8Array {
  const lines = [...rows]
    .toSorted((a, b) => compareUtf8(a.path, b.path))
    .map(({ path, digest }) => `${digest.slice('sha256:'.length)}  ${encodePath(path)}\n`);
  return toUtf8(lines.join(''));
}

/** The bytes of `bag-info.txt` (RFC 8493 §2.2.2): one element a line, in the order given. */
export function bagInfoBytes(elements: readonly (readonly [label: string, value: string])[]): Uint8Array {
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

/** A line of a manifest: the checksum in lowercase hex, of whatever algorithm, and a path from the root of the bag. */
export type BagRow = { readonly path: string; readonly hex: string };

const ROW = /^([0-9A-Fa-f]{32,128})[ \t]+\*?(.+)$/;

/**
 * Reads a payload or tag manifest.
 * @throws DrillproofError `bag.INVALID` with the first line that breaks a rule, `encoding.UTF8_INVALID`
 */
export function parseBagManifest(bytes: Uint8Array): BagRow[] {
  const seen = new Set<string>();
  return linesOf(bytes).map((line, i) => {
    const [, hex = '', encoded = ''] = ROW.exec(line) ?? [];
    if (hex === '') throw broken(i, 'it is not a checksum and a path');
    const path = decodePath(encoded);
    const problem = portablePathProblem(path);
    if (problem !== undefined) throw broken(i, `its path is not portable: ${problem}`);
    if (seen.has(path)) throw broken(i, 'its path stands twice');
    seen.add(path);
    return { path, hex: hex.toLowerCase() };
  });
}

/** Number and bytes of the payload files, as `Payload-Oxum` states them (RFC 8493 §2.2.2). */
export type PayloadOxum = { readonly bytes: number; readonly files: number };

/**
 * Reads `bag-info.txt` and gives back its `Payload-Oxum`, when it has one.
 * @throws DrillproofError `bag.INVALID`, `encoding.UTF8_INVALID`
 */
export function parseBagInfo(bytes: Uint8Array): PayloadOxum | undefined {
  const values: string[] = [];
  for (const [i, line] of linesOf(bytes).entries()) {
    if (/^[ \t]/.test(line) && i > 0) continue; // the value of the line before goes on
    const [, label = '', value = ''] = /^([^:\s][^:]*?)[ \t]*:[ \t]*(.*)$/.exec(line) ?? [];
    if (label === '') throw broken(i, 'it is not a label and a value');
    if (label.toLowerCase() === 'payload-oxum') values.push(value.trim());
  }
  if (values.length === 0) return undefined;
  const [, octets = '', files = ''] = /^(\d{1,15})\.(\d{1,15})$/.exec(values[0]!) ?? [];
  if (values.length > 1 || octets === '')
    throw new DrillproofError('bag.INVALID', 'Payload-Oxum is not bytes, a dot and a number of files, once');
  return { bytes: Number(octets), files: Number(files) };
}

/** `sha256:` and the hex of a row of a SHA-256 manifest. */
export const bagDigest = ({ hex }: BagRow): Digest => `sha256:${hex}`;

// Lines end with LF, CR or CRLF; an empty file has none.
function linesOf(bytes: Uint8Array): string[] {
  const lines = fromUtf8(bytes).split(/\r\n|\r|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

const ENCODED: Readonly<Record<string, string>> = { '%': '%25', '\n': '%0A', '\r': '%0D' };
const encodePath = (path: string): string => path.replaceAll(/[%\n\r]/g, (char) => ENCODED[char]!);

// Tools of before 1.0 leave a percent sign as it is: one that encodes nothing stands for itself.
const decodePath = (encoded: string): string =>
  encoded.replaceAll(/%(25|0A|0D)/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));

const broken = (index: number, why: string): DrillproofError =>
  new DrillproofError('bag.INVALID', `line ${index + 1}: ${why}`, { details: { line: index + 1 } });
