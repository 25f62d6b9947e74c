import { readFile, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { resourceOf } from '../../../src/policy/vsa/vsa.ts';
import { parseDsse } from '../../../src/trust/dsse.ts';
import { call, expectExit, expectPass, useEvidenceFolder } from '../make.ts';

const VERIFIER = 'https://ci.example/gate';
const ZEROS = `sha256:${'00'.repeat(32)}`;
const POLICY = { schemaVersion: 1, kind: 'policy', name: 'release' };
const SIGNING = `--vsa-key gate.pem --verifier-id ${VERIFIER}`;
const gate = (policy: string) => `gate export --policy ${policy} --trust trust.json`;
const VERIFY = 'vsa verify vsa.json --trust gates.json';

type Statement = { predicate: { verificationResult: string; policy: { digest: { sha256: string } } } };
const readPredicate = async (name: string): Promise<Statement['predicate']> =>
  (JSON.parse(Buffer.from(parseDsse(await readFile(name)).payload).toString()) as Statement).predicate;

let policyDigest = '';
let manifest: ReturnType<typeof digestOf>;
useEvidenceFolder(async () => {
  await writeFile('yes.json', JSON.stringify(POLICY));
  await writeFile('no.json', JSON.stringify({ ...POLICY, drills: { required: ['never-drilled'] } }));
  await expectPass('keys generate --out gate.pem');
  const add = `keys add gate.pub.pem --issuer ${VERIFIER} --trust`;
  await expectPass(`${add} gates.json --purpose summary`);
  await expectPass(`${add} wrong.json`);
  await expectPass(`${gate('yes.json')} --vsa vsa.json ${SIGNING}`);
  policyDigest = `sha256:${(await readPredicate('vsa.json')).policy.digest.sha256}`;
  manifest = digestOf(await readFile('export/manifest.json'));
});

describe('gate --vsa', () => {
  it('gate --vsa signs a yes as PASSED and a no as FAILED', async () => {
    expect((await readPredicate('vsa.json')).verificationResult).toBe('PASSED');
    await expectExit(`${gate('no.json')} --vsa no.vsa.json ${SIGNING}`, 1);
    expect((await readPredicate('no.vsa.json')).verificationResult).toBe('FAILED');
    await expectExit('vsa verify no.vsa.json --trust gates.json', 1);
  });

  it.each([
    ['for the answer could_not_tell', 'absent', 3],
    ['for a no about an input without a manifest', 'export vsa.json --policy no.json', 1],
  ])('gate --vsa writes no summary %s, which keeps its exit code', async (_, words, exit) => {
    const line = `gate ${words} --trust trust.json --vsa none.json ${SIGNING}`;
    await expectExit(line, exit, 'no summary was written');
    await expect(stat('none.json')).rejects.toThrow('ENOENT');
  });

  it('gate --vsa signs with a command', async () => {
    const options = `--vsa command.json --vsa-public-key gate.pub.pem --verifier-id ${VERIFIER} --vsa-signer`;
    const words = `${gate('yes.json')} ${options}`.split(' ');
    await expectPass([...words, 'openssl dgst -sha256 -sign gate.pem']);
    await expectPass('vsa verify command.json --trust gates.json');
  });

  it.each([
    ['--vsa without a key', `--vsa x --verifier-id ${VERIFIER}`],
    ['--vsa without a verifier', '--vsa x --vsa-key k'],
    ['a key without --vsa', '--vsa-key k'],
    ['a verifier without --vsa', `--verifier-id ${VERIFIER}`],
    ['a verifier that is not a URI', '--vsa x --vsa-key k --verifier-id gate'],
    ['a future time', `--vsa x ${SIGNING} --as-of 2999-01-01`],
  ])('gate rejects %s', async (_, options) => {
    await expectExit(`${gate('yes.json')} ${options}`, 2);
  });
});

describe('drillproof vsa verify', () => {
  it('vsa verify passes with everything pinned', async () => {
    const pins = `--expect-policy ${policyDigest} --expect-input ${manifest} --max-age 1h`;
    const line = `${VERIFY} --expect-verifier ${VERIFIER} ${pins}`;
    const report = { kind: 'summary', verdict: 'valid', summary: { inputs: [manifest] } };
    expect(JSON.parse(await expectPass(`${line} --json`))).toMatchObject(report);
  });

  it('vsa verify prints the result first and the failures last', async () => {
    const { stdout } = await call(`${VERIFY} --expect-verifier https://other.example`);
    expect(stdout).toMatch(/^INVALID verification summary: PASSED on 1 input\n/);
    expect(stdout.trimEnd().split('\n').at(-1)).toContain('vsa.VERIFIER_MISMATCH');
  });

  it.each([
    ['another policy', `${VERIFY} --expect-policy ${ZEROS}`, 1],
    ['another input', `${VERIFY} --expect-input ${ZEROS}`, 1],
    ['another resource', `${VERIFY} --expect-resource pkg:oci/other`, 1],
    ['two keys', `${VERIFY} --threshold 2`, 1],
    ['a time before the signature', `${VERIFY} --as-of 2020-01-01`, 1],
    ['a greater age', `${VERIFY} --as-of 2999-01-01 --max-age 1d`, 1],
    ['a key that is trusted for evidence only', 'vsa verify vsa.json --trust wrong.json', 1],
    ['no trust store', 'vsa verify vsa.json', 2],
    ['a missing file', 'vsa verify absent --trust gates.json', 2],
  ])('%s: %s ends with %i', async (_, line, code) => {
    await expectExit(line, code);
  });
});

const STATED = ['--param n=1 --param age=5000d', '--param n=2 --param age=7d'] as const;
const signWith = async (params: string): Promise<string> => {
  const parameters = { n: { type: 'number' }, age: { type: 'duration' } };
  const rules = { age: { run: { param: 'age' } }, signers: { distinctIssuers: { param: 'n' } } };
  await writeFile('params.json', JSON.stringify({ ...POLICY, parameters, ...rules }));
  await call(`${gate('params.json')} ${params} --vsa params.vsa.json ${SIGNING} --force`);
  const { digest } = (await readPredicate('params.vsa.json')).policy;
  return `vsa verify params.vsa.json --trust gates.json --expect-policy ${digest.sha256}`;
};

describe('a summary under a policy with parameters', () => {
  it('vsa verify names the parameters that the caller does not expect, with their values', async () => {
    const output = await expectExit(await signWith(STATED[0]), 0, 'vsa.PARAMETERS_OPEN');
    expect(output).toContain('age=5000d, n=1');
  });

  it('vsa verify refuses other values than the expected ones, and asks nothing more if all are expected', async () => {
    const verify = await signWith(STATED[0]);
    const [weak, strict] = STATED.map((text) => text.replaceAll('--param', '--expect-param'));
    await expectExit(`${verify} ${strict}`, 1, 'vsa.PARAMETER_MISMATCH');
    await expectExit(`${verify} --expect-param other=1`, 1, 'vsa.PARAMETER_MISMATCH');
    expect(await expectExit(`${verify} ${weak}`, 0)).not.toContain('vsa.PARAMETERS_OPEN');
  });
});

/** The exit code of a gate whose policy accepts a summary with these pins. */
async function gateSummary(pins: object = {}, options = ''): Promise<number> {
  const defaults = { verifier: VERIFIER, policies: [policyDigest], inputs: [manifest] };
  const limits = { resource: resourceOf([manifest]), threshold: 1, maxAge: '1h' };
  const summary = { accepted: [{ ...defaults, ...limits, ...pins }] };
  await writeFile('accepting.json', JSON.stringify({ ...POLICY, name: 'deploy', summary }));
  return (await call(`gate vsa.json --policy accepting.json --trust gates.json ${options}`)).code;
}

describe('a gate for a summary', () => {
  it.each<[object, string, number]>([
    [{}, '', 0],
    [{ verifier: 'https://other.example' }, '', 1],
    [{ policies: [ZEROS] }, '', 1],
    [{ inputs: [ZEROS] }, '', 1],
    [{ resource: 'https://other.example' }, '', 1],
    [{ threshold: 2 }, '', 1],
    [{}, '--as-of 2999-01-01', 1],
    [{}, '--as-of 2020-01-01 --allow-past', 1],
  ])('gate with the pins %j of a summary and the options "%s" ends with %i', async (pins, options, code) => {
    expect(await gateSummary(pins, options)).toBe(code);
  });

  it('gate answers no to a summary that the policy does not mention, and to a file that is not a summary', async () => {
    await gateSummary();
    for (const words of ['vsa.json --policy yes.json', 'no.vsa.json --policy accepting.json'])
      await expectExit(`gate ${words} --trust gates.json`, 1);
    const { code } = await call('gate gates.json --policy accepting.json --trust gates.json');
    expect(code).toBe(1);
  });

  it.each([`--expect-manifest ${ZEROS}`, '--expect-bundles 2', '--dsse vsa.json'])(
    'gate refuses %s, an option about evidence, for a summary',
    async (options) => {
      expect(await gateSummary({}, options)).toBe(2);
    },
  );

  it('gate --vsa signs no summary of a summary', async () => {
    expect(await gateSummary({}, `--vsa again.json ${SIGNING}`)).toBe(2);
    await expect(stat('again.json')).rejects.toThrow('ENOENT');
  });
});
