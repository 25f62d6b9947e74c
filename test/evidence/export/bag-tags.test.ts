import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { findPathProblem } from '../../../src/bytes/portable-path.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import {
  formatBagDeclaration,
  formatBagDigest,
  formatBagInfo,
  formatBagManifest,
  parseBagDeclaration,
  parseBagInfo,
  parseBagManifest,
} from '../../../src/evidence/export/checksums.ts';
import { isBag } from '../../../src/evidence/subtrees.ts';
import { codeOf } from '../../bytes/thrown-by.ts';
import { forAll } from '../../support/property.ts';

const HEX = 'ab'.repeat(32);
const manifest = (text: string) => parseBagManifest(toUtf8(text));
describe('a manifest of a bag', () => {
  it('reads the forms that RFC 8493 shows: spaces, tabs, an asterisk, upper case, any end of line', () => {
    const rows = manifest(`${HEX} data/a\r\n${HEX.toUpperCase()}\t data/b\r${HEX}  *data/c\n${HEX} data/d e`);
    expect(rows.map(({ path }) => path)).toEqual(['data/a', 'data/b', 'data/c', 'data/d e']);
    expect(new Set(rows.map(({ hex }) => hex))).toEqual(new Set([HEX]));
  });

  it('decodes exactly the three encodings of RFC 8493 §2.1.3, once', () => {
    const rows = manifest(`${HEX} data/100%25.txt\n${HEX} data/%41\n${HEX} data/%250A\n`);
    expect(rows.map(({ path }) => path)).toEqual(['data/100%.txt', 'data/%41', 'data/%0A']);
  });

  it.each([
    ['no checksum', 'data/a\n'],
    ['a checksum that is too short', `${'a'.repeat(31)} data/a\n`],
    ['no path', `${HEX} \n`],
    ['an empty line in between', `${HEX} data/a\n\n${HEX} data/b\n`],
    ['a line break in a path', `${HEX} data/a%0Ab\n`],
    ['a path that climbs', `${HEX} data/../a\n`],
    ['a path from the root', `${HEX} /data/a\n`],
    ['a path twice', `${HEX} data/a\n${HEX} data/a\n`],
  ])('refuses %s', (_, text) => {
    expect(codeOf(() => manifest(text))).toBe('bag.INVALID');
  });

  it('may be empty', () => {
    expect(manifest('')).toEqual([]);
  });

  it('is read back as it was written, sorted', () => {
    const path = fc
      .array(fc.stringMatching(/^[a-zA-Z0-9 %*~ä._-]{1,12}$/), { minLength: 1, maxLength: 3 })
      .map((steps) => ['data', ...steps].join('/').normalize('NFC'))
      .filter((text) => findPathProblem(text) === undefined);
    forAll(100, [fc.uniqueArray(path)], (paths) => {
      const rows = paths.map((name) => ({ path: name, digest: digestOf(toUtf8(name)) }));
      const read = parseBagManifest(formatBagManifest(rows));
      expect(new Map(read.map((row) => [row.path, formatBagDigest(row)]))).toEqual(
        new Map(rows.map((row) => [row.path, row.digest])),
      );
    });
  });

  it('gives a code for any bytes', () => {
    const text = fc.string({ unit: 'binary' }).map((value) => new TextEncoder().encode(value));
    forAll(100, [fc.oneof(fc.uint8Array({ maxLength: 200 }), text)], (bytes) => {
      for (const parse of [parseBagManifest, parseBagInfo, parseBagDeclaration])
        expect([undefined, 'bag.INVALID', 'bag.UNSUPPORTED', 'encoding.UTF8_INVALID']).toContain(
          codeOf(() => parse(bytes)),
        );
    });
  });
});

it('the declaration of a bag is read back as it was written', () => {
  expect(parseBagDeclaration(formatBagDeclaration())).toEqual({ version: '1.0' });
});

it.each([
  [
    '0.97, which older tools write',
    'BagIt-Version: 0.97\r\nTag-File-Character-Encoding: utf-8\r\n',
    undefined,
  ],
  ['a future version', 'BagIt-Version: 1.1\nTag-File-Character-Encoding: UTF-8\n', 'bag.UNSUPPORTED'],
  ['another encoding', 'BagIt-Version: 1.0\nTag-File-Character-Encoding: ISO-8859-1\n', 'bag.UNSUPPORTED'],
  ['a third line', 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\nx: y\n', 'bag.INVALID'],
  ['a byte order mark', '\uFEFFBagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n', 'bag.INVALID'],
  ['nothing', '', 'bag.INVALID'],
])('the declaration of a bag of %s', (_, text, code) => {
  expect(codeOf(() => parseBagDeclaration(toUtf8(text)))).toBe(code);
});

it('bag-info.txt is read back as it was written', () => {
  const bytes = formatBagInfo([
    ['Bag-Software-Agent', 'drillproof\n1'],
    ['Payload-Oxum', '12.3'],
  ]);
  expect(new TextDecoder().decode(bytes)).toBe('Bag-Software-Agent: drillproof 1\nPayload-Oxum: 12.3\n');
  expect(parseBagInfo(bytes)).toEqual({ bytes: 12, files: 3 });
});

it.each([
  ['no Payload-Oxum', 'Contact-Name: A\n  and B\n', undefined],
  ['a Payload-Oxum in other case', 'payload-oxum : 0.0\n', undefined],
  ['a Payload-Oxum twice', 'Payload-Oxum: 1.1\nPayload-Oxum: 1.1\n', 'bag.INVALID'],
  ['a Payload-Oxum that is not a pair', 'Payload-Oxum: 1\n', 'bag.INVALID'],
  ['a negative Payload-Oxum', 'Payload-Oxum: -1.1\n', 'bag.INVALID'],
  [
    'a Payload-Oxum of more digits than a number holds exactly',
    `Payload-Oxum: ${'9'.repeat(16)}.1\n`,
    'bag.INVALID',
  ],
  ['a line without a label', 'hello\n', 'bag.INVALID'],
  ['a continuation line without a value before it', ' hello\n', 'bag.INVALID'],
])('bag-info.txt with %s', (_, text, code) => {
  expect(codeOf(() => parseBagInfo(toUtf8(text)))).toBe(code);
});

it.each([
  [['bagit.txt', 'data/manifest.json'], true],
  [['bagit.txt'], false],
  [['data/manifest.json'], false],
  [['bagit.txt', 'database/x'], false],
  [['bagit.txt', 'data/x', 'manifest.json'], false],
])('a tree of files %j is a bag: %j', (paths, expected) => {
  expect(isBag(paths)).toBe(expected);
});
