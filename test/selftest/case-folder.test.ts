import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseVectorFile, readCaseFolder } from '../../src/selftest/index.ts';
import { writeCaseFolder } from '../../src/selftest/case-folder.ts';
import { COUNTS } from '../vectors/counts.ts';
import { readVectors } from '../vectors/read.ts';
import { makeFolder } from '../support/folder.ts';
import { readFileSync } from 'node:fs';

const good = JSON.parse(readFileSync('vectors/hex.json', 'utf8')) as {
  cases: { id: string; expected: object }[];
};
const bytes = (change: object): Uint8Array => Buffer.from(JSON.stringify({ ...good, ...change }));
const [first, ...others] = good.cases;

it('a published vector file is read unchanged', () => {
  expect(parseVectorFile(bytes({}), 'hex.json').cases).toHaveLength(14);
});

it.each([
  ['a case is missing', { cases: others }],
  ['it announces fewer cases', { numberOfCases: 13 }],
  ['an id is used twice', { cases: [first, first, ...others.slice(1)] }],
  ['a verdict is not known', { cases: [{ ...first, expected: { verdict: 'acceptable' } }, ...others] }],
  ['its version is another', { version: 2 }],
  ['a member is not known', { more: 1 }],
])('a file of vectors is refused when %s', (_, change) => {
  expect(() => parseVectorFile(bytes(change), 'hex.json')).toThrow(
    expect.objectContaining({ code: 'selftest.VECTORS_INVALID', path: 'hex.json' }),
  );
});

it('a vector file that is not strict JSON is refused', () => {
  expect(() => parseVectorFile(Buffer.from('{"a":1,"a":2}'), 'x')).toThrow(
    expect.objectContaining({ code: 'selftest.VECTORS_INVALID' }),
  );
});

const root = await makeFolder();

const casesOf = (kind: string) =>
  readVectors(kind).cases.map(({ expected, ...one }) => ({
    ...one,
    expected: {
      ...expected,
      verdict: expected.verdict === 'valid' ? ('valid' as const) : ('invalid' as const),
    },
  }));

describe('the folder of a case', () => {
  it.each(Object.keys(COUNTS))(
    'a case folder of kind %s reads back as the input in the vectors',
    async (kind) => {
      for (const one of casesOf(kind)) {
        const folder = join(root, `${kind}.${one.id}`);
        await writeCaseFolder(folder, kind, one);
        expect(await readCaseFolder(folder)).toEqual({ kind, id: one.id, input: one.input });
      }
    },
  );

  it('a case folder does not contain the expected result', async () => {
    const one = casesOf('hex')[4]!;
    const folder = join(root, 'answer');
    await writeCaseFolder(folder, 'hex', one);
    const text = await readFile(join(folder, 'case.json'), 'utf8');
    expect(JSON.parse(text)).toEqual({ protocol: 1, kind: 'hex', id: one.id, input: one.input, files: {} });
    expect(text).not.toContain('verdict');
  });

  it('a case folder never uses a file name from a case', async () => {
    const content = Buffer.from('x').toString('base64');
    const files = { '../../outside': content, '/etc/passwd': content, 'a/b': content };
    const folder = join(root, 'hostile');
    await writeCaseFolder(folder, 'exports', { ...casesOf('hex')[0]!, input: { files, asOfMs: 1 } });
    expect((await readdir(folder)).toSorted()).toEqual(['case.json', 'file-0', 'file-1', 'file-2']);
    expect((await readCaseFolder(folder)).input).toEqual({ files, asOfMs: 1 });
  });

  it.each([
    ['another protocol', { protocol: 2, kind: 'hex', id: 'a', input: {}, files: {} }],
    ['a path for a file', { protocol: 1, kind: 'archives', id: 'a', input: {}, files: { zip: '../x' } }],
    ['an unknown member', { protocol: 1, kind: 'hex', id: 'a', input: {}, files: {}, more: 1 }],
    ['no object', []],
  ])('is refused with %s', async (_, value) => {
    const folder = await mkdtemp(join(root, 'bad-'));
    await writeFile(join(folder, 'case.json'), JSON.stringify(value));
    await expect(readCaseFolder(folder)).rejects.toMatchObject({ code: 'selftest.CASE_INVALID' });
  });

  it('reading a case folder without case.json fails', async () => {
    await expect(readCaseFolder(join(root, 'absent'))).rejects.toMatchObject({ code: 'io.NOT_FOUND' });
  });
});
