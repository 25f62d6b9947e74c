import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, missedFaults, schemaOf } from '../../docs/schema-of.ts';
import { call, NOW_MS, useEvidenceFolder } from '../make.ts';

const PUBLISHED = readFileSync('docs/schemas/policy.v1.schema.json', 'utf8');
// Read now: the tests go into a folder of their own.
const SCHEMAS = {
  check: schemaOf('policy-check'),
  explain: schemaOf('policy-words'),
  test: schemaOf('policy-test'),
};

useEvidenceFolder();

const HEAD = 'schemaVersion: 1\nkind: policy\n';
const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const policy = (...args: readonly string[]) => call(['policy', ...args]);

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

it.each(['fresh.yaml', 'fresh.json'])(
  'policy init writes %s, which can be applied, and replaces nothing unasked',
  async (name) => {
    expect((await policy('init', name)).code).toBe(0);
    expect((await policy('check', name)).code).toBe(0);
    await writeFile(name, 'mine');
    expect((await policy('init', name)).code).toBe(2);
    expect(await readFile(name, 'utf8')).toBe('mine');
    expect((await policy('init', name, '--force')).code).toBe(0);
    expect(await readFile(name, 'utf8')).toContain('policy.v1.schema.json');
  },
);

it('policy init writes to standard output, in either form', async () => {
  expect((await policy('init', '-')).stdout).toMatch(/^# yaml-language-server: /);
  expect(JSON.parse((await policy('init', '-', '--json')).stdout)).toMatchObject({ kind: 'policy' });
});

it('policy init has the digest of the default policy in both forms, but for its name', async () => {
  await policy('init', 'a.yaml', '--force');
  await policy('init', 'a.json', '--force');
  const digests = await Promise.all(
    ['a.yaml', 'a.json'].map(async (name) => {
      const { stdout } = await policy('check', name, '--json');
      return (JSON.parse(stdout) as { digest: string }).digest;
    }),
  );
  expect(digests[0]).toBe(digests[1]);
});

describe('policy check', () => {
  it('names every fault with its pointer and line, and ends with 2', async () => {
    await writeFile('bad.yaml', `${HEAD}outcom: {}\nsigners: {distinct: 0}\n`);
    const { code, stderr } = await policy('check', 'bad.yaml');
    expect(code).toBe(2);
    expect(stderr).toContain('/outcom: unknown member "outcom". Did you mean outcome? (line 3)');
    expect(stderr).toContain('/signers/distinct');
    const json = JSON.parse((await policy('check', 'bad.yaml', '--json')).stdout) as {
      details: { issues: { path: string }[] };
    };
    expect(json.details.issues.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/outcom', '/signers/distinct']),
    );
  });

  it('policy check warns about rules that cannot hold or cannot fail, and ends with 0', async () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    await writeFile(
      'odd.yaml',
      `${HEAD}age: {}\nsigners: { distinct: 2, keys: ['${digest}'], timestamp: required }\n` +
        'run: { drills: [checkout, "pay-*"] }\ndrills: { required: [refund] }\n' +
        'completeness: { bundles: { min: 0 } }\nparameters: { unused: { type: text } }\n' +
        'enforcement: { age.max: { severity: warn }, verdict.bundles: { severity: warn } }\n' +
        'anyOf: [{ age: { max: 1d } }, { age: { run: 1d } }]\n' +
        'waivers: [{ code: policy.TOO_OLD, subject: any, reason: any, owner: any, expires: 2100-01-01 }]\n',
    );
    const { code, stdout } = await policy('check', 'odd.yaml', '--json');
    const { warnings } = JSON.parse(stdout) as { warnings: { path: string }[] };
    expect(code).toBe(0);
    expect(warnings.map(({ path }) => path)).toEqual([
      '/age',
      '/run/drills/1',
      '/signers/distinct',
      '/signers/timestamp',
      '/drills/required',
      '/completeness/bundles',
      '/enforcement/age.max',
      '/enforcement/verdict.bundles',
      '/waivers/0/code',
      '/parameters/unused',
    ]);
    const text = (await policy('check', 'odd.yaml')).stdout;
    expect(text).toContain('rule age.max only in anyOf, where this does not apply; name anyOf.sets');
    expect(text).toContain('waive policy.NO_ALTERNATIVE of the subject "all"');
    await policy('init', 'sound.yaml', '--force');
    expect(JSON.parse((await policy('check', 'sound.yaml', '--json')).stdout)).toMatchObject({
      warnings: [],
    });
  });

  it.each([
    ['anyOf: [{ waivers: [] }, { age: { run: 1d } }]', 'It does not apply inside a set'],
    ['age: 7d', 'must be an object (line 3) (/age)'],
    ['signers: { distinct: two }', 'must be a number (line 3) (/signers/distinct)'],
    ['signers: { distinct: 65 }', 'must be at most 64'],
    ['signers: { issuers: [] }', 'must have at least 1 item '],
    ['completeness: { vouched: [claimed] }', 'must be "pinned" or "attested"'],
    ['completeness: { window: { last: 7d } }', 'is required (line 3) (/completeness/window/lag)'],
    ['enforcement: { age.maxx: { severity: warn } }', 'Did you mean age.max?'],
    ['parameters: { p: { type: date } }', 'must be one of text, commit, digest, duration, number'],
    ['run: { targets: [{ param: p }] }', 'the policy declares no parameter "p"'],
  ])('policy check describes the mistake in "%s" in its own words', async (line, words) => {
    await writeFile('bad.yaml', `${HEAD}${line}\n`);
    const { code, stderr } = await policy('check', 'bad.yaml');
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(stderr).not.toMatch(/Invalid|expected|received|Too /);
  });

  it('policy check reports a newer version, and nothing about its members', async () => {
    await writeFile('newer.yaml', 'schemaVersion: 2\nkind: policy\nfuture: true\n');
    const { code, stderr } = await policy('check', 'newer.yaml');
    expect([code, stderr]).toEqual([2, expect.stringContaining('newer than this program reads')]);
    expect(stderr).not.toContain('future');
  });

  it('policy schema prints the published schema', async () => {
    const { code, stdout } = await policy('schema');
    expect([code, stdout]).toEqual([0, PUBLISHED]);
  });

  it('reads standard input', async () => {
    const ended = await call(['policy', 'check', '-'], { stdin: bytesOf(HEAD) });
    expect(ended.code).toBe(0);
  });

  it.each([
    ['a file that is not there', 'absent.yaml'],
    ['a folder', '.'],
    ['a part', 'part-1.zip'],
  ])('ends with 2 for %s', async (_, name) => {
    expect((await policy('check', name)).code).toBe(2);
  });
});

describe('policies that extend others', () => {
  const base = `${HEAD}outcome: {verdict: [passed]}\n`;

  it('extended policies are read relative to the file that names them, and are part of the digest', async () => {
    await mkdir('rules/base', { recursive: true });
    await writeFile('rules/base/base.yaml', base);
    const middle = `${HEAD}extends: [{path: base/base.yaml, digest: '${sha256(base)}'}]\n`;
    await writeFile('rules/middle.yaml', middle);
    await mkdir('top', { recursive: true });
    await writeFile(
      'top/top.yaml',
      `${HEAD}name: top\nextends: [{path: ../rules/middle.yaml, digest: '${sha256(middle)}'}]\n`,
    );
    const { stdout } = await policy('check', 'top/top.yaml', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'top',
      sources: [{ path: 'rules/base/base.yaml' }, { path: 'rules/middle.yaml' }, { path: 'top/top.yaml' }],
    });
    const gate = await call([
      'gate',
      'export',
      '--policy',
      'top/top.yaml',
      '--trust',
      'trust.json',
      '--jobs',
      '1',
    ]);
    expect(gate.stdout).toContain('policy.OUTCOME_VERDICT');
    await writeFile('rules/base/base.yaml', `${base}\n`);
    const changed = await policy('check', 'top/top.yaml');
    expect([changed.code, changed.stderr.split('\n')[0]]).toEqual([
      2,
      expect.stringContaining('policy.EXTENDS_MISMATCH'),
    ]);
  });
});

it('policy explain lists what is asked, waived and not asked', async () => {
  await writeFile(
    'words.yaml',
    `${HEAD}drills: {required: [checkout]}\nwaivers:\n  - {code: policy.TOO_OLD, subject: x, reason: because, owner: me, expires: 2023-01-01}\n`,
  );
  const { stdout, code } = await policy('explain', 'words.yaml');
  expect(code).toBe(0);
  expect(stdout).toContain('Each of these must be present and verified: checkout, at least once.');
  expect(stdout).toContain('which has passed');
  expect(stdout).toContain('no statement is older than allowed (age.max)');
  expect(stdout).not.toContain('no statement is older than allowed (drills.required)');
});

it('policy explain explains the default policy where none is named', async () => {
  const { stdout } = await policy('explain', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ name: 'default', policies: [{ name: 'default' }] });
});

const AT = new Date(NOW_MS).toISOString();
const cases = (text: string): Promise<void> =>
  writeFile('cases.yaml', `schemaVersion: 1\nkind: policy-cases\ncases:\n${text}`);
const tried = (...args: string[]) =>
  policy('test', 'rules.yaml', 'cases.yaml', '--trust', 'trust.json', ...args);

describe('policy test', () => {
  beforeAll(() => writeFile('rules.yaml', `${HEAD}outcome: {verdict: [passed]}\n`));

  it('policy test applies the policy to evidence, to stored reports and to no input', async () => {
    await rm('report.json', { force: true });
    await call(['verify', 'export', '--trust', 'trust.json', '--jobs', '1', '--format', 'json=report.json']);
    await cases(
      `  - {name: a good part, evidence: [part-1.zip], asOf: '${AT}', answer: yes}\n` +
        `  - {name: an export, evidence: [export], asOf: '${AT}', answer: no, codes: [policy.OUTCOME_VERDICT], rules: {verdict.export: passed}}\n` +
        `  - {name: a stored report, evidence: [report.json], answer: no}\n` +
        `  - {name: nothing, answer: could_not_tell}\n`,
    );
    const { code, stdout } = await tried();
    expect(stdout).toContain('4 of 4 cases hold');
    expect(code).toBe(0);
  });

  it('policy test takes envelopes and pins as the gate does', async () => {
    await writeFile('rules.yaml', `${HEAD}signers: {distinct: 2}\ncompleteness: {vouched: [pinned]}\n`);
    await call(['keys', 'generate', '--out', 'second.pem']);
    await call(['keys', 'add', 'second.pub.pem', '--issuer', 'second', '--trust', 'trust.json']);
    const sign = ['--key', 'second.pem', '--issuer', 'second', '--out', 'second.dsse.json'];
    expect((await call(['dsse', 'create', 'part-1.zip', ...sign])).stderr).toBe('');
    const { manifestDigest } = JSON.parse(
      (await call(['verify', 'part-1.zip', '--trust', 'trust.json', '--json'])).stdout,
    ) as { manifestDigest: string };
    const one = `evidence: [part-1.zip], asOf: '${AT}'`;
    await cases(
      `  - {name: both, ${one}, dsse: [second.dsse.json], expectManifest: '${manifestDigest}', answer: yes}\n` +
        `  - {name: one key, ${one}, expectManifest: '${manifestDigest}', answer: no, codes: [policy.TOO_FEW_KEYS]}\n` +
        `  - {name: no pin, ${one}, dsse: [second.dsse.json], answer: no, rules: {completeness.vouched: failed}}\n`,
    );
    expect((await tried()).stdout).toContain('3 of 3 cases hold');
    await writeFile('rules.yaml', `${HEAD}outcome: {verdict: [passed]}\n`);
  });

  it.each([
    ['another answer', 'answer: no', 'the answer is yes, not no'],
    ['another state', 'answer: yes, rules: {age.max: passed}', 'age.max is not in the policy, not passed'],
    ['other codes', 'answer: yes, codes: [policy.TOO_OLD]', 'the codes are none, not policy.TOO_OLD'],
  ])('ends with 1 for %s', async (_, expected, words) => {
    await cases(`  - {name: x, evidence: [part-1.zip], asOf: '${AT}', ${expected}}\n`);
    const { code, stdout } = await tried();
    expect(code).toBe(1);
    expect(stdout).toContain(words);
    expect(JSON.parse((await tried('--json')).stdout)).toMatchObject({ kind: 'policy-test', failed: 1 });
  });

  it.each([
    ['no cases', ' []\n'],
    ['an unknown member', '  - {name: x, answer: yes, anwser: no}\n'],
    ['an unknown rule', '  - {name: x, answer: yes, rules: {age.min: passed}}\n'],
    ['an unknown code', '  - {name: x, answer: yes, codes: [policy.OLD]}\n'],
    ['evidence that is not there', '  - {name: x, answer: yes, evidence: [absent]}\n'],
    ['a file that is no report', '  - {name: x, answer: yes, evidence: [trust.json]}\n'],
  ])('ends with 2 for %s', async (_, text) => {
    await cases(text);
    expect((await tried()).code).toBe(2);
  });
});

it.each(Object.entries(SCHEMAS))(
  'what the commands say with --json %s: follows its schema, and nothing damaged does',
  async (name, schema) => {
    const waiver = 'code: policy.TOO_OLD, subject: x, reason: because, owner: me, expires: 2023-01-01';
    await writeFile('rules.yaml', `${HEAD}age: {max: 1d}\nwaivers: [{${waiver}}]\n`);
    await cases('  - {name: nothing, answer: could_not_tell}\n  - {name: other, answer: yes}\n');
    const more = name === 'test' ? ['cases.yaml'] : [];
    const { stdout } = await policy(name, 'rules.yaml', ...more, '--json');
    const said: unknown = JSON.parse(stdout);
    expect(faultsOf(schema, said)).toEqual([]);
    expect(missedFaults(schema, [said])).toEqual([]);
  },
);
