import { describe, expect, it } from 'vitest';
import { compareAnswer } from '../../src/selftest/exec.ts';
import type { SelftestCase } from '../../src/selftest/index.ts';

const one = (expected: SelftestCase['expected']): SelftestCase => ({
  id: 'a',
  comment: 'b',
  flags: ['Usual'],
  input: {},
  expected,
});
const refused = one({ verdict: 'invalid', code: 'json.INVALID' });
const accepted = one({ verdict: 'valid', base64: 'AA==' });
const reportOutcome = one({ verdict: 'invalid', result: 'failed', codes: ['part.EXTRA', 'part.MISSING'] });
const answer = (exitCode: number | undefined, stdout = '') => ({ exitCode, stdout });

describe('the answer of a verifier', () => {
  it.each([
    ['the verdict and the code', refused, 1, '{"code":"json.INVALID"}\n'],
    ['the verdict and the bytes', accepted, 0, '{"base64":"AA=="}\n'],
    ['some of what is expected', reportOutcome, 1, '{"result":"failed"}\n'],
    [
      'members in another order, and more lines',
      reportOutcome,
      1,
      '{"codes":["part.EXTRA","part.MISSING"],"result":"failed"}\nmore\n',
    ],
    ['white space', refused, 1, ' { "code" : "json.INVALID" } \n'],
  ])('passes with %s', (_, vector, code, stdout) => {
    expect(compareAnswer(vector, answer(code, stdout))).toEqual({ state: 'passed' });
  });

  it('an answer with the right verdict only passes, marked as verdict only', () => {
    for (const stdout of ['', '\n', '{}\n'])
      expect(compareAnswer(refused, answer(1, stdout))).toEqual({ state: 'passed', verdictOnly: true });
  });

  it('an answer with the verdict only is not marked when nothing else is expected', () => {
    expect(compareAnswer(one({ verdict: 'valid' }), answer(0))).toEqual({ state: 'passed' });
  });

  it.each([
    ['accepts what is invalid', refused, 0, '', 'wrong verdict'],
    ['refuses what is valid', accepted, 1, '', 'wrong verdict'],
    ['names another code', refused, 1, '{"code":"json.TOO_LARGE"}', 'wrong code'],
    ['finds other bytes', accepted, 0, '{"base64":"AQ=="}', 'wrong base64'],
    ['leaves a code out of the list', reportOutcome, 1, '{"codes":["part.EXTRA"]}', 'wrong codes'],
    [
      'lists codes in another order',
      reportOutcome,
      1,
      '{"codes":["part.MISSING","part.EXTRA"]}',
      'wrong codes',
    ],
    ['says what nobody expects', refused, 1, '{"kode":"json.INVALID"}', 'wrong kode'],
    ['says null', refused, 1, '{"code":null}', 'wrong code'],
    ['contradicts its exit code', refused, 0, '{"verdict":"invalid"}', 'wrong verdict'],
  ])('fails when it %s', (_, vector, code, stdout, reason) => {
    expect(compareAnswer(vector, answer(code, stdout))).toMatchObject({ state: 'failed', reason });
  });

  it.each(['[]', 'json.INVALID', '"json.INVALID"', 'null', '{"code":', '1'])(
    'fails with %j as its line',
    (line) => {
      expect(compareAnswer(refused, answer(1, line))).toMatchObject({ state: 'failed' });
    },
  );

  it.each([2, 3, 76, 78, 130, 255])('an answer with exit code %d fails', (code) => {
    expect(compareAnswer(refused, answer(code))).toMatchObject({
      state: 'failed',
      reason: `it ended with exit code ${code}`,
    });
  });

  it('an answer fails when a signal or the timeout ended the verifier', () => {
    expect(compareAnswer(refused, answer(undefined))).toMatchObject({ state: 'failed' });
    expect(compareAnswer(refused, { ...answer(1), fault: 'no answer within 1 s' })).toMatchObject({
      state: 'failed',
      reason: 'no answer within 1 s',
    });
  });

  it('an answer with exit code 77 is unsupported, whatever it prints', () => {
    expect(compareAnswer(refused, answer(77, 'not this'))).toEqual({ state: 'unsupported' });
  });

  it.each([126, 127])('exit code %d means that the shell could not start the verifier', (code) => {
    expect(compareAnswer(refused, answer(code))).toMatchObject({ state: 'not_run' });
  });

  it('a failed answer names the bugs of its flags', () => {
    expect(compareAnswer(refused, answer(0))).toMatchObject({
      flags: ['Usual'],
      expected: { verdict: 'invalid', code: 'json.INVALID' },
      actual: { verdict: 'valid' },
    });
  });
});
