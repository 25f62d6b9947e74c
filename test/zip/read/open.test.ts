import { crc32 } from 'node:zlib';
import { expect, it } from 'vitest';
import { DrillproofError } from '../../../src/errors.ts';
import { openZip } from '../../../src/zip/read/open.ts';
import { faultyAccess } from '../../support/evidence.ts';
import { extraField, le, rawZip, type RawEntry } from '../raw-zip.ts';
import { codeOf, errorOf, strictAccess } from '../support.ts';

const open = (bytes: Uint8Array) => openZip(strictAccess(bytes));
const a: RawEntry = { name: 'a' };
const b: RawEntry = { name: 'b' };

it('openZip returns the facts of each entry', async () => {
  const [entry] = (await open(rawZip([{ name: 'a', method: 8, plain: 'x'.repeat(100) }]))).entries;
  expect(entry).toMatchObject({ name: 'a', method: 'deflate', bytes: 100, dataOffset: 31 });
  expect(entry?.crc32).toBe(crc32('x'.repeat(100)));
  expect(entry?.compressedBytes).toBeLessThan(10);
});

it('openZip refuses twins, and names both', async () => {
  const error = await errorOf(open(rawZip([{ name: 'A' }, { name: 'b' }, { name: 'a' }])));
  expect(error).toBeInstanceOf(DrillproofError);
  expect(error).toMatchObject({ code: 'zip.ENTRY_DUPLICATE', path: 'a', details: { twin: 'A' } });
});

it('openZip checks its limits before it reads the directory', async () => {
  const access = faultyAccess(rawZip([a, b]), Infinity);
  expect(await codeOf(openZip(access, { entries: 0 }))).toBe('zip.ENTRIES_EXCEEDED');
  expect(access.reads).toBe(1);
});

const notesOf = async (bytes: Uint8Array) =>
  (await open(bytes)).notes.map(({ code, entry }) => [code, entry] as const);

it.each<[string, RawEntry]>([
  ['a date', { both: { date: 0x5821 } }],
  ['no mode', { central: { external: 0 } }],
  ['another needed version', { both: { version: 10 } }],
  ['a local extra field', { localExtra: extraField(0x5455, le(0, 5)) }],
])('the notes of openZip name an entry with %s', async (_, entry) => {
  expect(await notesOf(rawZip([a, { ...entry, name: 'b' }]))).toEqual([['zip.METADATA_UNUSUAL', 'b']]);
});

it('the notes of openZip state once that the orders of directory and file differ', async () => {
  const archive = rawZip([a, b, { name: 'c' }], { order: [0, 2, 1] });
  expect(await notesOf(archive)).toEqual([['zip.ORDER_UNUSUAL', 'c']]);
  expect((await open(archive)).entries.map(({ name }) => name)).toEqual(['a', 'c', 'b']);
});
