import { readFile, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { parseDsse } from '../../../src/trust/dsse.ts';
import { call, expectExit, expectPass, SIGNER, useEvidenceFolder } from '../make.ts';
import { listViolations, readDecision, writePolicy } from './make.ts';

const VERIFIER = 'https://ci.example/gate';
const SUMMARY = `--vsa-key gate.pem --verifier-id ${VERIFIER} --resource-uri urn:app`;
let build = '';
let drill = '';

useEvidenceFolder(async () => {
  await expectPass(`export part-1.zip ${SIGNER} --out good`);
  await writePolicy('name: any\n', 'any.yaml');
  await expectPass('keys generate --out gate.pem');
  await expectPass('keys generate --out second.pem');
  for (const key of ['gate', 'second'])
    await expectPass(`keys add ${key}.pub.pem --issuer ${VERIFIER} --purpose summary --trust gates.json`);
  const { inputs } = readDecision(await gate('good --policy any.yaml --json'));
  const { reproduction } = inputs[0]!.evidence![0]!;
  build = reproduction!.buildHash;
  drill = reproduction!.drillId;
  await writePolicy(`drills: { required: [${drill}] }\n`, 'required.yaml');
});

const gate = (words: string) => call(`gate --trust trust.json --jobs 1 ${words}`);
const summarize = async (words: string) => {
  const result = await gate(`${words} --json`);
  return [result.code, listViolations(readDecision(result))];
};

describe('gate --artifact', () => {
  it.each(['any.yaml', 'required.yaml'])(
    'binds the runs that %s requires to the artifact',
    async (policy) => {
      const other = policy === 'any.yaml' ? 'policy.ARTIFACT_NOT_DRILLED' : 'policy.DRILL_OTHER_BUILD';
      expect(await summarize(`good --policy ${policy} --artifact ${build}`)).toEqual([0, []]);
      await writeFile('shop.bin', 'what will be deployed');
      expect(await summarize(`good --policy ${policy} --artifact shop.bin`)).toEqual([1, [other]]);
    },
  );

  it('is the first subject of the summary, which a verifier and another gate can demand', async () => {
    await expectPass(
      `gate good --policy any.yaml --trust trust.json --artifact ${build} --vsa vsa.json ${SUMMARY} --force`,
    );
    const statement: unknown = JSON.parse(
      Buffer.from(parseDsse(await readFile('vsa.json')).payload).toString(),
    );
    // The members of a Statement v1 and a ResourceDescriptor v1; the predicate has those of SLSA only.
    expect(statement).toMatchObject({
      subject: [{ name: 'artifact', digest: { sha256: build.slice(7) } }, expect.anything()],
    });
    expect(Object.keys(statement as object).toSorted()).toEqual([
      '_type',
      'predicate',
      'predicateType',
      'subject',
    ]);
    expect(Object.keys((statement as { predicate: object }).predicate).toSorted()).toEqual([
      'inputAttestations',
      'policy',
      'resourceUri',
      'slsaVersion',
      'timeVerified',
      'verificationResult',
      'verifiedLevels',
      'verifier',
    ]);
    await expectPass(`vsa verify vsa.json --trust gates.json --expect-artifact ${build}`);
    await expectExit(`vsa verify vsa.json --trust gates.json --expect-artifact sha256:${'0'.repeat(64)}`, 1);
    const { policy } = readDecision(await gate('good --policy any.yaml --json'));
    await writePolicy(
      `summary: { accepted: [{ verifier: '${VERIFIER}', policies: ['${policy.digest}'], artifact: '${build}', maxAge: 1d, resource: 'urn:app' }] }\n`,
      'deploy.yaml',
    );
    const deploy = 'gate vsa.json --policy deploy.yaml --trust gates.json';
    await expectPass(`${deploy} --artifact ${build}`);
    await expectExit(`${deploy} --artifact sha256:${'1'.repeat(64)}`, 1);
  });
});

describe('gate --baseline', () => {
  it('accepts the same runs again, by a decision and by a summary', async () => {
    const files = `--format json=last.json --vsa last.vsa.json ${SUMMARY} --force`;
    await expectPass(`gate good --policy any.yaml --trust trust.json ${files}`);
    expect(await summarize('good --policy any.yaml --baseline last.json')).toEqual([0, []]);
    const both = '--trust trust.json --trust gates.json';
    await expectPass(`gate good --policy any.yaml ${both} --baseline last.vsa.json`);
    await expectExit('gate good --policy any.yaml --trust trust.json --baseline last.vsa.json', 2);
  });

  it('refuses evidence in which a drill is missing, worse and rarer, and a file that is no baseline', async () => {
    await gate('good --policy any.yaml --format json=last.json --force');
    const last = JSON.parse(await readFile('last.json', 'utf8'));
    const [row] = last.runs;
    await writeFile(
      'better.json',
      JSON.stringify({
        ...last,
        runs: [
          { ...row, runs: 2, passed: 2 },
          { ...row, drill: 'gone' },
        ],
      }),
    );
    expect(await summarize('good --policy any.yaml --baseline better.json')).toEqual([
      1,
      ['policy.BASELINE_DRILL_MISSING', 'policy.BASELINE_FEWER_RUNS'],
    ]);
    await writeFile('empty.json', JSON.stringify({ ...last, runs: [] }));
    expect((await gate('good --policy any.yaml --baseline empty.json')).code).toBe(3);
    expect((await gate('good --policy any.yaml --baseline trust.json')).code).toBe(2);
  });
});

it('gate --strict fails on a set of rules that is about no run', async () => {
  const policy = await writePolicy(`allOf: [{ when: { target: nowhere }, age: { run: 1d } }]\n`, 'sets.yaml');
  expect(await summarize(`good ${policy}`)).toEqual([0, ['policy.SET_NOT_APPLIED']]);
  expect(await summarize(`good ${policy} --strict`)).toEqual([1, ['policy.SET_NOT_APPLIED']]);
  expect((await gate(`good ${policy} -v`)).stdout).toContain('applied to 0 subjects');
});

it('gate requires receipts of a mirror, and an export that is not a mirror has none', async () => {
  const policy = await writePolicy('receipts: { chain: sound }\n', 'receipts.yaml');
  expect(await summarize(`good ${policy}`)).toEqual([1, ['policy.RECEIPTS_UNSOUND']]);
});

it('gate refuses a report inside the evidence, before it is written', async () => {
  expect((await gate('good --policy any.yaml --format json=good/decision.json')).code).toBe(2);
  await expect(stat('good/decision.json')).rejects.toThrow('ENOENT');
});

it('gate with a wrong option and --force removes the report of an earlier run, but no input', async () => {
  await gate('good --policy any.yaml --format json=stale.json --force');
  const trust = await readFile('trust.json', 'utf8');
  const words = 'good --policy any.yaml --force --bogus --format json=stale.json --format junit=trust.json';
  expect((await gate(words)).code).toBe(2);
  await expect(stat('stale.json')).rejects.toThrow('ENOENT');
  expect(await readFile('trust.json', 'utf8')).toBe(trust);
});

it('gate --report-only shows warnings in CI systems, and no error', async () => {
  const { code, stdout } = await gate('export --format github --report-only');
  expect([code, stdout.includes('::error')]).toEqual([0, false]);
  expect(stdout).toContain('::warning');
});

it('vsa sign --add adds the signature of another key to the same bytes', async () => {
  await expectPass(`gate good --policy any.yaml --trust trust.json --vsa two.json ${SUMMARY} --force`);
  const before = parseDsse(await readFile('two.json'));
  await expectExit('vsa verify two.json --trust gates.json --threshold 2', 1);
  await expectPass(`vsa sign two.json --add --key second.pem --issuer ${VERIFIER}`);
  expect(digestOf(parseDsse(await readFile('two.json')).payload)).toBe(digestOf(before.payload));
  await expectPass('vsa verify two.json --trust gates.json --threshold 2');
  await expectExit(`vsa sign two.json --add --key second.pem --issuer ${VERIFIER}`, 2);
  await expectExit('vsa sign two.json --add --key second.pem --issuer urn:other', 2);
});

const readPolicyDiff = async (words: string) => {
  const { code, stdout } = await call(`policy diff ${words} --json`);
  const { changes, decisions } = JSON.parse(stdout);
  return [code, changes.map(({ name, change }: Record<string, string>) => `${name} ${change}`), decisions];
};

it('policy diff says what became stricter or weaker, and which past decisions would change', async () => {
  await writePolicy('age: { run: 7d }\noutcome: { verdict: [passed, failed] }\n', 'a.yaml');
  await writePolicy('age: { run: 1d }\noutcome: { verdict: [passed, failed, inconclusive] }\n', 'b.yaml');
  await writePolicy('outcome: { verdict: [inconclusive] }\nsigners: { distinct: 2 }\n', 'c.yaml');
  await gate('good --policy a.yaml --format json=a.json --force');
  await expectPass('policy diff a.yaml a.yaml');
  expect(await readPolicyDiff('a.yaml b.yaml')).toEqual([
    1,
    ['age.run stricter', 'outcome.verdict weaker'],
    [],
  ]);
  expect(await readPolicyDiff('a.yaml c.yaml --decision a.json')).toMatchObject([
    1,
    ['age.run weaker', 'outcome.verdict different', 'signers.distinct stricter'],
    [{ answer: 'yes', before: 'yes', after: 'no' }],
  ]);
  await expectExit('diff a.json a.json', 0);
  await gate('good --policy c.yaml --format json=c.json --force');
  await expectExit('diff a.json c.json', 1);
});

it('policy check --strict ends with 1 for a warning, which has its file, line and rule', async () => {
  await writePolicy(
    'outcome: { verdict: [pased] }\ndrills:\n  required: [{ drill: refund, seeds: 2, latest: true }]\n',
    'odd.yaml',
  );
  const { code, stdout } = await call('policy check odd.yaml --strict');
  expect(code).toBe(1);
  expect(stdout).toMatch(/odd\.yaml:3 outcome\.verdict: "pased" is not a known value\. Did you mean passed/);
  expect(stdout).toMatch(/odd\.yaml:\d drills\.required: cannot hold: seeds: 2/);
  await expectPass('policy check odd.yaml');
});
