import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseVectorFile, readCaseFolder, writeCaseFolder } from '../../src/selftest/case-folder.ts';
import { makeFolder } from '../support/folder.ts';
import { COUNTS } from '../vectors/counts.ts';

const root = await makeFolder();
const readCases = async (kind: string) =>
  parseVectorFile(await readFile(`vectors/${kind}.json`), `${kind}.json`).cases;

const published = JSON.parse(await readFile('vectors/hex.json', 'utf8')) as { cases: { expected: object }[] };
const [first, ...others] = published.cases;

it.each([
  ['a case is missing', { cases: others }],
  ['it announces fewer cases', { numberOfCases: 13 }],
  ['an id is used twice', { cases: [first, first, ...others.slice(1)] }],
  ['a verdict is unknown', { cases: [{ ...first, expected: { verdict: 'acceptable' } }, ...others] }],
  ['its version is unknown', { version: 2 }],
  ['a member is unknown', { more: 1 }],
  ['it is not strict JSON', '{"a":1,"a":2}'],
])('a file of vectors is refused when %s', (_, change) => {
  const text = typeof change === 'string' ? change : JSON.stringify({ ...published, ...change });
  expect(() => parseVectorFile(Buffer.from(text), 'hex.json')).toThrow(
    expect.objectContaining({ code: 'selftest.VECTORS_INVALID', path: 'hex.json' }),
  );
});

it.each(Object.keys(COUNTS))(
  'a case folder of kind %s reads back as the input in the vectors',
  async (kind) => {
    for (const testCase of await readCases(kind)) {
      const folder = join(root, `${kind}.${testCase.id}`);
      await writeCaseFolder(folder, kind, testCase);
      expect(await readCaseFolder(folder)).toEqual({ kind, id: testCase.id, input: testCase.input });
    }
  },
);

it('a case folder does not contain the expected result', async () => {
  const { id, input, ...rest } = (await readCases('hex'))[4]!;
  const folder = join(root, 'answer');
  await writeCaseFolder(folder, 'hex', { id, input, ...rest });
  const task: unknown = JSON.parse(await readFile(join(folder, 'case.json'), 'utf8'));
  expect(task).toEqual({ protocol: 1, kind: 'hex', id, input, files: {} });
});

it('a case folder never uses a file name from a case', async () => {
  const content = Buffer.from('x').toString('base64');
  const files = { '../../outside': content, '/etc/passwd': content, 'a/b': content };
  const folder = join(root, 'hostile');
  const [testCase] = await readCases('hex');
  await writeCaseFolder(folder, 'exports', { ...testCase!, input: { files, asOfMs: 1 } });
  expect((await readdir(folder)).toSorted()).toEqual(['case.json', 'file-0', 'file-1', 'file-2']);
  expect((await readCaseFolder(folder)).input).toEqual({ files, asOfMs: 1 });
});

it.each([
  ['another protocol', { protocol: 2, kind: 'hex', id: 'a', input: {}, files: {} }],
  ['a path for a file', { protocol: 1, kind: 'archives', id: 'a', input: {}, files: { zip: '../x' } }],
  ['an unknown member', { protocol: 1, kind: 'hex', id: 'a', input: {}, files: {}, more: 1 }],
  ['a list instead of an object', []],
])('a case folder is refused with %s', async (_, value) => {
  const folder = await mkdtemp(join(root, 'bad-'));
  await writeFile(join(folder, 'case.json'), JSON.stringify(value));
  await expect(readCaseFolder(folder)).rejects.toMatchObject({ code: 'selftest.CASE_INVALID' });
});

it('a case folder without case.json is refused', async () => {
  await expect(readCaseFolder(join(root, 'absent'))).rejects.toMatchObject({ code: 'io.NOT_FOUND' });
});
