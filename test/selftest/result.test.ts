import { expect, it } from 'vitest';
import { selftestReport, type CaseResult } from '../../src/selftest/result.ts';

type State = CaseResult['state'];
const makeResult = (state: State, rest: Partial<CaseResult> = {}): CaseResult => ({
  kind: 'hex',
  id: 'a',
  way: 'exec',
  state,
  ...rest,
});

it.each<[string, string, State[]]>([
  ['passed', 'every case passed', ['passed', 'passed']],
  ['passed', 'the other cases are unsupported', ['passed', 'unsupported']],
  ['failed', 'one of 2,001 cases failed', [...Array<State>(2000).fill('passed'), 'failed']],
  ['failed', 'one case failed and another did not run', ['failed', 'not_run']],
  ['not_checked', 'a case did not run', ['passed', 'not_run']],
  ['not_checked', 'every case is unsupported', ['unsupported']],
  ['not_checked', 'there is no case', []],
])('the result of a selftest is %s when %s', (verdict, _, states) => {
  const results = states.map((state, i) => makeResult(state, { id: String(i) }));
  expect(selftestReport('x', results).verdict).toBe(verdict);
});

it('a report counts a case once and each of its ways as a run', () => {
  const report = selftestReport('x', [
    makeResult('passed', { way: 'memory' }),
    makeResult('failed', { way: 'stream' }),
    makeResult('passed', { kind: 'paths' }),
  ]);
  expect(report.kinds).toMatchObject([
    { kind: 'hex', cases: 1, passed: 1, failed: 1, ways: ['memory', 'stream'] },
    { kind: 'paths', cases: 1, passed: 1, failed: 0 },
  ]);
  expect(report.total).toMatchObject({ cases: 2, passed: 2, failed: 1 });
  expect(report.failures).toMatchObject([{ way: 'stream' }]);
});
