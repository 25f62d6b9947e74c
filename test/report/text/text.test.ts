import { count, countNoun } from '../../../src/bytes/text/wording.ts';
import { describe, expect, it } from 'vitest';
import { renderText } from '../../../src/report/text/text.ts';
import { percent, shortId, size, wrap } from '../../../src/report/text/page.ts';
import type { ExportReport, Report } from '../../../src/verify/report.ts';
import { finding } from '../../../src/verify/finding.ts';
import {
  attestationReport,
  coverage,
  DIGEST,
  exportReport,
  failedPart,
  localReport,
  part,
  SIGNER,
  toolSourceReport,
} from '../makers.ts';

const firstLine = (report: Report): string => renderText(report, { width: Infinity }).split('\n')[0]!;
/** The lines under a title. */
function section(text: string, title: string): string {
  const at = text.indexOf(`\n\n${title}`);
  expect(at, title).toBeGreaterThan(0);
  return text.slice(at + 2).split('\n\n')[0]!;
}
const caveats = (report: Report): string =>
  section(renderText(report), 'What this does not mean').replaceAll(/\s+/g, ' ');
const parts = (n: number) => Array.from({ length: n }, (_, i) => part(i + 1));
const MIXED = exportReport({ verdict: 'failed', parts: [...parts(3), failedPart(4)] });

it('the first line has the verdict, the id and a summary', () => {
  expect(firstLine(exportReport({ parts: parts(130) }))).toBe(
    'VERIFIED evexp_000000000001: 130 of 130 parts verified; list pinned',
  );
  const mixed = exportReport({ verdict: 'failed', parts: [...parts(128), failedPart(129), failedPart(130)] });
  expect(firstLine(mixed)).toBe(
    'FAILED evexp_000000000001: 2 of 130 parts: part.DIGEST_MISMATCH; list pinned',
  );
  expect(firstLine(exportReport({ verdict: 'incomplete', parts: [], completeness: 'claimed' }))).toBe(
    'INCOMPLETE evexp_000000000001: no parts; completeness not attested (list claimed)',
  );
  expect(firstLine(part(1))).toBe('VERIFIED evidence bundle evidence_000000000001');
  expect(firstLine(attestationReport({ verdict: 'not_checked' }))).toBe(
    'NOT CHECKED attestation alone, without its evidence',
  );
  expect(firstLine(toolSourceReport())).toBe('INTACT tool source of mailer');
});

describe('the report of an export', () => {
  it('lists only the parts without the best verdict', () => {
    const text = section(renderText(MIXED), 'Parts');
    expect(text).toContain('3 verified, 1 failed');
    expect(text).toContain('evidence_000000000004 part.DIGEST_MISMATCH');
    expect(text).not.toContain('evidence_000000000001');
  });

  it('counts the outcomes of the drills and lists those that did not pass', () => {
    const failed = part(3, {
      outcome: { drillId: 'login', targetId: 'web', status: 'completed', verdict: 'failed' },
    });
    const text = section(renderText(exportReport({ parts: [part(1), part(2), failed] })), 'Drill outcomes');
    expect(text).toContain('2 passed, 1 failed');
    expect(text).toContain('failed: login on web (evidence_000000000003)');
    expect(text).not.toContain('package-1');
  });

  it('has no row for outcomes if no part could be read', () => {
    expect(renderText(exportReport({ parts: [] }), { detail: 'brief' })).not.toMatch(/^ {2}drills/m);
  });

  it('lists each key once, with the number of parts that it signed and when', () => {
    const other = part(4, { signer: { ...SIGNER, issuer: 'other' } });
    const text = section(
      renderText(exportReport({ parts: [...parts(3), other, part(5, { signed: false })] })),
      'Signed by',
    );
    expect(text).toContain(`acme-ci, 4 parts\n    key ${SIGNER.keyId}\n`);
    expect(text).toContain('signed 2026-11-21T11:59:59.001Z to 2026-11-21T11:59:59.005Z');
    expect(text).toContain('other, 1 part\n');
    expect(text).toContain('1 unsigned part');
  });

  it.each([
    ['pinned', 'the digest that you gave'],
    ['attested', 'a trusted key signed'],
    ['claimed', 'no trusted key signed'],
  ] as const)('explains the completeness %s', (completeness, words) => {
    expect(section(renderText(exportReport({ completeness })), 'Completeness')).toContain(words);
  });

  it('counts bytes and lists uncovered files and files of the mirror', () => {
    const covered = coverage({
      coveredBytes: 999_999,
      attestedBytes: 500_000,
      uncovered: ['notes.txt'],
      mirrorFiles: ['SHA256SUMS'],
    });
    const text = section(renderText(exportReport({ coverage: covered })), 'Byte coverage');
    expect(text).toContain('999,999 match a digest in the chain (99.9 %)');
    expect(text).toContain('500,000 are under a trusted signature (50.0 %)');
    expect(text).toContain('1 file that nothing covers: notes.txt');
    expect(text).toContain('SHA256SUMS');
  });

  it('counts each check over the parts and explains what was not checked', () => {
    const text = renderText(MIXED);
    expect(section(text, 'Checked of 4 parts')).toContain(
      '3/4          the archive has the listed size and SHA-256 (1 FAILED)',
    );
    expect(section(text, 'Not checked')).toMatch(
      /the archive is not the listed one:\n +the archive is one unambiguous ZIP[^]*\(1 of 4\)/,
    );
  });

  it('marks local reports as unattested', () => {
    const text = renderText(
      exportReport({ localReports: [localReport(), localReport({ verdict: 'failed' })] }),
    );
    expect(section(text, 'Local reports')).toContain('1 intact, 1 failed (user-produced, unattested)');
    expect(section(text, 'What this does not mean')).toContain('Local reports come from users');
  });

  it('shows the fingerprint of the trust store, or that there was none', () => {
    expect(renderText(exportReport())).toContain(`trust store\n    ${DIGEST}\n                  with 2 keys`);
    const { trust: _trust, ...without } = exportReport();
    expect(renderText(without)).toContain('trust store     none given');
  });
});

describe('findings', () => {
  const failing = exportReport({
    verdict: 'failed',
    findings: [
      finding('export.COMPLETENESS_CLAIMED', 'export', { message: 'a note' }),
      finding('bag.TAG_UNLISTED', 'export', { path: 'x', message: 'a warning' }),
    ],
    parts: [part(1), failedPart(2)],
  });

  it('have code, meaning, action, subject, path, expected and actual, the most severe first', () => {
    const text = section(renderText(failing), 'Findings: 1 error, 1 warning, 1 note');
    const order = ['part.DIGEST_MISMATCH', 'bag.TAG_UNLISTED', 'export.COMPLETENESS_CLAIMED'].map((code) =>
      text.indexOf(code),
    );
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order[0]).toBeGreaterThan(0);
    expect(text).toContain('to do: Get the part from another copy');
    expect(text).toContain('evidence_000000000002 parts/evidence_000000000002.zip');
    expect(text).toContain(`expected\n        ${DIGEST}\n`);
    expect(text).toContain('actual\n        sha256:cdcd');
  });

  it.each(['brief', 'full'] as const)('come directly after the verdict in a %s report', (detail) => {
    const lines = renderText(exportReport({ verdict: 'failed', parts: [failedPart(1)] }), {
      detail,
      width: Infinity,
    });
    expect(lines.split('\n').slice(0, 4)).toEqual([
      expect.stringMatching(/^FAILED /),
      '',
      expect.stringMatching(/^Findings: 1 error/),
      '  error part.DIGEST_MISMATCH',
    ]);
  });

  it('of checks that failed or did not run come before those that passed', () => {
    const checks = [
      { id: 'part.bytes', state: 'passed' },
      { id: 'bundle.objects', state: 'not_checked', reason: 'r' },
      { id: 'attestation.signature', state: 'failed' },
    ] as const;
    const bad = part(1, { verdict: 'failed', checks });
    expect(renderText(bad, { width: Infinity })).toMatch(
      /Checked\n {2}FAILED [^\n]*\n {2}not checked [^\n]*\n {2}passed /,
    );
    const both = renderText(exportReport({ verdict: 'failed', parts: [part(2), bad] }), { width: Infinity });
    expect(both).toMatch(
      /Checked of 2 parts\n {2}1\/2 +the signature verifies[^\n]*\n {2}1\/2 +exactly the listed objects/,
    );
  });

  it('are followed by the failures again, one line each, and the verdict', () => {
    expect(renderText(failing).trimEnd().split('\n').slice(-3)).toEqual([
      '  part.DIGEST_MISMATCH evidence_000000000002 parts/evidence_000000000002.zip',
      '',
      firstLine(failing),
    ]);
    expect(renderText(exportReport())).not.toContain('Failures');
  });

  it('of thousands of parts take fewer than 250 lines', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => failedPart(i + 1));
    const text = renderText(exportReport({ verdict: 'failed', parts: many }));
    expect(text.split('\n').length).toBeLessThan(250);
    expect(text).toContain('(5,000 times)');
    expect(text).toContain('4,990 more; --format json lists them all');
  });
});

it.each<[string, Partial<ExportReport>, RegExp]>([
  [
    'verified evidence state that authentic is not successful, the time is a claim, and nothing was interpreted',
    {},
    /Authentic is not successful.*Only the signer states the time.*The content of the objects was not interpreted/,
  ],
  [
    'intact evidence, a claimed list and depth digest have one of each',
    { verdict: 'intact', completeness: 'claimed', depth: 'digest' },
    /could have made them match.*Nothing inside them was read.*bundles could have been removed/,
  ],
])('the caveats for %s', (_what, over, words) => {
  expect(caveats(exportReport(over))).toMatch(words);
});

it('the text of a result does not contain “authentic” unless the verdict is verified', () => {
  for (const verdict of ['intact', 'incomplete', 'failed'] as const) {
    expect(caveats(exportReport({ verdict }))).not.toContain('Authentic');
  }
});

it.each([60, 80, 120])('a report of width %i has no wider line, unless a word cannot be broken', (width) => {
  for (const report of [
    { ...MIXED, localReports: [localReport()] },
    part(1),
    attestationReport(),
    toolSourceReport(),
  ])
    for (const line of renderText(report, { width }).split('\n').slice(1))
      if (!/\S{40}/.test(line)) expect(line.length, line).toBeLessThanOrEqual(width);
});

it('the report of a bundle that several keys signed lists each key, and the run that it reproduces', () => {
  const other = { ...SIGNER, issuer: 'acme-qa', keyId: `sha256:${'34'.repeat(32)}` };
  const signers = [
    { ...SIGNER, thumbprint: DIGEST, in: 'attestation' },
    { ...other, thumbprint: DIGEST, in: 'dsse' },
  ] as const;
  const text = renderText(part(1, { rerunOfHostedRunId: 'hrun_000000000009', signers }));
  expect(section(text, 'Signed by')).toContain('acme-ci, 1 signature');
  expect(section(text, 'Signed by')).toContain(`acme-qa, 1 signature\n    key ${other.keyId}\n`);
  expect(text).toMatch(/rerun of +hrun_000000000009/);
});

it.each([
  ['a count below a thousand', count(999), '999'],
  ['thousands in groups', count(1_234_567), '1,234,567'],
  ['a noun for one', countNoun(1, 'part'), '1 part'],
  ['a noun for several', countNoun(2, 'part'), '2 parts'],
  ['an irregular plural', countNoun(0, 'copy', 'copies'), '0 copies'],
  ['a size of one byte', size(1), '1 byte'],
  ['a size below a KiB', size(1023), '1,023 bytes'],
  ['a size in KiB', size(1024), '1.0 KiB'],
  ['a size in MiB', size(1.5 * 1024 ** 2), '1.5 MiB'],
  ['a size above all units', size(2 * 1024 ** 6), '2048.0 PiB'],
  ['all as a share', percent(1, 1), '100 %'],
  ['almost all, rounded down', percent(999_999, 1_000_000), '99.9 %'],
  ['nothing as a share', percent(0, 5), '0.0 %'],
  ['a share of nothing', percent(0, 0), '0 %'],
  ['a short digest', shortId(`sha256:${'ab'.repeat(32)}`), 'sha256:abababababab…'],
  ['a short key id that is no digest', shortId('my-key'), 'my-key'],
])('reports show %s', (_what, shown, expected) => {
  expect(shown).toBe(expected);
});

it.each([
  ['aa bb cc', ['aa bb', 'cc']],
  ['a verylongword b', ['a', 'veryl', 'ongwo', 'rd b']],
  ['漢字漢字', ['漢字', '漢字']],
  ['12345', ['12345']],
  ['123456', ['12345', '6']],
  ['', ['']],
])('%j is wrapped to 5 columns between words, and in a word that is wider', (text, lines) => {
  expect(wrap(text, 5)).toEqual(lines);
});
