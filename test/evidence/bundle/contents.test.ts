import { expect, test } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { readPartContents } from '../../../src/evidence/bundle/contents.ts';
import { renderContents } from '../../../src/report/html/contents.ts';
import { markupText } from '../../../src/report/html/document.ts';
import { describeAssertion } from '../../../src/report/text/contents.ts';
import {
  flipBit,
  makeBundleInput,
  makeObject,
  makePart,
  makeRunResult,
  repack,
} from '../../support/evidence.ts';

const texts = {
  'whole.txt': 'one\ntwo\n',
  'lines.txt': 'line\n'.repeat(13),
  'long.txt': 'x'.repeat(201),
  'at-limit.txt': `${'x'.repeat(200)}\n`,
  'large.txt': 'x\n'.repeat(1024) + 'y',
  'empty.txt': '',
  'binary.bin': 'a\u0000b',
  'markup.html': '<script>alert(1)</script>\u202Eend',
};
const objects = Object.entries(texts).map(([path, text]) => makeObject(path, text));
const assertion = {
  schemaVersion: 1,
  assertionId: 'sums',
  kind: 'state',
  status: 'failed',
  gate: true,
} as const;
const { bytes } = await makePart(1, undefined, {
  objects: [...makeBundleInput(1).objects, ...objects],
  runResult: makeRunResult(1, { assertionResults: [assertion] }),
});
const contents = await readPartContents(memoryAccess(bytes));
const previewOf = (name: string) => contents.previews.find(({ path }) => path.endsWith(name));

test.each([
  ['whole.txt', ['one', 'two'], true],
  ['lines.txt', Array<string>(12).fill('line'), false],
  ['long.txt', ['x'.repeat(200)], false],
  ['at-limit.txt', ['x'.repeat(200)], true],
])('the preview of %s has its first lines, and says whether that is all', (name, lines, isWhole) => {
  expect(previewOf(name)).toMatchObject({ lines, isWhole });
});

test('the preview of a text of more than 2 KiB has its beginning', () => {
  expect(previewOf('large.txt')).toMatchObject({ isWhole: false });
});

test.each(['empty.txt', 'binary.bin'])('%s has no preview, because it has no text', (name) => {
  expect(previewOf(name)).toBeUndefined();
});

test('text of a part becomes neither markup nor invisible on a page', () => {
  const page = markupText(renderContents(contents));
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}end');
  expect(page).not.toMatch(/<script|\u202E/);
});

test('an object that cannot be read is named, and the others are shown', async () => {
  const damaged = await repack(bytes, (entries) => {
    entries.set('objects/run-result.json', new TextEncoder().encode('{}'));
  });
  const { runResult, unreadable, previews } = await readPartContents(memoryAccess(damaged));
  expect([runResult, unreadable.map(({ code }) => code)]).toEqual([undefined, ['bundle.RUN_RESULT_INVALID']]);
  expect(previews.length).toBeGreaterThan(3);
});

test('a part that is no archive is refused with the code of its fault', async () => {
  const cut = flipBit(bytes, bytes.length - 20).subarray(0, -1);
  await expect(readPartContents(memoryAccess(cut))).rejects.toMatchObject({ code: /^zip\./ });
});

test('an assertion states its message, what it expected and what it found', () => {
  expect(contents.runResult?.assertionResults).toEqual([assertion]);
  expect(describeAssertion(assertion)).toBe('');
  expect(describeAssertion({ ...assertion, message: 'too late', expected: 15, actual: { m: 20 } })).toBe(
    'too late; expected 15, actual {"m":20}',
  );
});
