import { describe, expect, it } from 'vitest';
import { joinReports, selftestReport, type CaseResult } from '../../src/selftest/index.ts';

const result = (state: CaseResult['state'], over: Partial<CaseResult> = {}): CaseResult => ({
  kind: 'hex',
  id: 'a',
  way: 'exec',
  state,
  ...over,
});
const of = (...states: CaseResult['state'][]) =>
  selftestReport(
    'x',
    states.map((state, i) => result(state, { id: String(i) })),
  ).verdict;

describe('the result of a selftest', () => {
  it('the result is passed when every case passed', () => expect(of('passed', 'passed')).toBe('passed'));
  it('the result is passed when the other cases are unsupported', () =>
    expect(of('passed', 'unsupported')).toBe('passed'));
  it('the result is failed when one case among thousands failed', () =>
    expect(of(...Array.from({ length: 2000 }, () => 'passed' as const), 'failed')).toBe('failed'));
  it('the result is failed when one case failed and another did not run', () =>
    expect(of('failed', 'not_run')).toBe('failed'));
  it('the result is not_checked when a case did not run', () =>
    expect(of('passed', 'not_run')).toBe('not_checked'));
  it('the result is not_checked when every case is unsupported', () =>
    expect(of('unsupported')).toBe('not_checked'));
  it('the result is not_checked without cases', () => expect(of()).toBe('not_checked'));
});

it('a report counts a case once and each of its ways as a run', () => {
  const report = selftestReport('x', [
    result('passed', { way: 'memory' }),
    result('failed', { way: 'stream' }),
    result('passed', { kind: 'paths' }),
  ]);
  expect(report.kinds).toMatchObject([
    { kind: 'hex', cases: 1, passed: 1, failed: 1, ways: ['memory', 'stream'] },
    { kind: 'paths', cases: 1, passed: 1, failed: 0 },
  ]);
  expect(report.total).toMatchObject({ cases: 2, passed: 2, failed: 1 });
  expect(report.failures).toMatchObject([{ way: 'stream' }]);
});

it('merging two platforms counts cases once, adds runs and keeps the worse result', () => {
  const good = selftestReport('x', [result('passed', { way: 'a' })]);
  const bad = selftestReport('x', [result('failed', { way: 'b' })]);
  const both = joinReports(good, bad);
  expect(both).toMatchObject({ verdict: 'failed', total: { cases: 1, passed: 1, failed: 1 } });
  expect(both.kinds).toMatchObject([{ ways: ['a', 'b'] }]);
  expect(both.failures).toHaveLength(1);
});

it('merging reports about different kinds fails', () => {
  const other = selftestReport('x', [result('passed', { kind: 'paths' })]);
  expect(() => joinReports(selftestReport('x', [result('passed')]), other)).toThrow(TypeError);
});
