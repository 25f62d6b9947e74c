import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseVectorFile, writeCaseFolder } from '../../src/selftest/case-folder.ts';
import { makeFolder } from '../support/folder.ts';

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
  const task = JSON.parse(await readFile(join(folder, 'case.json'), 'utf8')) as { input: object };
  expect(task.input).toEqual({
    files: Object.keys(files).map((path, at) => ({ path, file: `file-${at}` })),
    asOfMs: 1,
  });
});
