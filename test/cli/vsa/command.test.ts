import { readFile, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { resourceOf } from '../../../src/policy/vsa/vsa.ts';
import { parseDsse } from '../../../src/trust/index.ts';
import { call, callJson, expectPass, useEvidenceFolder } from '../make.ts';

const VERIFIER = 'https://ci.example/gate';
const ZEROS = `sha256:${'00'.repeat(32)}`;
const POLICY = { schemaVersion: 1, kind: 'policy', name: 'release' };
const SIGNING = `--vsa-key gate.pem --verifier-id ${VERIFIER}`;
const gate = (policy: string, options = '') =>
  call(`gate export --policy ${policy} --trust trust.json ${options}`);
const verify = (options: string, file = 'vsa.json') =>
  call(`vsa verify ${file} --trust gates.json ${options}`);

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
  expect(await gate('yes.json', `--vsa vsa.json ${SIGNING}`)).toMatchObject({ code: 0 });
  policyDigest = `sha256:${(await readPredicate('vsa.json')).policy.digest.sha256}`;
  manifest = digestOf(await readFile('export/manifest.json'));
});

describe('gate --vsa', () => {
  it('gate --vsa signs a yes as PASSED and a no as FAILED', async () => {
    expect((await readPredicate('vsa.json')).verificationResult).toBe('PASSED');
    expect(await gate('no.json', `--vsa no.vsa.json ${SIGNING}`)).toMatchObject({ code: 1 });
    expect((await readPredicate('no.vsa.json')).verificationResult).toBe('FAILED');
    expect(await verify('', 'no.vsa.json')).toMatchObject({ code: 1 });
  });

  it.each([
    ['for the answer could_not_tell', 'absent', 3],
    ['for a no about an input without a manifest', 'export vsa.json --policy no.json', 1],
  ])('gate --vsa writes no summary %s, which keeps its exit code', async (_, words, exit) => {
    const { code, stderr } = await call(`gate ${words} --trust trust.json --vsa none.json ${SIGNING}`);
    expect([code, stderr]).toEqual([exit, expect.stringContaining('no summary was written')]);
    await expect(stat('none.json')).rejects.toThrow('ENOENT');
  });

  it('gate --vsa signs with a command', async () => {
    const line = `gate export --policy yes.json --trust trust.json --vsa command.json`;
    const options = `--vsa-public-key gate.pub.pem --verifier-id ${VERIFIER} --vsa-signer`;
    await expectPass([...`${line} ${options}`.split(' '), 'openssl dgst -sha256 -sign gate.pem']);
    expect(await verify('', 'command.json')).toMatchObject({ code: 0 });
  });

  it.each([
    ['--vsa without a key', `--vsa x --verifier-id ${VERIFIER}`],
    ['--vsa without a verifier', '--vsa x --vsa-key k'],
    ['a key without --vsa', '--vsa-key k'],
    ['a verifier without --vsa', `--verifier-id ${VERIFIER}`],
    ['a verifier that is not a URI', '--vsa x --vsa-key k --verifier-id gate'],
    ['a future time', `--vsa x ${SIGNING} --as-of 2999-01-01`],
  ])('gate rejects %s', async (_, options) => {
    expect(await gate('yes.json', options)).toMatchObject({ code: 2 });
  });

  it('gate --vsa replaces an existing summary only with --force', async () => {
    const options = `--vsa vsa.json ${SIGNING}`;
    expect(await gate('yes.json', options)).toMatchObject({ code: 2 });
    const before = await readFile('vsa.json');
    expect(await gate('yes.json', `${options} --force`)).toMatchObject({ code: 0 });
    expect(await readFile('vsa.json')).not.toEqual(before);
  });
});

describe('drillproof vsa verify', () => {
  it('vsa verify passes with everything pinned', async () => {
    const pins = `--expect-policy ${policyDigest} --expect-input ${manifest} --max-age 1h`;
    const line = `vsa verify vsa.json --trust gates.json --expect-verifier ${VERIFIER} ${pins}`;
    const report = { kind: 'summary', verdict: 'valid', summary: { inputs: [manifest] } };
    expect(await callJson(line)).toMatchObject(report);
    expect(await call(line)).toMatchObject({ code: 0 });
  });

  it('vsa verify prints the result first and the failures last', async () => {
    const { stdout } = await verify('--expect-verifier https://other.example');
    expect(stdout).toMatch(/^INVALID verification summary: PASSED on 1 input\n/);
    expect(stdout.trimEnd().split('\n').at(-1)).toContain('vsa.VERIFIER_MISMATCH');
  });

  it.each([
    ['another policy', `--expect-policy ${ZEROS}`],
    ['another input', `--expect-input ${ZEROS}`],
    ['another resource', '--expect-resource pkg:oci/other'],
    ['two keys', '--threshold 2'],
    ['a time before the signature', '--as-of 2020-01-01'],
    ['a greater age', '--as-of 2999-01-01 --max-age 1d'],
  ])('vsa verify ends with 1 for %s', async (_, options) => {
    expect(await verify(options)).toMatchObject({ code: 1 });
  });

  it.each([
    ['a key that is trusted for evidence only', 'vsa.json --trust wrong.json', 1],
    ['no trust store', 'vsa.json', 2],
    ['a missing file', 'absent --trust gates.json', 2],
  ])('vsa verify with %s: %s ends with %i', async (_, words, code) => {
    expect(await call(`vsa verify ${words}`)).toMatchObject({ code });
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
      expect(await call(`gate ${words} --trust gates.json`)).toMatchObject({ code: 1 });
    const { code } = await call('gate gates.json --policy accepting.json --trust gates.json');
    expect(code).not.toBe(0);
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
