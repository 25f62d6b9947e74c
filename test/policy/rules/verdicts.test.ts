import { describe, expect, it } from 'vitest';
import type { EvidenceInput } from '../../../src/policy/facts.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import { decisionRenderers } from '../../../src/report/decision-renderers.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import { idOf } from '../../../vectors/make/bundle.ts';
import { makeExport, makeSigner, makeTrust, NOW } from '../../support/evidence.ts';
import {
  bundle,
  decide,
  exportOf,
  findingOf,
  inputOf,
  local,
  unattested,
  ONE,
  EXPORT,
  GONE,
  problemsOf,
  violationsOf,
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

const unknown = (name: string) => ({
  ...findingOf('trust.KEY_UNKNOWN', ONE),
  expected: '',
  actual: `key ${name}`,
});

describe('a violation because of an unknown key', () => {
  const [stranger, trusted] = [makeSigner(), makeSigner()];
  const decideStranger = async () => {
    const { files } = await makeExport({ signer: stranger, issuer: 'https://evil\u202e.example' });
    const report = await verifyExport(memorySource(files), { asOfMs: NOW, trust: makeTrust(trusted) });
    return decide({}, [{ name: 'export', report }], NOW);
  };

  it('names the key, its issuer and the nearest trusted names, in every format and escaped', async () => {
    const decision = await decideStranger();
    const messages = (['verdict.export', 'verdict.bundles'] as const).flatMap((rule) =>
      violationsOf(decision, rule).map(({ message }) => message),
    );
    expect(messages).toHaveLength(3);
    for (const message of messages)
      expect(
        [stranger.keyId, 'https://evil', trusted.keyId].filter((name) => !message.includes(name)),
      ).toEqual([]);
    for (const [format, render] of Object.entries(decisionRenderers)) {
      const text = render(decision).replaceAll(/\s+/g, '');
      expect(text, format).toContain(stranger.keyId);
      expect(text, format).toContain(trusted.keyId);
      if (format !== 'json') expect(text, format).not.toContain('\u202e');
    }
  });

  it('names each of three keys once, and no more', () => {
    const findings = ['a', 'b', 'a', 'c', 'd'].map(unknown);
    const bad = bundle(1, { ...unattested('failed'), findings });
    const [violation] = violationsOf(decide({}, [inputOf(bad)]), 'verdict.bundles');
    expect(violation?.message.match(/key \w(?=,)/g)).toEqual(['key a', 'key b', 'key c']);
    expect(violation?.message).toMatch(/, trusted: none$/);
  });
});
