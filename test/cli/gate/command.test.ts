import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/policy/index.ts';
import { call, drillproof, NOW_MS, recorder, world, type CliResult, useEvidenceFolder } from '../make.ts';
import { run } from '../../../src/cli/run.ts';

const dir = useEvidenceFolder(async () => {
  const signer = ['--key', 'key.pem', '--issuer', 'acme-ci'];
  await call(['export', 'part-1.zip', ...signer, '--out', 'good']);
  await call(['export', 'part-1.zip', '--out', 'claimed']);
  await call(['export', 'part-1.zip', ...signer, '--out', 'one.zip']);
  await writeFile('any.yaml', 'schemaVersion: 1\nkind: policy\nname: any\n');
});

const TRUST = ['--trust', 'trust.json', '--jobs', '1'];
const gate = (...args: readonly string[]): Promise<CliResult> => call(['gate', ...TRUST, ...args]);
const decisionIn = ({ stdout }: CliResult): Decision => JSON.parse(stdout) as Decision;
const codesIn = ({ rules }: Decision): readonly string[] =>
  [...new Set(rules.flatMap(({ violations }) => violations.map(({ code }) => code)))].toSorted();

/** The exit code, the answer and the codes of all violations. */
async function judged(...args: readonly string[]): Promise<readonly [number, string, readonly string[]]> {
  const ended = await gate(...args, '--json');
  const decision = decisionIn(ended);
  return [ended.code, decision.answer, codesIn(decision)];
}

async function policy(text: string, name = 'policy.yaml'): Promise<readonly string[]> {
  await writeFile(name, `schemaVersion: 1\nkind: policy\n${text}`);
  return ['--policy', name];
}

const PART = 'parts/evidence_000000000001.zip';

const iso = (ms: number): string => new Date(ms).toISOString();

const envelope = async (key: string, issuer: string, out: string): Promise<void> => {
  const ended = await call([
    'dsse',
    'create',
    'part-1.zip',
    '--key',
    key,
    '--issuer',
    issuer,
    '--force',
    '--out',
    out,
  ]);
  expect(ended.code).toBe(0);
};

describe('gate', () => {
  it.each([
    ['a folder', 'good'],
    ['one ZIP of it', 'one.zip'],
  ])('says yes to %s whose drill passed, under the default policy', async (_, path) => {
    expect(await judged(path)).toEqual([0, 'yes', []]);
  });

  it('answers no to authentic evidence of a drill that failed', async () => {
    expect(await judged('export')).toEqual([1, 'no', ['policy.OUTCOME_VERDICT']]);
  });

  it('answers no to a list that is only claimed, and yes when the caller pins it', async () => {
    expect(await judged('claimed')).toEqual([1, 'no', ['policy.COMPLETENESS_CLAIMED']]);
    const { inputs } = decisionIn(await gate('claimed', '--json'));
    expect(await judged('claimed', '--expect-manifest', inputs[0]!.manifestDigest!)).toEqual([0, 'yes', []]);
  });

  it('takes a part by itself for complete when its manifest is pinned', async () => {
    expect(await judged('part-1.zip')).toEqual([1, 'no', ['policy.COMPLETENESS_CLAIMED']]);
    const { inputs } = decisionIn(await gate('part-1.zip', '--json'));
    expect(await judged('part-1.zip', '--expect-manifest', inputs[0]!.manifestDigest!)).toEqual([
      0,
      'yes',
      [],
    ]);
  });

  it.each([
    ['--expect-export', 'evexp_999999999999'],
    ['--expect-organization', 'org_999999999999'],
    ['--expect-project', 'prj_999999999999'],
    ['--expect-bundles', '2'],
    ['--expect-manifest', `sha256:${'0'.repeat(64)}`],
  ])('says no where %s does not hold', async (option, value) => {
    const [code, answer, codes] = await judged('good', option, value);
    expect([code, answer]).toEqual([1, 'no']);
    expect(codes).toContain('policy.EXPORT_VERDICT');
  });

  it('gate refuses a past time, at which expired waivers and keys would count, unless it is allowed', async () => {
    const past = ['--as-of', iso(NOW_MS - 1)];
    const refused = await gate('good', ...past);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('usage.PAST_TIME');
    const { stdout } = await gate('good', ...past, '--allow-past', '--format', 'json=past.json');
    expect(stdout).toMatch(/past time +waivers and keys/);
    expect(JSON.parse(await readFile('past.json', 'utf8'))).toMatchObject({ pastTime: true });
    for (const now of [[], ['--as-of', iso(NOW_MS)]])
      expect(decisionIn(await gate('good', ...now, '--json'))).not.toHaveProperty('pastTime');
  });

  it('gate binds --param, and the digest of the policy is the same for every value', async () => {
    const rule = await policy('parameters: { t: { type: text } }\nrun: { targets: [{ param: t }] }\n');
    const target = (value: string) => gate('good', ...rule, '--param', `t=${value}`, '--json');
    const [right, wrong] = await Promise.all([target('package-1'), target('*')]);
    expect([right.code, wrong.code]).toEqual([0, 1]);
    expect(decisionIn(right).policy).toMatchObject({ parameters: { t: 'package-1' } });
    expect(decisionIn(right).policy.digest).toBe(decisionIn(wrong).policy.digest);
    for (const [code, ...args] of [
      ['policy.PARAMETER_MISSING'],
      ['policy.PARAMETER_UNKNOWN', '--param', 't=a', '--param', 'u=b'],
      ['usage.INVALID', '--param', 't=a', '--param', 't=b'],
    ] as const) {
      const { code: exit, stderr } = await gate('good', ...rule, ...args);
      expect([exit, stderr]).toEqual([2, expect.stringContaining(code)]);
    }
  });

  it('gate --report-only ends with 0 for a no, and with 2 for a wrong call', async () => {
    const { code, stdout, stderr } = await gate('export', '--report-only');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^NO: /)]);
    expect(stderr).toContain('report only');
    expect((await gate('export', '--report-only', '--policy', 'absent.yaml')).code).toBe(2);
  });

  it('gate allows a statement from the future only within the clock skew of every policy', async () => {
    const issued = NOW_MS - decisionIn(await gate('good', '--json')).asOfMs;
    expect(issued).toBe(0);
    const early = ['--as-of', iso(NOW_MS - 60_000), '--allow-past'];
    expect((await judged('good', ...(await policy('clockSkew: 1m\n')), ...early))[1]).toBe('yes');
    expect((await judged('good', ...(await policy('clockSkew: 59s\n')), ...early))[1]).toBe('no');
  });

  it('gate evaluates as of the time of --as-of', async () => {
    const rule = await policy('age: { max: 1d }\n');
    const issued = decisionIn(await gate('good', '--json')).asOfMs;
    expect((await judged('good', ...rule, '--as-of', iso(issued + 86_400_000)))[1]).toBe('yes');
    expect(await judged('good', ...rule, '--as-of', iso(issued + 86_400_001))).toEqual([
      1,
      'no',
      ['policy.TOO_OLD'],
    ]);
  });

  it('gate --second-opinion verifies with both implementations', async () => {
    expect(await judged('good', '--second-opinion')).toEqual([0, 'yes', []]);
  });

  it('gate counts the keys of an envelope and of the attestation, each once', async () => {
    await call(['keys', 'generate', '--out', 'second.pem']);
    await call(['keys', 'add', 'second.pub.pem', '--issuer', 'acme-qa', '--trust', 'two.json']);
    await call(['keys', 'add', 'key.pub.pem', '--issuer', 'acme-ci', '--trust', 'two.json']);
    await call(['keys', 'add', 'key.pub.pem', '--issuer', 'acme-qa', '--trust', 'two.json']);
    await envelope('second.pem', 'acme-qa', 'by-second.json');
    await envelope('key.pem', 'acme-qa', 'by-first-again.json');
    const two = await policy('signers: { distinct: 2 }\n', 'two.yaml');
    const with2 = ['part-1.zip', '--trust', 'two.json', '--jobs', '1', ...two, '--json'];
    const answers = async (...more: string[]) => decisionIn(await call(['gate', ...with2, ...more]));
    expect((await answers('--dsse', 'by-second.json')).answer).toBe('yes');
    expect(codesIn(await answers('--dsse', 'by-first-again.json'))).toEqual(['policy.TOO_FEW_KEYS']);
    expect(codesIn(await answers())).toEqual(['policy.TOO_FEW_KEYS']);
  });
});

describe('nothing to check is never success', () => {
  it.each([
    ['nothing that was named', []],
    ['a folder that is not there', ['absent']],
    ['an empty folder', ['empty']],
    ['a folder that is no export', ['foreign']],
    ['an empty file', ['empty.zip']],
    ['an empty list', ['--list', 'empty.list']],
    ['a name that no file system takes', ['u'.repeat(300)]],
    ['an export that lists no bundle', ['hollow']],
    ['a name beside evidence that is good', ['good', 'absent']],
  ])('%s', async (_, args) => {
    await mkdir('empty', { recursive: true });
    await mkdir('foreign', { recursive: true });
    await writeFile('foreign/README', 'hello\n');
    await writeFile('empty.zip', '');
    await writeFile('empty.list', '');
    await mkdir('hollow/parts', { recursive: true });
    const any = await judged(...args, '--policy', 'any.yaml');
    expect(any[0]).toBe(any[1] === 'no' ? 1 : 3);
    expect(any[1]).not.toBe('yes');
    const byDefault = await judged(...args);
    expect(byDefault[0]).toBeGreaterThan(0);
  });

  it('reports that nothing was named, and names a missing path once', async () => {
    expect((await gate()).stderr).toContain('no evidence was named');
    expect((await gate('absent')).stdout).toMatch(/^ {4}- absent: cannot read absent/m);
    expect((await gate('evexp_999999999999', '--json')).stdout).toContain('needs --url and --project');
  });

  it('without a trust store nothing is verified', async () => {
    const ended = await call(['gate', 'good', '--json', '--jobs', '1']);
    expect([ended.code, decisionIn(ended).answer]).toEqual([1, 'no']);
    expect(ended.stderr).toContain('--trust FILE');
    const { stdout } = await call(['gate', 'good', '--jobs', '1']);
    expect(stdout).toContain('to do: Pass a trust store with --trust FILE');
  });

  it('gate reports an internal error and ends with 3', async () => {
    const cli = world();
    const broken = recorder({ write: () => Promise.reject(new RangeError('boom')) });
    const exit = await run(['gate', 'good', ...TRUST, '--format', 'text'], { ...cli, stdout: broken });
    expect(exit).toBe(3);
    expect(cli.stderr.text()).toContain('internal.BUG');
  });

  it('an interrupted gate ends with 130', async () => {
    const signal = AbortSignal.abort();
    expect((await call(['gate', 'good', ...TRUST], { signal })).code).toBe(130);
  });
});

describe('valid, but not for this', () => {
  it('gate accepts an export given twice, and together with one of its parts', async () => {
    expect((await judged('good', 'one.zip'))[2]).toContain('policy.RUN_TWICE');
    expect((await judged('good', 'part-1.zip', '--policy', 'any.yaml'))[2]).toEqual(['policy.RUN_TWICE']);
  });
});

it('configuration is never taken from the evidence', async () => {
  await rm('poisoned', { recursive: true, force: true });
  await cp('export', 'poisoned', { recursive: true });
  const lax = 'schemaVersion: 1\nkind: policy\nverdict: {export: intact, bundles: intact}\n';
  for (const name of ['policy.yaml', 'policy.json', '.drillproof.yaml', 'drillproof.yaml'])
    await writeFile(`poisoned/${name}`, lax);
  await cp('trust.json', 'poisoned/trust.json');
  expect((await judged('poisoned'))[2]).toContain('policy.OUTCOME_VERDICT');
  const inside = [
    ['--policy', 'poisoned/policy.yaml'],
    ['--trust', 'poisoned/trust.json'],
  ];
  for (const option of inside) expect((await gate('poisoned', ...option)).code).toBe(2);
  const [part = ''] = await readdir('poisoned/parts');
  for (const option of inside) expect((await gate(`poisoned/parts/${part}`, ...option)).code).toBe(2);
  await symlink('poisoned', 'detour');
  expect((await gate('detour', '--policy', 'poisoned/policy.yaml')).code).toBe(2);
});

it.each([
  ['a policy that is not there', ['--policy', 'absent.yaml']],
  ['a policy with a misspelt rule', ['--policy', 'misspelt.yaml']],
  ['a policy that is no text', ['--policy', 'part-1.zip']],
  ['an empty policy', ['--policy', 'empty.list']],
  ['a trust store that is none', ['--trust', 'any.yaml']],
  ['a key that is none', ['--key', 'any.yaml,issuer=x']],
  ['depth digest', ['--depth', 'digest']],
  ['a format that there is not', ['--format', 'pdf']],
  ['two formats on one output', ['--format', 'text', '--format', 'json']],
  ['two formats in one file', ['--format', 'text=out', '--format', 'json=out']],
  ['a file that exists', ['--format', 'json=any.yaml']],
  ['a project without a control plane', ['--project', 'prj_000000000001']],
  ['an unknown option', ['--polcy', 'any.yaml']],
  ['an envelope for two', ['export', '--dsse', 'any.yaml']],
])('configuration %s ends with 2 before anything is judged', async (_, args) => {
  await writeFile('misspelt.yaml', 'schemaVersion: 1\nkind: policy\noutcomes: {verdict: [passed]}\n');
  await writeFile('empty.list', '');
  const { code, stdout } = await gate('good', ...args);
  expect(code).toBe(2);
  expect(stdout).not.toContain('answer');
});

describe('what a gate writes', () => {
  it('is text on standard output, and files that were asked for', async () => {
    await rm('decision.json', { force: true });
    const { stdout, code } = await gate('good', '--format', 'json=decision.json');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^YES: 13 of 13 rules hold for 1 input; 1 more had nothing to check\n/);
    expect(JSON.parse(await readFile('decision.json', 'utf8'))).toMatchObject({
      kind: 'decision',
      answer: 'yes',
    });
  });

  it('names each bundle, drill, outcome, signer, list signer and envelope it rests on, on a yes too', async () => {
    await envelope('key.pem', 'acme-ci', 'basis.dsse.json');
    const { inputs } = decisionIn(await gate('good', '--dsse', 'basis.dsse.json', '--json'));
    const key = { issuer: 'acme-ci', keyId: expect.stringMatching(/^sha256:/) as string };
    expect(inputs).toMatchObject([
      {
        signer: key,
        envelopes: [expect.stringMatching(/^sha256:/) as string],
        evidence: [
          {
            id: 'evidence_000000000001',
            path: PART,
            verdict: 'verified',
            outcome: { verdict: 'passed' },
            signers: [
              { ...key, in: 'attestation' },
              { ...key, in: 'dsse' },
            ],
          },
        ],
      },
    ]);
  });

  it('names the same with --verbose in text, and the answer alone with --quiet', async () => {
    await envelope('key.pem', 'acme-ci', 'basis.dsse.json');
    const args = ['good', '--dsse', 'basis.dsse.json'];
    const { stdout } = await gate(...args, '--verbose');
    expect(stdout).toMatch(/\nBasis\n {2}- good\n {4}list signed by: acme-ci, key sha256:/);
    expect(stdout).toMatch(/ {4}envelope: sha256:/);
    expect(stdout).toMatch(/ {4}- evidence_000000000001: verified, drill \S+ on \S+: passed \(completed\)\n/);
    expect(stdout).toMatch(/ {6}signed by: acme-ci, key .*, in an envelope\n/);
    expect((await gate(...args)).stdout).not.toContain('Basis');
    expect((await gate(...args, '--quiet')).stdout.trimEnd().split('\n')).toHaveLength(1);
  });

  it('appends to the summary of the step with github, unless --no-step-summary is given', async () => {
    const env = { GITHUB_STEP_SUMMARY: 'summary.md' };
    const args = ['gate', 'good', '--trust', 'trust.json', '--format', 'github'];
    await call([...args, '--no-step-summary'], { env });
    await expect(readFile('summary.md')).rejects.toMatchObject({ code: 'ENOENT' });
    await call(args, { env });
    expect(await readFile('summary.md', 'utf8')).toContain('drillproof gate: YES');
  });

  it('has the category of --sarif-category in SARIF', async () => {
    const { stdout } = await gate('good', '--format', 'sarif', '--sarif-category', 'nightly');
    expect(stdout).toContain('"id": "nightly/"');
  });

  it('begins with the answer and ends with the failures', async () => {
    const { stdout } = await gate('export');
    expect(stdout).toMatch(/^NO: 12 of 13 rules hold for 1 input, 1 failed; 1 more had nothing to check\n/);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('  outcome.verdict evidence_000000000002');
    expect(stdout).toContain('expected passed');
    expect(stdout).toContain('actual   failed');
    expect(stdout).toContain('to do: ');
  });

  it('is the same bytes for the same evidence, whatever the number of threads', async () => {
    const now = ['--as-of', '2026-11-21', '--json'];
    const [one, four] = await Promise.all(
      ['1', '4'].map((jobs) =>
        call(['gate', 'good', 'export', '--trust', 'trust.json', ...now, '--jobs', jobs]),
      ),
    );
    expect(one!.stdout).toBe(four!.stdout);
  });

  it('comes from the program as well', async () => {
    const { code, stdout, stderr } = await drillproof(['gate', 'export', '--trust', 'trust.json'], {
      cwd: dir.root,
    });
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^NO: /);
  });
});
