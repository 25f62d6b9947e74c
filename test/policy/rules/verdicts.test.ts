import { describe, expect, it } from 'vitest';
import type { EvidenceInput } from '../../../src/policy/facts.ts';
import { idOf } from '../../../vectors/make/bundle.ts';
import {
  bundle,
  exportOf,
  findingOf,
  inputOf,
  local,
  unattested,
  ONE,
  EXPORT,
  GONE,
  problemsOf,
} from '../make.ts';

describe('a violation of a verdict', () => {
  const mismatch = findingOf('part.DIGEST_MISMATCH', ONE);
  const twice = [mismatch, mismatch, findingOf('bundle.UNSIGNED', ONE)];

  it('has the required and the actual verdict, and the codes that led to it, each once', () => {
    const failed = bundle(1, { ...unattested('failed'), findings: twice });
    expect(problemsOf({}, [GONE, inputOf(failed)], 'verdict.bundles')).toStrictEqual([
      { state: 'not_checked', input: 0, subject: 'gone', findings: ['io.NOT_FOUND'] },
      {
        state: 'failed',
        input: 1,
        subject: ONE,
        expected: 'verified',
        actual: 'failed',
        findings: ['part.DIGEST_MISMATCH', 'bundle.UNSIGNED'],
      },
    ]);
    const [intact] = problemsOf({ verdict: { bundles: 'intact' } }, [inputOf(failed)], 'verdict.bundles');
    expect(intact?.findings).toEqual(['part.DIGEST_MISMATCH']);
  });

  it('has no codes if none led to it', () => {
    const inputs = [inputOf(bundle(1, unattested('incomplete')))];
    expect(problemsOf({}, inputs, 'verdict.bundles')).toStrictEqual([
      { state: 'not_checked', input: 0, subject: ONE, expected: 'verified', actual: 'incomplete' },
    ]);
  });

  it('of an export has the codes of its parts and local reports, too', () => {
    const bad = bundle(1, { ...unattested('failed'), findings: [mismatch] });
    const damaged = findingOf('local-report.DIGEST_MISMATCH', idOf('lrep', 1));
    const report = exportOf([bad], {
      verdict: 'failed',
      findings: [findingOf('export.EMPTY', 'export'), findingOf('export.SELECTION_MISMATCH', 'export')],
      localReports: [local(1, { verdict: 'failed', findings: [damaged] })],
    });
    const codes = ['export.SELECTION_MISMATCH', 'part.DIGEST_MISMATCH', 'local-report.DIGEST_MISMATCH'];
    expect(problemsOf({}, [inputOf(report)], 'verdict.export')).toMatchObject([
      { subject: EXPORT, findings: codes },
    ]);
  });

  it.each([
    ['io.NOT_FOUND', 'not_checked'],
    ['io.UNREADABLE', 'not_checked'],
    ['transport.TIMEOUT', 'not_checked'],
    ['control.UNAUTHENTICATED', 'not_checked'],
    ['control.PAYLOAD_TOO_LARGE', 'not_checked'],
    ['transport.DIGEST_MISMATCH', 'not_checked'],
    ['zip.NOT_A_ZIP', 'failed'],
  ] as const)('of an input that failed with %s is %s and has its path', (code, state) => {
    const input: EvidenceInput = { name: 'x', failure: { code, message: 'so', path: 'a.zip' } };
    expect(problemsOf({}, [input], 'verdict.bundles')).toMatchObject([
      { state, findings: [code], path: 'a.zip' },
    ]);
  });
});
