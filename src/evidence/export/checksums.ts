import { compareUtf8, fromUtf8, pathTwin, portablePathProblem, toUtf8 } from '../../bytes/index.ts';
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
export function formatChecksums(rows: Iterable<Checksum>): Uint8Array {
  const lines = [...rows]
    .toSorted((a, b) => compareUtf8(a.path, b.path))
    .map(({ path, digest }) => {
      const problem = portablePathProblem(path);
      if (problem !== undefined) throw new TypeError(`the path cannot stand in a checksum file: ${problem}`);
      return `${digest.slice('sha256:'.length)}  ${path}\n`;
    });
  return toUtf8(lines.join(''));
}

/**
 * The lines of a SHA256SUMS file: lowercase hex, a space, a space or `*`, and a portable path that stands once.
 * @throws DrillproofError `receipt.INVALID`, `encoding.UTF8_INVALID`
 */
export function parseChecksums(bytes: Uint8Array): Checksum[] {
  const lines = fromUtf8(bytes).split('\n');
  if (lines.pop() !== '') throw invalid(lines.length + 1, 'the last line has no end');
  const seen = new Set<string>();
  return lines.map((line, i) => {
    const [, hex = '', path = ''] = LINE.exec(line) ?? [];
    if (hex === '') throw invalid(i + 1, 'it is not a digest and a path');
    const problem = portablePathProblem(path);
    if (problem !== undefined) throw invalid(i + 1, `the path is not portable: ${problem}`);
    if (seen.has(pathTwin(path))) throw invalid(i + 1, 'its path stands twice');
    seen.add(pathTwin(path));
    return { path, digest: `sha256:${hex}` };
  });
}

const invalid = (line: number, why: string): DrillproofError =>
  new DrillproofError('receipt.INVALID', `line ${line} of the checksums: ${why}`, { details: { line } });
