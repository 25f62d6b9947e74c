import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { writeFiles } from '../../support/folder.ts';
import { call, expectPass, expectResult, NOW_MS, recorder, SIGNER } from '../make.ts';
import { useEvidenceFolder, world, type CliResult } from '../make.ts';
import { listViolations, readDecision, writeEnvelope, writePolicy } from './make.ts';

useEvidenceFolder(async () => {
  await expectPass(`export part-1.zip ${SIGNER} --out good`);
  await expectPass('export part-1.zip --out claimed');
  await expectPass(`export part-1.zip ${SIGNER} --out one.zip`);
  await writePolicy('name: any\n', 'any.yaml');
});

const TRUST = '--trust trust.json --jobs 1';
const gate = (words: string): Promise<CliResult> => call(`gate ${TRUST} ${words}`);
const decide = async (words: string) => readDecision(await gate(`${words} --json`));

/** The exit code, the answer and the codes of all violations. */
async function summarize(words: string): Promise<readonly [number, string, readonly string[]]> {
  const result = await gate(`${words} --json`);
  const decision = readDecision(result);
  return [result.code, decision.answer, listViolations(decision)];
}

const formatIso = (ms: number): string => new Date(ms).toISOString();

describe('gate', () => {
  it.each<[string, string, [number, string, string[]]]>([
    ['a folder whose drill passed', 'good', [0, 'yes', []]],
    ['one ZIP of it', 'one.zip', [0, 'yes', []]],
    ['authentic evidence of a drill that failed', 'export', [1, 'no', ['policy.OUTCOME_VERDICT']]],
  ])('gate answers about %s under the default policy: %s', async (_, path, expected) => {
    expect(await summarize(path)).toEqual(expected);
  });

  it.each(['claimed', 'part-1.zip'])(
    'gate answers no to %s, whose list is only claimed, and yes when its manifest is pinned',
    async (path) => {
      expect(await summarize(path)).toEqual([1, 'no', ['policy.COMPLETENESS_CLAIMED']]);
      const { inputs } = await decide(path);
      const pinned = `${path} --expect-manifest ${inputs[0]!.manifestDigest!}`;
      expect(await summarize(pinned)).toEqual([0, 'yes', []]);
      expect((await gate(path)).stdout.replaceAll(/\s+/g, ' ')).toContain(
        'a single part has no list to attest',
      );
    },
  );

  it.each([
    '--expect-export evexp_999999999999',
    '--expect-organization org_999999999999',
    '--expect-project prj_999999999999',
    '--expect-bundles 2',
    `--expect-manifest sha256:${'0'.repeat(64)}`,
  ])('gate answers no to evidence that does not meet %s', async (pin) => {
    const [code, answer, codes] = await summarize(`good ${pin}`);
    expect([code, answer]).toEqual([1, 'no']);
    expect(codes).toContain('policy.EXPORT_VERDICT');
  });

  it('gate refuses a past time, at which expired waivers and keys would count, unless it is allowed', async () => {
    const past = `good --as-of ${formatIso(NOW_MS - 1)}`;
    const stderr = expect.stringContaining('usage.PAST_TIME') as string;
    expect(await gate(past)).toMatchObject({ code: 2, stdout: '', stderr });
    const { stdout } = await gate(`${past} --allow-past --format json=past.json`);
    expect(stdout).toMatch(/past time +waivers and keys/);
    expect(JSON.parse(await readFile('past.json', 'utf8'))).toMatchObject({ pastTime: true });
    for (const now of ['', `--as-of ${formatIso(NOW_MS)}`])
      expect(await decide(`good ${now}`)).not.toHaveProperty('pastTime');
  });

  it('gate binds --param, and the digest of the policy is the same for every value', async () => {
    const option = await writePolicy('parameters: { t: { type: text } }\nrun: { targets: [{ param: t }] }\n');
    const decideFor = (value: string) => decide(`good ${option} --param t=${value}`);
    const [right, wrong] = [await decideFor('package-1'), await decideFor('*')];
    expect([right.answer, wrong.answer]).toEqual(['yes', 'no']);
    expect(right.policy).toMatchObject({ parameters: { t: 'package-1' } });
    expect(right.policy.digest).toBe(wrong.policy.digest);
    for (const [params, code] of [
      ['', 'policy.PARAMETER_MISSING'],
      ['--param t=a --param u=b', 'policy.PARAMETER_UNKNOWN'],
      ['--param t=a --param t=b', 'usage.INVALID'],
    ])
      await expectResult(gate(`good ${option} ${params}`), 2, code);
  });

  it('gate --report-only ends with 0 for a no, and with 2 for a wrong call', async () => {
    const { code, stdout, stderr } = await gate('export --report-only');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^NO: /)]);
    expect(stderr).toContain('report only');
    expect((await gate('export --report-only --policy absent.yaml')).code).toBe(2);
  });

  it.each<[string, number, string[]]>([
    ['clockSkew: 1m', -60_000, []],
    ['clockSkew: 59s', -60_000, ['policy.BUNDLE_VERDICT', 'policy.EXPORT_VERDICT']],
    ['age: { max: 1d }', 86_400_000, []],
    ['age: { max: 1d }', 86_400_001, ['policy.TOO_OLD']],
  ])('gate under "%s" as of %i ms after the signature reports %j', async (rule, ms, codes) => {
    const time = `--as-of ${formatIso(NOW_MS + ms)} --allow-past`;
    expect((await summarize(`good ${await writePolicy(`${rule}\n`)} ${time}`))[2]).toEqual(codes);
  });

  it('gate counts the keys of an envelope and of the attestation, each once', async () => {
    await expectPass('keys generate --out second.pem');
    await expectPass('keys add second.pub.pem --issuer acme-qa --trust two.json');
    await expectPass('keys add key.pub.pem --issuer acme-ci --trust two.json');
    await expectPass('keys add key.pub.pem --issuer acme-qa --trust two.json');
    const option = await writePolicy('signers: { distinct: 2 }\n', 'two.yaml');
    const line = `gate part-1.zip --trust two.json ${option} --json`;
    const violations = async (envelope: string) =>
      listViolations(readDecision(await call(`${line} ${envelope}`)));
    expect(await violations(await writeEnvelope('part-1', 'second', 'acme-qa'))).toEqual([]);
    const again = await writeEnvelope('part-1', 'key', 'acme-qa');
    for (const envelope of [again, '']) expect(await violations(envelope)).toEqual(['policy.TOO_FEW_KEYS']);
  });
});

describe('nothing to check is never success', () => {
  it.each([
    ['no path', ''],
    ['a folder that does not exist', 'absent'],
    ['an empty folder', 'empty'],
    ['a folder that is not an export', 'foreign'],
    ['an empty file', 'empty.zip'],
    ['an empty list', '--list empty.list'],
    ['a name that no file system accepts', 'u'.repeat(300)],
    ['an export that lists no bundle', 'hollow'],
    ['a missing path next to good evidence', 'good absent'],
  ])('gate does not answer yes to %s', async (_, words) => {
    await mkdir('empty', { recursive: true });
    await writeFiles('.', { 'foreign/README': 'hello\n', 'empty.zip': '', 'empty.list': '' });
    await mkdir('hollow/parts', { recursive: true });
    const [code, answer] = await summarize(`${words} --policy any.yaml`);
    expect(code).toBe(answer === 'no' ? 1 : 3);
    expect(answer).not.toBe('yes');
    expect((await summarize(words))[0]).toBeGreaterThan(0);
  });

  it('gate reports that no evidence was named, and names a missing path once', async () => {
    expect((await gate('')).stderr).toContain('no evidence was named');
    expect((await gate('absent')).stdout).toMatch(/^ {4}- absent: cannot read absent/m);
    expect((await gate('evexp_999999999999 --json')).stdout).toContain('needs --url and --project');
  });

  it('gate answers no without a trust store, and names --trust', async () => {
    const { code, stdout, stderr } = await call('gate good --jobs 1');
    expect([code, stderr]).toEqual([1, expect.stringContaining('--trust FILE')]);
    expect(stdout).toMatch(/^NO: [^]*to do: Give the keys that you trust \(--trust FILE/);
  });

  it('gate reports an internal error and ends with 3', async () => {
    const cli = world();
    const stdout = recorder({ write: () => Promise.reject(new RangeError('boom')) });
    const args = `gate good ${TRUST} --format text`.split(' ');
    expect(await run(args, { ...cli, stdout })).toBe(3);
    expect(cli.stderr.text()).toContain('internal.BUG');
  });

  it('an interrupted gate ends with 130', async () => {
    expect((await call(`gate good ${TRUST}`, { signal: AbortSignal.abort() })).code).toBe(130);
  });
});

it('gate reports an export given twice, and one given together with one of its parts', async () => {
  expect((await summarize('good one.zip'))[2]).toContain('policy.RUN_TWICE');
  expect((await summarize('good part-1.zip --policy any.yaml'))[2]).toEqual(['policy.RUN_TWICE']);
});

it('gate reads no configuration from the evidence, and refuses options that name files in it', async () => {
  await rm('poisoned', { recursive: true, force: true });
  await cp('export', 'poisoned', { recursive: true });
  const lax = 'schemaVersion: 1\nkind: policy\nverdict: {export: intact, bundles: intact}\n';
  for (const name of ['policy.yaml', 'policy.json', '.drillproof.yaml', 'drillproof.yaml'])
    await writeFile(`poisoned/${name}`, lax);
  await cp('trust.json', 'poisoned/trust.json');
  expect((await summarize('poisoned'))[2]).toContain('policy.OUTCOME_VERDICT');
  const [part = ''] = await readdir('poisoned/parts');
  for (const path of ['poisoned', `poisoned/parts/${part}`])
    for (const option of ['--policy poisoned/policy.yaml', '--trust poisoned/trust.json'])
      expect((await gate(`${path} ${option}`)).code).toBe(2);
  await symlink('poisoned', 'detour');
  expect((await gate('detour --policy poisoned/policy.yaml')).code).toBe(2);
});

it.each([
  ['a policy that does not exist', '--policy absent.yaml'],
  ['a policy with a misspelt rule', '--policy misspelt.yaml'],
  ['a policy that is not text', '--policy part-1.zip'],
  ['an empty policy', '--policy empty.list'],
  ['an invalid trust store', '--trust any.yaml'],
  ['an invalid key', '--key any.yaml,issuer=x'],
  ['depth digest', '--depth digest'],
  ['an unknown format', '--format pdf'],
  ['two formats on one output', '--format text --format json'],
  ['two formats in one file', '--format text=out --format json=out'],

  ['a project without a control plane', '--project prj_000000000001'],
  ['an unknown option', '--polcy any.yaml'],
  ['an envelope for two paths', 'export --dsse any.yaml'],
])('gate with %s ends with 2 before it verifies anything', async (_, words) => {
  await writePolicy('outcomes: {verdict: [passed]}\n', 'misspelt.yaml');
  await writeFile('empty.list', '');
  const { code, stdout } = await gate(`good ${words}`);
  expect([code, stdout]).toEqual([2, expect.not.stringContaining('answer')]);
});

describe('the output of gate', () => {
  it('is text on standard output, and the files that --format names', async () => {
    const stdout = await expectPass(`gate good ${TRUST} --format json=decision.json`);
    expect(stdout).toMatch(/^YES: 13 of 13 rules hold for 1 input; 1 more had nothing to check\n/);
    const decision = { kind: 'decision', answer: 'yes' };
    expect(JSON.parse(await readFile('decision.json', 'utf8'))).toMatchObject(decision);
  });

  it('names each bundle, drill, outcome, signer, list signer and envelope, also for a yes', async () => {
    const { inputs } = await decide(`good ${await writeEnvelope('part-1', 'key', 'acme-ci')}`);
    const digest = expect.stringMatching(/^sha256:/) as string;
    const key = { issuer: 'acme-ci', keyId: digest };
    const bundle = {
      id: 'evidence_000000000001',
      path: 'parts/evidence_000000000001.zip',
      verdict: 'verified',
      outcome: { verdict: 'passed' },
      signers: [
        { ...key, in: 'attestation' },
        { ...key, in: 'dsse' },
      ],
    };
    expect(inputs).toMatchObject([{ signer: key, envelopes: [digest], evidence: [bundle] }]);
  });

  it('names the same with --verbose in text, and the answer alone with --quiet', async () => {
    const words = `good ${await writeEnvelope('part-1', 'key', 'acme-ci')}`;
    const { stdout } = await gate(`${words} --verbose`);
    expect(stdout).toMatch(/\nBasis\n {2}- good\n {4}list signed by: acme-ci, key sha256:/);
    expect(stdout).toMatch(/ {4}envelope: sha256:/);
    expect(stdout).toMatch(/ {4}- evidence_000000000001: verified, drill \S+ on \S+: passed \(completed\)\n/);
    expect(stdout).toMatch(/ {6}signed by: acme-ci, key .*, in an envelope\n/);
    expect((await gate(words)).stdout).not.toContain('Basis');
    expect((await gate(`${words} --quiet`)).stdout.trimEnd().split('\n')).toHaveLength(1);
  });

  it('appends to the summary of the step with github, unless --no-step-summary is given', async () => {
    const env = { GITHUB_STEP_SUMMARY: 'summary.md' };
    const line = 'gate good --trust trust.json --format github';
    await call(`${line} --no-step-summary`, { env });
    await expect(readFile('summary.md')).rejects.toMatchObject({ code: 'ENOENT' });
    await call(line, { env });
    expect(await readFile('summary.md', 'utf8')).toContain('drillproof gate: YES');
  });

  it.each(['github', 'sarif'] as const)(
    'names files inside the working directory by relative paths in %s, however they were given',
    async (format) => {
      const inside = process.cwd();
      const show = async (words: string) => (await gate(`${words} --format ${format}`)).stdout;
      const part = `${inside}/export/parts/evidence_000000000002.zip`;
      const policy = `--policy ${inside}/any.yaml`;
      // SARIF has the options as they were given, too.
      for (const words of [`${inside}/export`, part, ...(format === 'sarif' ? [] : [policy])]) {
        const shown = await show(words);
        expect(shown, words).toBe(await show(words.replace(`${inside}/`, '')));
        expect(shown, words).not.toContain(inside);
      }
      const absent = { github: 'file=absent,', sarif: '"uri": "absent"' }[format];
      expect(await show(`${inside}/absent`)).toContain(absent);
      expect(await show(`${inside}-other/export`)).toContain(`${inside}-other/export`);
      expect(await show(`${inside}/../absent`)).toContain('/absent');
    },
  );

  it('names files as they were given in text and JSON', async () => {
    const path = `${process.cwd()}/export`;
    expect((await decide(path)).inputs).toMatchObject([{ name: path }]);
    expect((await gate(path)).stdout.replaceAll(/\s+/g, '')).toContain(path);
  });

  it('has the category of --sarif-category in SARIF', async () => {
    const { stdout } = await gate('good --format sarif --sarif-category nightly');
    expect(stdout).toContain('"id": "nightly/"');
  });

  it('begins with the answer and ends with the failures and the answer', async () => {
    const { stdout } = await gate('export');
    const answer =
      'NO: 12 of 13 rules hold for 1 input, 1 failed (outcome.verdict); 1 more had nothing to check';
    expect(stdout.split('\n')[0]).toBe(answer);
    expect(stdout.endsWith(`  outcome.verdict evidence_000000000002\n\n${answer}\n`)).toBe(true);
    for (const text of ['expected passed', 'actual   failed', 'to do: ']) expect(stdout).toContain(text);
  });

  it('has the same bytes for any number of threads', async () => {
    const line = 'gate good export --trust trust.json --as-of 2026-11-21 --json --jobs';
    const [one, four] = await Promise.all([call(`${line} 1`), call(`${line} 4`)]);
    expect(one.stdout).toBe(four.stdout);
  });
});
