import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { findPathProblem } from '../../../src/bytes/portable-path.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { formatChecksums, parseChecksums } from '../../../src/evidence/export/checksums.ts';
import { makeFolder, writeFiles } from '../../support/folder.ts';
import { forAll } from '../../support/property.ts';

const digest = digestOf(toUtf8('some bytes'));
const hex = digest.slice(7);
const parse = (text: string) => parseChecksums(toUtf8(text));

const folder = await makeFolder();

describe('SHA256SUMS', () => {
  it('is sorted by path and ends every line', () => {
    const text = new TextDecoder().decode(
      formatChecksums([
        { path: 'parts/b.zip', digest },
        { path: 'manifest.json', digest },
        { path: 'parts/a.zip', digest },
      ]),
    );
    expect(text).toBe(`${hex}  manifest.json\n${hex}  parts/a.zip\n${hex}  parts/b.zip\n`);
  });

  it('reads back as it was written', () => {
    const segment = fc.stringMatching(/^[a-z0-9_é漢 -]{0,8}[a-z0-9]$/);
    const path = fc
      .array(segment, { minLength: 1, maxLength: 3 })
      .map((segments) => `f/${segments.join('/')}`)
      .filter((name) => findPathProblem(name) === undefined);
    forAll(200, [fc.uniqueArray(path, { maxLength: 8, selector: (p) => p.toUpperCase() })], (paths) => {
      const rows = paths.map((name) => ({ path: name.normalize('NFC'), digest }));
      expect(new Set(parseChecksums(formatChecksums(rows)))).toEqual(new Set(rows));
    });
  });

  it('is accepted by sha256sum', async () => {
    const SHA256SUMS = formatChecksums([{ path: 'parts/a b.zip', digest }]);
    await writeFiles(folder, { 'parts/a b.zip': 'some bytes', SHA256SUMS });
    const output = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' });
    expect(output).toBe('parts/a b.zip: OK\n');
  });

  it('is empty without files', () => {
    expect(formatChecksums([])).toEqual(new Uint8Array());
    expect(parse('')).toEqual([]);
  });

  it('accepts the mark of binary files', () => {
    expect(parse(`${hex} *a\n`)).toEqual([{ path: 'a', digest }]);
  });

  it.each([
    ['a line without an end', `${hex}  a`],
    ['one space', `${hex} a\n`],
    ['uppercase', `${hex.toUpperCase()}  a\n`],
    ['a short digest', `${hex.slice(1)}  a\n`],
    ['no path', `${hex}  \n`],
    ['an empty line', `${hex}  a\n\n`],
    ['an escaped line', `\\${hex}  a\\nb\n`],
    ['another line ending', `${hex}  a\r\n`],
    ['a path out of the folder', `${hex}  ../a\n`],
    ['an absolute path', `${hex}  /etc/passwd\n`],
    ['a path twice', `${hex}  a\n${hex}  a\n`],
    ['a path twice on some file systems', `${hex}  a\n${hex}  A\n`],
  ])('with %s is refused', (_, text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'receipt.INVALID' }));
  });

  it('refuses paths that need an escape', () => {
    expect(() => formatChecksums([{ path: 'a\nb', digest }])).toThrow(TypeError);
    expect(() => formatChecksums([{ path: 'a\\b', digest }])).toThrow(TypeError);
  });

  it('gives rows or a code for any text', () => {
    const line = fc.oneof(fc.string(), fc.constantFrom(`${hex}  a`, `${hex} *b/c`, hex, '  ', '\\'));
    forAll(300, [fc.array(line, { maxLength: 5 })], (lines) => {
      try {
        for (const row of parse(lines.map((text) => `${text}\n`).join('')))
          expect(row.path).not.toMatch(/\.\.|\\/);
      } catch (cause) {
        expect(cause).toMatchObject({
          code: expect.stringMatching(/^(receipt\.INVALID|encoding\.UTF8_INVALID)$/),
        });
      }
    });
  });
});
