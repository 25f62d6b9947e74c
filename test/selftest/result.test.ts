import { describe, expect, it } from 'vitest';
import { joined, selftestReport, type CaseResult } from '../../src/selftest/index.ts';

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
  ).result;

describe('the result of a selftest', () => {
  it('is passed when every case passed', () => expect(of('passed', 'passed')).toBe('passed'));
  it('is passed beside what the verifier does not know', () =>
    expect(of('passed', 'unsupported')).toBe('passed'));
  it('is failed with one failure among thousands', () =>
    expect(of(...Array.from({ length: 2000 }, () => 'passed' as const), 'failed')).toBe('failed'));
  it('is failed rather than open when both are there', () => expect(of('failed', 'not_run')).toBe('failed'));
  it('is not checked when a case did not run', () => expect(of('passed', 'not_run')).toBe('not_checked'));
  it('is not checked when nothing is known', () => expect(of('unsupported')).toBe('not_checked'));
  it('is not checked when there is no case', () => expect(of()).toBe('not_checked'));
});

describe('the report of a selftest', () => {
  it('counts a case once, and its ways apart', () => {
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

  it('joins two platforms: cases once, runs together, and the worse result', () => {
    const good = selftestReport('x', [result('passed', { way: 'a' })]);
    const bad = selftestReport('x', [result('failed', { way: 'b' })]);
    const both = joined(good, bad);
    expect(both).toMatchObject({ result: 'failed', total: { cases: 1, passed: 1, failed: 1 } });
    expect(both.kinds).toMatchObject([{ ways: ['a', 'b'] }]);
    expect(both.failures).toHaveLength(1);
  });

  it('is not joined to one about other kinds', () => {
    const other = selftestReport('x', [result('passed', { kind: 'paths' })]);
    expect(() => joined(selftestReport('x', [result('passed')]), other)).toThrow(TypeError);
  });
});
