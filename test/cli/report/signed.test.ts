import { readFile, stat } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { openReport, type ReportChain } from '../../../src/report/index.ts';
import { call, scratch, writeEvidence } from '../make.ts';

const at = (name: string): string => dir.path(name);
const signing = (): string[] => ['--sign', at('auditor.pem'), '--issuer', 'auditor'];
const evidence = (): string[] => [at('export'), '--trust', at('trust.json')];
const trust = (): string[] => ['--trust', at('auditors.json')];
const files = (...names: string[]): string[] => names.map((name) => at(`${name}.dsse.json`));
const into = (name: string): string[] => ['--format', `json=${at(`${name}.dsse.json`)}`];
const after = (name: string): string[] => ['--previous', at(`${name}.dsse.json`)];

const dir = await scratch();
await writeEvidence(dir.root);
await call(['keys', 'generate', '--out', at('auditor.pem')]);
const add = ['keys', 'add', at('auditor.pub.pem'), '--issuer', 'auditor', '--purpose', 'report'];
expect((await call([...add, ...trust()])).code).toBe(0);
const verify = ['verify', ...evidence(), ...signing()];
expect((await call([...verify, ...into('1'), '--format', `html=${at('1.html')}`])).code).toBe(0);
expect((await call([...verify, ...into('2'), ...after('1')])).code).toBe(0);
expect((await call(['gate', ...evidence(), ...signing(), ...into('3'), ...after('2')])).code).toBe(1);
const scrub = ['scrub', at('export'), '--journal', at('journal'), ...signing(), ...into('4'), ...after('3')];
expect((await call([...scrub, '--format', `html=${at('4.html')}`])).code).toBe(0);
afterAll(() => dir[Symbol.asyncDispose]());

describe('--sign', () => {
  it('wraps the reports of verify, gate and scrub in a chain that report verify accepts', async () => {
    const { code, stdout } = await call([
      'report',
      'verify',
      ...files('1', '2', '3', '4'),
      ...trust(),
      '--json',
    ]);
    expect(code).toBe(0);
    const chain = JSON.parse(stdout) as ReportChain;
    expect(chain.reports.map(({ report }) => report)).toEqual([
      { kind: 'export', result: 'verified' },
      { kind: 'export', result: 'verified' },
      { kind: 'decision', result: 'no' },
      { kind: 'scrub', result: 'good' },
    ]);
  });

  it('keeps the report as --json prints it', async () => {
    const plain = await call(['verify', ...evidence(), '--json']);
    const { report } = openReport(await readFile(at('1.dsse.json')));
    expect(report).toEqual(JSON.parse(plain.stdout));
  });

  it('wraps the report on standard output too, of many paths and of differences', async () => {
    const many = await call(['verify', ...evidence(), at('absent'), '--json', ...signing()]);
    expect(openReport(Buffer.from(many.stdout)).signed?.report.kind).toBe('reports');
    for (const name of ['a', 'b'])
      await call(['verify', ...evidence(), '--format', `json=${at(`${name}.json`)}`]);
    const diff = await call(['diff', at('a.json'), at('b.json'), '--json', ...signing()]);
    expect(diff.code).toBe(0);
    expect(openReport(Buffer.from(diff.stdout)).report).toMatchObject({ kind: 'report-diff', equal: true });
  });

  it('signs with a command', async () => {
    const signer = [
      '--signer',
      `openssl dgst -sha256 -sign ${at('auditor.pem')}`,
      '--public-key',
      at('auditor.pub.pem'),
    ];
    const { code, stdout } = await call([
      'verify',
      ...evidence(),
      '--json',
      ...signer,
      '--issuer',
      'auditor',
    ]);
    expect(code).toBe(0);
    expect(openReport(Buffer.from(stdout)).signed?.issuer).toBe('auditor');
  });

  it.each<[string, () => string[]]>([
    ['no JSON report is asked for', () => signing()],
    ['there is no issuer', () => ['--json', '--sign', at('auditor.pem')]],
    ['there is an issuer and no key', () => ['--json', '--issuer', 'auditor']],
    ['a previous report is named and no key', () => ['--json', ...after('1')]],
    ['key and command are given', () => ['--json', ...signing(), '--signer', 'true']],
  ])('is a wrong call when %s', async (_when, args) => {
    const { code, stderr } = await call(['verify', ...evidence(), ...args()]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('usage.INVALID')]);
  });

  it('refuses a previous report that is not signed, before it verifies anything', async () => {
    const args = ['--json', ...signing(), '--previous', at('trust.json')];
    const { code, stdout } = await call(['verify', ...evidence(), ...args]);
    expect([code, (JSON.parse(stdout) as { code: string }).code]).toEqual([1, 'dsse.INVALID']);
  });
});

it.each<[string, () => string[], number, string]>([
  ['a gap', () => [...files('1', '3'), ...trust()], 1, 'report.PREVIOUS_MISSING'],
  ['the wrong order', () => [...files('2', '1'), ...trust()], 1, 'report.ORDER_MISMATCH'],
  ['keys for other purposes', () => [...files('1'), '--trust', at('trust.json')], 1, 'trust.KEY_UNKNOWN'],
  ['no trusted keys', () => files('1'), 3, 'trust.STORE_ABSENT'],
  [
    'a missing end',
    () => [...files('1'), ...trust(), '--expect-last', '0'.repeat(64)],
    1,
    'report.LAST_MISMATCH',
  ],
])(
  'report verify ends with its exit code and reports the code for %s',
  async (_what, args, code, finding) => {
    const ended = await call(['report', 'verify', ...args()]);
    expect(ended).toMatchObject({ code, stdout: expect.stringContaining(finding) as string });
  },
);

it('--format html writes a page about an export, a decision, a scrub, a chain and many reports', async () => {
  const trusting = [...trust(), '--trust', at('trust.json')];
  const show = ['report', ...files('1', '2', '3', '4'), '--format', `html=${at('all.html')}`, ...trusting];
  expect(await call(show)).toMatchObject({ code: 0, stdout: '' });
  const gate = await call(['gate', ...evidence(), '--format', 'html']);
  const chain = await call(['report', 'verify', ...files('1'), ...trust(), '--format', 'html']);
  const many = await call(['verify', ...evidence(), at('absent'), '--format', 'html']);
  const saved = await Promise.all(['1.html', '4.html', 'all.html'].map((name) => readFile(at(name), 'utf8')));
  for (const page of [...saved, gate.stdout, chain.stdout, many.stdout]) {
    expect(page).toMatch(/^<!doctype html>[^]*<\/html>\n$/);
    expect(page).not.toMatch(/<script|\son\w+=|\sstyle=/);
  }
  expect(saved[2]).toContain('data:image/svg+xml;base64,');
});

it('--format html ends with 3 for signed reports without trusted keys, whose chain could not be checked', async () => {
  const show = ['report', ...files('1', '2'), '--format', `html=${at('untrusted.html')}`];
  expect((await call(show)).code).toBe(3);
});

it('--format html replaces no page without --force, and shows no broken chain as good', async () => {
  const page = ['--format', `html=${at('1.html')}`];
  expect((await call(['report', ...files('1'), ...page])).code).toBe(2);
  const broken = ['report', ...files('1', '3'), '--format', `html=${at('broken.html')}`, ...trust()];
  expect((await call(broken)).code).toBe(1);
  expect((await stat(at('broken.html'))).size).toBeGreaterThan(0);
});
