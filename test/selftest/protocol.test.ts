import { expect, it } from 'vitest';
import { compareAnswer } from '../../src/selftest/exec.ts';
import type { SelftestCase } from '../../src/selftest/case-folder.ts';

const makeCase = (expected: SelftestCase['expected']): SelftestCase => ({
  id: 'a',
  comment: 'b',
  flags: ['Usual'],
  input: {},
  expected,
});
const REFUSED = makeCase({ verdict: 'invalid', code: 'json.INVALID' });
const ACCEPTED = makeCase({ verdict: 'valid', base64: 'AA==' });
const REPORT = makeCase({ verdict: 'invalid', result: 'failed', codes: ['part.EXTRA', 'part.MISSING'] });
const compare = (testCase: SelftestCase, exitCode: number | undefined, stdout = '') =>
  compareAnswer(testCase, { exitCode, stdout });

it.each([
  ['the verdict and the code', REFUSED, 1, '{"code":"json.INVALID"}\n'],
  ['the verdict and the bytes', ACCEPTED, 0, '{"base64":"AA=="}\n'],
  ['some of the expected members', REPORT, 1, '{"result":"failed"}\n'],
  ['members in another order', REPORT, 1, '{"codes":["part.EXTRA","part.MISSING"],"result":"failed"}\n'],
  ['more lines', REPORT, 1, '{"result":"failed"}\nmore\n'],
  ['white space', REFUSED, 1, ' { "code" : "json.INVALID" } \n'],
  ['the verdict only if nothing else is expected', makeCase({ verdict: 'valid' }), 0, ''],
])('an answer of a verifier passes with %s', (_, testCase, exitCode, stdout) => {
  expect(compare(testCase, exitCode, stdout)).toEqual({ state: 'passed' });
});

it.each(['', '\n', '{}\n'])(
  'the answer %j with the right exit code passes, marked as verdict only',
  (stdout) => {
    expect(compare(REFUSED, 1, stdout)).toEqual({ state: 'passed', verdictOnly: true });
  },
);

it.each([
  ['accepts an invalid input', REFUSED, 0, '', 'wrong verdict'],
  ['refuses a valid input', ACCEPTED, 1, '', 'wrong verdict'],
  ['names another code', REFUSED, 1, '{"code":"json.TOO_LARGE"}', 'wrong code'],
  ['has other bytes', ACCEPTED, 0, '{"base64":"AQ=="}', 'wrong base64'],
  ['omits a code of the list', REPORT, 1, '{"codes":["part.EXTRA"]}', 'wrong codes'],
  ['lists codes in another order', REPORT, 1, '{"codes":["part.MISSING","part.EXTRA"]}', 'wrong codes'],
  ['has an unexpected member', REFUSED, 1, '{"kode":"json.INVALID"}', 'wrong kode'],
  ['has null as a code', REFUSED, 1, '{"code":null}', 'wrong code'],
  ['contradicts its exit code', REFUSED, 0, '{"verdict":"invalid"}', 'wrong verdict'],
])('an answer of a verifier fails when it %s', (_, testCase, exitCode, stdout, reason) => {
  const { flags, expected } = testCase;
  expect(compare(testCase, exitCode, stdout)).toMatchObject({ state: 'failed', reason, flags, expected });
});

it.each(['[]', 'json.INVALID', '"json.INVALID"', 'null', '{"code":', '1'])(
  'an answer of a verifier fails with %j as its line',
  (line) => {
    expect(compare(REFUSED, 1, line)).toMatchObject({ state: 'failed', actual: { verdict: 'invalid' } });
  },
);

it.each([
  ...[2, 3, 76, 78, 130, 255].map((code) => [code, 'failed', `it ended with exit code ${code}`] as const),
  ...[126, 127].map(
    (code) => [code, 'not_run', `the command could not be started (exit code ${code})`] as const,
  ),
  [undefined, 'failed', 'it ended with a signal'] as const,
  [77, 'unsupported', undefined] as const,
])('an answer with exit code %s is %s, whatever it prints', (exitCode, state, reason) => {
  expect(compare(REFUSED, exitCode, 'not JSON')).toMatchObject(
    reason === undefined ? { state } : { state, reason },
  );
});

it('an answer fails when the timeout ended the verifier', () => {
  const fault = 'no answer within 1 s';
  const result = compareAnswer(REFUSED, { exitCode: 1, stdout: '', fault });
  expect(result).toMatchObject({ state: 'failed', reason: fault });
});
