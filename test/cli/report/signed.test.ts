import { readFile, stat } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openReport } from '../../../src/report/signed/statement.ts';
import type { ReportChain } from '../../../src/report/signed/chain.ts';
import { call, callJson, expectExit, expectPass, useEvidenceFolder } from '../make.ts';

const SIGN = '--sign auditor.pem --issuer auditor';
const EVIDENCE = 'export --trust trust.json';
const TRUST = '--trust auditors.json';

useEvidenceFolder(async () => {
  await expectPass('keys generate --out auditor.pem');
  await expectPass(`keys add auditor.pub.pem --issuer auditor --purpose report ${TRUST}`);
  const rows = [
    [`verify ${EVIDENCE} --format html=1.html`, 0],
    [`verify ${EVIDENCE}`, 0],
    [`gate ${EVIDENCE}`, 1],
    ['scrub export --journal journal --format html=4.html', 0],
  ] as const;
  for (const [i, [line, code]] of rows.entries()) {
    const previous = i === 0 ? '' : `--previous ${i}.json`;
    expect(await call(`${line} ${SIGN} --format json=${i + 1}.json ${previous}`)).toMatchObject({ code });
  }
});

describe('--sign', () => {
  it('wraps the reports of verify, gate and scrub in a chain that report verify accepts', async () => {
    const chain: ReportChain = await callJson(`report verify 1.json 2.json 3.json 4.json ${TRUST}`);
    expect(chain.reports.map(({ report }) => report)).toEqual([
      { kind: 'export', result: 'verified, drills: 1 failed, 1 passed' },
      { kind: 'export', result: 'verified, drills: 1 failed, 1 passed' },
      { kind: 'decision', result: 'no' },
      { kind: 'scrub', result: 'good' },
    ]);
  });

  it('keeps the report as --json prints it', async () => {
    const { report } = openReport(await readFile('1.json'));
    expect(report).toEqual(await callJson(`verify ${EVIDENCE}`));
  });

  it('wraps the report on standard output of verify for many paths, and of diff', async () => {
    const many = await call(`verify ${EVIDENCE} absent --json ${SIGN}`);
    expect(openReport(Buffer.from(many.stdout)).signed?.report.kind).toBe('reports');
    for (const name of ['a', 'b']) await expectPass(`verify ${EVIDENCE} --format json=${name}.json`);
    const diff = await expectPass(`diff a.json b.json --json ${SIGN}`);
    expect(openReport(Buffer.from(diff)).report).toMatchObject({ kind: 'report-diff', equal: true });
  });

  it('signs with a command', async () => {
    const words = `verify ${EVIDENCE} --json --public-key auditor.pub.pem --issuer auditor --signer`.split(
      ' ',
    );
    const text = await expectPass([...words, 'openssl dgst -sha256 -sign auditor.pem']);
    expect(openReport(Buffer.from(text)).signed?.issuer).toBe('auditor');
  });

  it.each([
    ['without a JSON report', SIGN],
    ['without an issuer', '--json --sign auditor.pem'],
    ['with an issuer and no key', '--json --issuer auditor'],
    ['with a previous report and no key', '--json --previous 1.json'],
    ['with both key and command', `--json ${SIGN} --signer true`],
  ])('is refused %s', async (_, options) => {
    await expectExit(`verify ${EVIDENCE} ${options}`, 2, 'usage.INVALID');
  });

  it('refuses a previous report that is not signed, before it verifies anything', async () => {
    const { code, stdout } = await call(`verify ${EVIDENCE} --json ${SIGN} --previous trust.json`);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { code: 'dsse.INVALID' }]);
  });
});

it.each([
  ['a gap', `1.json 3.json ${TRUST}`, 1, 'report.PREVIOUS_MISSING'],
  ['the wrong order', `2.json 1.json ${TRUST}`, 1, 'report.ORDER_MISMATCH'],
  ['keys for other purposes', '1.json --trust trust.json', 1, 'trust.KEY_UNKNOWN'],
  ['no trusted keys', '1.json', 3, 'trust.STORE_ABSENT'],
  ['a missing end', `1.json ${TRUST} --expect-last ${'0'.repeat(64)}`, 1, 'report.LAST_MISMATCH'],
])('report verify reports %s with its exit code and code', async (_, words, code, finding) => {
  const result = { code, stdout: expect.stringContaining(finding) as string };
  expect(await call(`report verify ${words}`)).toMatchObject(result);
});

it('--format html writes a page about an export, a decision, a scrub, a chain and many reports', async () => {
  const reports = '1.json 2.json 3.json 4.json --format html=all.html';
  expect(await expectPass(`report ${reports} ${TRUST} --trust trust.json`)).toBe(
    'all.html shows 4 reports\n',
  );
  const saved = await Promise.all(['1.html', '4.html', 'all.html'].map((name) => readFile(name, 'utf8')));
  const lines = [`gate ${EVIDENCE}`, `report verify 1.json ${TRUST}`, `verify ${EVIDENCE} absent`];
  const printed = await Promise.all(lines.map((line) => call(`${line} --format html`)));
  for (const page of [...saved, ...printed.map(({ stdout }) => stdout)]) {
    expect(page).toMatch(/^<!doctype html>[^]*<\/html>\n$/);
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).not.toMatch(/\son\w+=|\sstyle=/);
  }
  expect(saved[2]).toContain('data:image/svg+xml;base64,');
});

it.each([
  ['ends with 3 for signed reports without trusted keys', '1.json 2.json --format html=unknown.html', 3],
  ['replaces no page without --force', '1.json --format html=1.html', 2],
  [
    'ends with 1 for a broken chain, and writes the page',
    `1.json 3.json --format html=broken.html ${TRUST}`,
    1,
  ],
])('report --format html %s', async (_, words, code) => {
  expect(await call(`report ${words}`)).toMatchObject({ code });
  if (code === 1) expect((await stat('broken.html')).size).toBeGreaterThan(0);
});
