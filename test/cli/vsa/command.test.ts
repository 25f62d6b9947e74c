import { readFile, stat, writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { resourceOf } from '../../../src/policy/vsa/vsa.ts';
import { parseDsse } from '../../../src/trust/index.ts';
import { call, scratch, writeEvidence } from '../make.ts';

const VERIFIER = 'https://ci.example/gate';

const at = (name: string): string => dir.path(name);

type Statement = { predicate: { verificationResult: string; policy: { digest: { sha256: string } } } };
const statementIn = async (name: string): Promise<Statement> =>
  JSON.parse(new TextDecoder().decode(parseDsse(await readFile(at(name))).payload)) as Statement;

const POLICY = { schemaVersion: 1, kind: 'policy', name: 'release' };
const signing = (): string[] => ['--vsa-key', at('gate.pem'), '--verifier-id', VERIFIER];
const gate = (policy: string, ...args: string[]) =>
  call(['gate', at('export'), '--policy', at(policy), '--trust', at('trust.json'), ...args]);
const verify = (...args: string[]) =>
  call(['vsa', 'verify', at('vsa.json'), '--trust', at('gates.json'), ...args]);

const dir = await scratch();
await writeEvidence(dir.root);
await writeFile(at('yes.json'), JSON.stringify(POLICY));
await writeFile(at('no.json'), JSON.stringify({ ...POLICY, drills: { required: ['never-drilled'] } }));
await call(['keys', 'generate', '--out', at('gate.pem')]);
const addGate = ['keys', 'add', at('gate.pub.pem'), '--issuer', VERIFIER, '--purpose', 'summary'];
expect((await call([...addGate, '--trust', at('gates.json')])).code).toBe(0);
expect(await gate('yes.json', '--vsa', at('vsa.json'), ...signing())).toMatchObject({ code: 0 });
const policyDigest = `sha256:${(await statementIn('vsa.json')).predicate.policy.digest.sha256}`;
const manifest = digestOf(await readFile(at('export/manifest.json')));
afterAll(() => dir[Symbol.asyncDispose]());

describe('gate --vsa', () => {
  it('signs a pass as PASSED and a no as FAILED', async () => {
    expect((await statementIn('vsa.json')).predicate.verificationResult).toBe('PASSED');
    expect(await gate('no.json', '--vsa', at('no.vsa.json'), ...signing())).toMatchObject({ code: 1 });
    expect((await statementIn('no.vsa.json')).predicate.verificationResult).toBe('FAILED');
    expect(await call(['vsa', 'verify', at('no.vsa.json'), '--trust', at('gates.json')])).toMatchObject({
      code: 1,
    });
  });

  it('writes none where it could not tell', async () => {
    const args = ['--trust', at('trust.json'), '--vsa', at('unsure.json'), ...signing()];
    const { code, stderr } = await call(['gate', at('absent'), ...args]);
    expect(code).toBe(3);
    expect(stderr).toContain('no summary was written');
    await expect(stat(at('unsure.json'))).rejects.toThrow('ENOENT');
  });

  it('writes none about a no where an input has no manifest, and the answer stays no', async () => {
    const args = [
      '--trust',
      at('trust.json'),
      '--policy',
      at('no.json'),
      '--vsa',
      at('part.json'),
      ...signing(),
    ];
    const { code, stderr } = await call(['gate', at('export'), at('vsa.json'), ...args]);
    expect(code).toBe(1);
    expect(stderr).toContain('no summary was written');
    await expect(stat(at('part.json'))).rejects.toThrow('ENOENT');
  });

  it('signs by a command too', async () => {
    const command = [
      '--vsa-signer',
      `openssl dgst -sha256 -sign '${at('gate.pem')}'`,
      '--vsa-public-key',
      at('gate.pub.pem'),
    ];
    const args = ['--vsa', at('command.json'), ...command, '--verifier-id', VERIFIER];
    expect(await gate('yes.json', ...args)).toMatchObject({ code: 0 });
    expect(await call(['vsa', 'verify', at('command.json'), '--trust', at('gates.json')])).toMatchObject({
      code: 0,
    });
  });

  it.each([
    ['--vsa without a key', ['--vsa', 'x', '--verifier-id', VERIFIER]],
    ['--vsa without a verifier', ['--vsa', 'x', '--vsa-key', 'k']],
    ['a key without --vsa', ['--vsa-key', 'k']],
    ['a verifier without --vsa', ['--verifier-id', VERIFIER]],
    ['a verifier that is no URI', ['--vsa', 'x', '--vsa-key', 'k', '--verifier-id', 'gate']],
    ['a time to come', ['--vsa', 'x', '--vsa-key', '@', '--verifier-id', VERIFIER, '--as-of', '2999-01-01']],
  ])('is a wrong call with %s', async (_, args) => {
    const real = args.map((arg) => (arg === '@' ? at('gate.pem') : arg));
    expect(await gate('yes.json', ...real)).toMatchObject({ code: 2 });
  });

  it('an existing summary is replaced only with --force', async () => {
    expect(await gate('yes.json', '--vsa', at('vsa.json'), ...signing())).toMatchObject({ code: 2 });
    const before = await readFile(at('vsa.json'));
    expect(await gate('yes.json', '--vsa', at('vsa.json'), ...signing(), '--force')).toMatchObject({
      code: 0,
    });
    expect(await readFile(at('vsa.json'))).not.toEqual(before);
  });
});

describe('drillproof vsa verify', () => {
  it('passes with the name of the trusted verifier, with everything pinned', async () => {
    const { code, stdout } = await verify(
      '--expect-verifier',
      VERIFIER,
      '--expect-policy',
      policyDigest,
      '--expect-input',
      manifest,
      '--max-age',
      '1h',
      '--json',
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'summary',
      verdict: 'valid',
      summary: { inputs: [manifest] },
    });
  });

  it('shows it to people, the failures last', async () => {
    const { stdout } = await verify('--expect-verifier', 'https://other.example');
    expect(stdout).toMatch(/^INVALID verification summary: PASSED on 1 input\n/);
    expect(stdout.trimEnd().split('\n').at(-1)).toContain('vsa.VERIFIER_MISMATCH');
  });

  it.each([
    ['another policy', ['--expect-policy', `sha256:${'00'.repeat(32)}`]],
    ['another input', ['--expect-input', `sha256:${'00'.repeat(32)}`]],
    ['another resource', ['--expect-resource', 'pkg:oci/other']],
    ['two keys', ['--threshold', '2']],
    ['a time before it was made', ['--as-of', '2020-01-01']],
    ['a greater age', ['--as-of', '2999-01-01', '--max-age', '1d']],
  ])('ends with 1 for %s', async (_, args) => {
    expect(await verify(...args)).toMatchObject({ code: 1 });
  });

  it('vsa verify ends with 1 if the key is trusted for evidence only', async () => {
    const add = ['keys', 'add', at('gate.pub.pem'), '--issuer', VERIFIER, '--trust', at('wrong.json')];
    expect((await call(add)).code).toBe(0);
    expect(await call(['vsa', 'verify', at('vsa.json'), '--trust', at('wrong.json')])).toMatchObject({
      code: 1,
    });
  });

  it('is a wrong call without a trust store, and with a missing file', async () => {
    expect(await call(['vsa', 'verify', at('vsa.json')])).toMatchObject({ code: 2 });
    expect(await call(['vsa', 'verify', at('absent'), '--trust', at('gates.json')])).toMatchObject({
      code: 2,
    });
  });
});

const accepting = async (over: object = {}): Promise<string> => {
  const accepted = [
    {
      verifier: VERIFIER,
      policies: [policyDigest],
      inputs: [manifest],
      resource: resourceOf([manifest]),
      threshold: 1,
      maxAge: '1h',
      ...over,
    },
  ];
  await writeFile(at('accepting.json'), JSON.stringify({ ...POLICY, name: 'deploy', summary: { accepted } }));
  return at('accepting.json');
};
const judged = async (over: object = {}, ...more: string[]) =>
  (
    await call([
      'gate',
      at('vsa.json'),
      '--policy',
      await accepting(over),
      '--trust',
      at('gates.json'),
      ...more,
    ])
  ).code;
const under = (file: string, policy: string) =>
  call(['gate', at(file), '--policy', at(policy), '--trust', at('gates.json')]);

describe('a gate that is given a summary', () => {
  it('answers yes where the policy pins all of it, and no where a pin differs', async () => {
    expect(await judged()).toBe(0);
    expect(await judged({ verifier: 'https://other.example' })).toBe(1);
    expect(await judged({ policies: [`sha256:${'00'.repeat(32)}`] })).toBe(1);
    expect(await judged({ inputs: [`sha256:${'00'.repeat(32)}`] })).toBe(1);
    expect(await judged({}, '--as-of', '2999-01-01')).toBe(1);
    expect(await judged({ resource: 'https://other.example' })).toBe(1);
    expect(await judged({ threshold: 2 })).toBe(1);
    expect(await judged({}, '--as-of', '2020-01-01', '--allow-past')).toBe(1);
  });

  it('gate answers no to a summary that the policy does not mention, and to a file that is not a summary', async () => {
    expect((await under('vsa.json', 'yes.json')).code).toBe(1);
    expect((await under('gates.json', 'accepting.json')).code).not.toBe(0);
    expect((await under('no.vsa.json', 'accepting.json')).code).toBe(1);
  });

  it('gate refuses options about evidence for a summary', async () => {
    for (const args of [
      ['--expect-manifest', manifest],
      ['--expect-bundles', '2'],
      ['--dsse', at('vsa.json')],
    ])
      expect(await judged({}, ...args)).toBe(2);
  });

  it('signs no summary of a summary', async () => {
    const args = ['--vsa', at('again.json'), ...signing()];
    expect(await judged({}, ...args)).toBe(2);
    await expect(stat(at('again.json'))).rejects.toThrow('ENOENT');
  });
});
