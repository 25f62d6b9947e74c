import { execFileSync } from 'node:child_process';
import { chmod, cp, lstat, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createPublicKey } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { openTrustFile, rewriteTrustFile, requireStore } from '../../../src/cli/keys/trust-file.ts';
import { parseTrustStore } from '../../../src/trust/store.ts';
import {
  call,
  callJson,
  expectExit,
  expectPass,
  NOW_MS,
  readFailure,
  useEvidenceFolder,
  world,
} from '../make.ts';
import { writePolicy } from '../gate/make.ts';

useEvidenceFolder(async () => {
  await cp('trust.json', 'original.json');
  for (const name of ['a', 'b']) await call(`keys generate --out ${name}.pem`);
  for (const line of [
    'req -x509 -new -key a.pem -subj /CN=ci -days 30 -out cert.pem',
    'ecparam -name secp384r1 -genkey -noout -out p384.pem',
    'req -x509 -new -key p384.pem -subj /CN=ci -days 30 -out p384-cert.pem',
    'req -x509 -new -key b.pem -subj /CN=ci -days 30 -out other-cert.pem',
  ])
    execFileSync('openssl', line.split(' '), { stdio: 'ignore' });
  const keys = [await jwkOf('a.pub.pem', 'ci-1'), await jwkOf('b.pub.pem', 'ci-2')];
  await writeFile('jwks.json', JSON.stringify({ keys }));
});
beforeEach(async () => {
  await cp('original.json', 'trust.json');
  await rm('new.json', { force: true });
});

const errorOf = (line: string) => readFailure(call(line));
const readKey = async (path = 'trust.json') => (await callJson(`keys list ${path}`)).keys[0];
const readKeyId = async (path = 'trust.json') => (await readKey(path)).kid as string;
const readTexts = async (...paths: string[]) =>
  (await Promise.all(paths.map((path) => readFile(path, 'utf8')))).join('');
const manyKeys = async (count: number) =>
  `{"keys":[${`${JSON.stringify(await jwkOf('a.pub.pem', 'k'))},`.repeat(count)}{}]}`;
const jwkOf = async (path: string, kid: string) => ({
  ...createPublicKey(await readFile(path)).export({ format: 'jwk' }),
  kid,
});

describe('keys add', () => {
  it('a key without --purpose verifies an export with a signed list, as it does with --key', async () => {
    await expectPass('keys add key.pub.pem --issuer acme-ci --trust new.json');
    await expectPass('verify export --require-list --trust new.json');
    await expectPass('verify export --require-list --key key.pub.pem,issuer=acme-ci');
  });

  it('the finding about a wrong purpose has the command that adds the purpose', async () => {
    await expectPass('keys add key.pub.pem --issuer acme-ci --purpose evidence --trust new.json');
    const verify = 'verify export --require-list --trust new.json';
    const output = await expectExit(verify, 1, 'trust.PURPOSE_MISMATCH');
    const [, command = ''] = /\(drillproof (keys set [^)]+)\)/.exec(output.replaceAll(/\s+/g, ' ')) ?? [];
    const words = { KEY: await readKeyId(), OLD: 'evidence', NEW: 'export', FILE: 'new.json' };
    await expectPass(
      Object.entries(words).reduce((line, [word, value]) => line.replace(word, value), command),
    );
    await expectPass(verify);
  });

  it('keys add and keys import add all keys of a JWK Set under their key ids', async () => {
    const names = ['ci-1', 'ci-2'];
    const { added } = await callJson('keys import jwks.json --issuer ci --trust new.json');
    expect(added).toEqual(names.map((keyId) => ({ issuer: 'ci', keyId })));
    const { keys } = await callJson('keys list new.json');
    expect(keys).toMatchObject(names.map((kid) => ({ kid })));
  });

  it('keys add accepts one key id for two issuers, and --issuer selects one', async () => {
    for (const issuer of ['one', 'two'])
      await expectPass(`keys add jwks.json --issuer ${issuer} --trust new.json`);
    expect(await errorOf('keys revoke ci-1 --trust new.json')).toEqual([2, 'usage.INVALID']);
    await expectPass('keys revoke ci-1 --issuer two --trust new.json');
    const { keys } = await callJson('keys list new.json');
    expect(keys.map((key: { revokedAtMs?: number }) => key.revokedAtMs ?? 0)).toEqual([0, 0, NOW_MS, 0]);
  });

  it('keys add never replaces a key id, and --new-only skips only a key that is the same', async () => {
    await call('keys add a.pub.pem --key-id ci-1 --issuer ci --trust new.json');
    const before = await readFile('new.json');
    const add = 'keys add jwks.json --issuer ci --trust new.json';
    expect(await errorOf(add)).toEqual([2, 'trust.KEY_DUPLICATE']);
    expect(await readFile('new.json')).toEqual(before);
    const added = { added: [{ keyId: 'ci-2' }], alreadyTrusted: 1, keys: 2 };
    expect(await callJson(`${add} --new-only`)).toMatchObject(added);
    expect(await callJson(`${add} --new-only`)).toMatchObject({ added: [] });
    const other = 'keys add b.pub.pem --key-id ci-1 --issuer ci --trust new.json --new-only';
    expect(await errorOf(other)).toEqual([2, 'trust.KEY_DUPLICATE']);
  });

  it('keys add takes key and validity from a certificate, and warns about an expired one', async () => {
    await call('keys add cert.pem --issuer ci --trust new.json');
    const facts = { fromCertificate: true, notAfterMs: expect.any(Number) as number };
    expect(await readKey('new.json')).toMatchObject(facts);
    const line = 'keys add other-cert.pem --issuer ci --trust new.json';
    await expectExit(line, 0, 'expired at 20', { now: () => Date.UTC(2100, 0) });
  });

  it.each([
    ['two certificates', () => readTexts('cert.pem', 'other-cert.pem'), 'trust.KEY_INVALID'],
    ['a certificate of another curve', () => readTexts('p384-cert.pem'), 'trust.KEY_UNSUPPORTED'],
    ['a private key', () => readTexts('a.pem'), 'trust.KEY_PRIVATE'],
    ['a certificate and its private key', () => readTexts('cert.pem', 'a.pem'), 'trust.KEY_PRIVATE'],
    ['an empty set', () => '{"keys":[]}', 'trust.STORE_EMPTY'],
    ['a set and more', () => '{"keys":[]} {}', 'trust.KEY_INVALID'],
    ['100,000 keys', () => manyKeys(100_000), 'usage.INVALID'],
    ['a trust store', () => readTexts('original.json'), 'trust.KEY_INVALID'],
  ])('keys add refuses %s, and writes nothing', async (_, content, code) => {
    await writeFile('input', await content());
    expect((await errorOf('keys add input --issuer ci --trust new.json'))[1]).toBe(code);
    await expect(lstat('new.json')).rejects.toThrow('ENOENT');
  });

  it.each(['__proto__', '../../x', 'k'.repeat(256)])(
    'keys add takes the key id %s literally',
    async (keyId) => {
      await expectPass(`keys add a.pub.pem --key-id ${keyId} --issuer ci --trust new.json`);
      await expectPass(`keys set ${keyId} --not-after 2030-01-01 --trust new.json`);
      expect(await readKey('new.json')).toMatchObject({ kid: keyId, notAfterMs: Date.UTC(2030, 0) });
    },
  );

  it('--key accepts a whole set', async () => {
    await writeFile('set.json', JSON.stringify({ keys: [await jwkOf('key.pub.pem', await readKeyId())] }));
    await expectPass('verify export --key set.json,issuer=acme-ci');
  });
});

const ADD = 'keys add a.pub.pem --issuer ci --trust';
it.each([
  ['keys add jwks.json --issuer ci --trust new.json --key-id one', 'usage.INVALID'],
  [`${ADD} -`, 'usage.INVALID'],
  [`${ADD} new.json --key-id ${'k'.repeat(257)}`, 'trust.STORE_INVALID'],
  ['verify export --key jwks.json,issuer=acme-ci,keyId=x', 'usage.INVALID'],
  ['keys set sha256:0000000000000 --purpose export --trust trust.json', 'usage.INVALID'],
  ['keys set x --purpose export --trust absent.json', 'io.NOT_FOUND'],
])('the wrong call %s ends with 2 and %s', async (line, code) => {
  expect(await errorOf(line)).toEqual([2, code]);
});

describe('keys set', () => {
  it('keys set sets only the named members, and removes them again', async () => {
    const before = await readTexts('trust.json');
    const key = await readKeyId();
    const limits =
      '--not-before 2023-01-01 --not-after 1893456000001 --project prj_1 --organization org_1 --purpose evidence';
    const product = await callJson(`keys set ${key} ${limits} --trust trust.json`);
    const names = ['not before', 'not after', 'valid for', 'projects', 'organizations'];
    expect(product.changes).toMatchObject(names.map((name) => ({ name })));
    expect(await readKey()).toMatchObject({
      notBeforeMs: Date.UTC(2023, 0),
      notAfterMs: 1_893_456_000_001,
      projects: ['prj_1'],
      organizations: ['org_1'],
      purposes: ['evidence'],
    });
    const removal =
      '--not-before none --not-after none --any-project --any-organization --purpose evidence --purpose export';
    await call(`keys set ${key} ${removal} --trust trust.json`);
    expect(await readTexts('trust.json')).toBe(before);
  });

  it('keys set accepts the key id that keys list shows, and refuses a short or ambiguous one', async () => {
    const key = await readKeyId();
    const short = (await call('keys list trust.json')).stdout.match(/sha256:[0-9a-f]{64}/)![0].slice(0, 19);
    await expectPass(`keys set ${short} --purpose evidence --trust trust.json`);
    for (const name of ['a', 'b'])
      await expectPass(
        `keys add ${name}.pub.pem --key-id release-key-${name} --issuer ci --trust trust.json`,
      );
    for (const id of [key.slice(0, 11), 'release-key-'])
      await expectExit(`keys set ${id} --purpose export --trust trust.json`, 2, 'usage.INVALID');
  });

  it.each([
    ['nothing', '', 'usage.INVALID'],
    ['an end before the beginning', '--not-before 2025-01-02 --not-after 2025-01-01', 'trust.STORE_INVALID'],
    ['an invalid time', '--not-after soon', 'usage.INVALID'],
    ['an unknown purpose', '--purpose all', 'usage.INVALID'],
    ['a project and every project', '--project prj_1 --any-project', 'usage.INVALID'],
  ])('keys set refuses %s, and does not change the store', async (_, options, code) => {
    const before = await readFile('trust.json');
    expect(await errorOf(`keys set ${await readKeyId()} ${options} --trust trust.json`)).toEqual([2, code]);
    expect(await readFile('trust.json')).toEqual(before);
  });

  it('keys set does not rewrite the store without a change', async () => {
    const { ino } = await stat('trust.json');
    const { changes } = await callJson(`keys set ${await readKeyId()} --not-after none --trust trust.json`);
    expect(changes).toEqual([]);
    expect((await stat('trust.json')).ino).toBe(ino);
  });
});

describe('keys revoke', () => {
  it('keys revoke makes verify refuse every signature of the key', async () => {
    await expectPass('verify export --trust trust.json');
    await expectPass(`keys revoke ${await readKeyId()} --trust trust.json`);
    expect(await readKey()).toMatchObject({ revokedAtMs: NOW_MS, compromised: true });
    await expectExit('verify export --trust trust.json', 1, 'trust.KEY_REVOKED');
  });

  it.each([
    [1, 0],
    [0, 1],
  ])(
    'keys revoke --not-compromised %i ms after a signature makes verify end with %i',
    async (delta, code) => {
      const { statement } = (await callJson('inspect part-1.zip')).attestation;
      const at = `--at ${statement.issuedAtMs + delta} --not-compromised`;
      await expectPass(`keys revoke ${await readKeyId()} ${at} --trust trust.json`);
      await expectExit('verify part-1.zip --trust trust.json', code);
    },
  );

  it('keys revoke changes or removes a revocation only with --at', async () => {
    const key = await readKeyId();
    await expectPass(`keys revoke ${key} --trust trust.json --at 2024-01-01`);
    await expectExit(`keys revoke ${key} --not-compromised --trust trust.json`, 2, 'usage.INVALID');
    await expectPass(`keys revoke ${key} --at 2023-01-01 --not-compromised --trust trust.json`);
    expect(await readKey()).toMatchObject({ revokedAtMs: Date.UTC(2023, 0), compromised: false });
    await expectPass(`keys revoke ${key} --at 2023-01-01 --trust trust.json`);
    expect(await readKey()).toMatchObject({ revokedAtMs: Date.UTC(2023, 0), compromised: true });
    await expectPass(`keys revoke ${key} --at none --trust trust.json`);
    expect(await readKey()).not.toHaveProperty('revokedAtMs');
  });

  it('keys add warns about a key that is revoked under another issuer', async () => {
    await expectPass(`keys revoke ${await readKeyId()} --trust trust.json`);
    const line = 'keys add key.pub.pem --issuer other --trust trust.json';
    await expectExit(line, 0, 'of acme-ci, which is revoked');
  });

  it.each([
    ['', 'verifies nothing as other-name of ci'],
    [' --not-compromised', 'stays trusted as other-name of ci'],
  ])('keys revoke%s reports that the key %s', async (option, note) => {
    await call('keys add key.pub.pem --key-id other-name --issuer ci --trust trust.json');
    await expectExit(`keys revoke ${await readKeyId()}${option} --trust trust.json`, 0, note);
  });

  it('a key that is compromised under another name verifies nothing, in every command', async () => {
    const policy = await writePolicy('verdict: { bundles: verified }');
    for (const command of [
      'dsse create part-1.zip --key key.pem --issuer acme-ci --out part.dsse.json',
      'verify export --trust trust.json --sign key.pem --issuer acme-ci --format json=signed.json',
      'keys add key.pub.pem --issuer acme-ci --purpose report --purpose summary --trust reports.json',
      `gate export ${policy} --trust trust.json --vsa vsa.json --vsa-key key.pem --verifier-id urn:gate`,
      'keys add key.pub.pem --issuer urn:gate --purpose summary --trust gates.json',
      'keys add key.pub.pem --issuer elsewhere --trust stolen.json',
      `keys revoke ${await readKeyId()} --at 2030-01-01 --trust stolen.json`,
    ])
      await expectPass(command);
    for (const command of [
      'verify export --trust trust.json --trust STOLEN',
      'verify export --second-opinion --trust trust.json --trust STOLEN',
      `gate part-1.zip ${policy} --trust trust.json --trust STOLEN`,
      'dsse verify part.dsse.json --subject part-1.zip --trust trust.json --trust STOLEN',
      'vsa verify vsa.json --trust gates.json --trust STOLEN',
      'report verify signed.json --trust reports.json --trust STOLEN',
    ]) {
      await expectPass(command.replace(' --trust STOLEN', ''));
      await expectExit(command.replace('STOLEN', 'stolen.json'), 1, 'trust.KEY_REVOKED');
    }
  });

  it('keys add and keys list report a key that is compromised under another name', async () => {
    await call(`keys revoke ${await readKeyId()} --trust trust.json`);
    const words = 'nothing: the same key is compromised as sha256:';
    await expectExit('keys add key.pub.pem --issuer other --trust trust.json', 0, words);
    await expectExit('keys list trust.json', 0, words);
    const { keys } = await callJson('keys list trust.json');
    const compromisedAs = { issuer: 'acme-ci', kid: await readKeyId() };
    expect(keys.map((key: object) => ('compromisedAs' in key ? key.compromisedAs : undefined))).toEqual(
      keys.map(({ issuer }: { issuer: string }) => (issuer === 'other' ? compromisedAs : undefined)),
    );
  });
});

describe('a rewritten trust store', () => {
  it('keeps its mode', async () => {
    await chmod('trust.json', 0o600);
    await call(`keys set ${await readKeyId()} --not-after 2030-01-01 --trust trust.json`);
    expect((await stat('trust.json')).mode & 0o777).toBe(0o600);
    expect(await readKey()).toMatchObject({ notAfterMs: Date.UTC(2030, 0) });
  });

  it.each(['keys add key.pub.pem --issuer other', 'keys set ID --not-after 2030-01-01', 'keys revoke ID'])(
    'is not written through a symbolic link: %s',
    async (line) => {
      const before = await readFile('trust.json');
      await symlink('trust.json', 'link.json');
      await expectExit(`${line.replace('ID', await readKeyId())} --trust link.json`, 2, 'io.KIND');
      expect(await readFile('trust.json')).toEqual(before);
      expect((await lstat('link.json')).isSymbolicLink()).toBe(true);
      await rm('link.json');
    },
  );

  it('rewriteTrustFile does not replace a store that another program changed', async () => {
    const file = await openTrustFile(world(), 'trust.json');
    await call('keys add a.pub.pem --issuer ci --trust trust.json');
    const theirs = await readFile('trust.json');
    const work = rewriteTrustFile(file, requireStore(file).keys);
    await expect(work).rejects.toMatchObject({ code: 'io.CHANGED' });
    expect(await readFile('trust.json')).toEqual(theirs);
    expect((await readdir('.')).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('rewriteTrustFile does not replace a store that another program created', async () => {
    const file = await openTrustFile(world(), 'new.json');
    await cp('original.json', 'new.json');
    const { keys } = parseTrustStore(await readFile('original.json'));
    await expect(rewriteTrustFile(file, keys)).rejects.toMatchObject({ code: 'io.EXISTS' });
  });

  it('is read in the state before or after a replacement, never between', async () => {
    const wide = await callJson('keys list trust.json');
    const key = wide.keys[0].kid as string;
    const narrow = await callJson(`keys set ${key} --purpose evidence --trust trust.json`);
    const fingerprints = [wide.fingerprint, narrow.fingerprint];
    for (let round = 0; round < 10; round++) {
      const purpose = round % 2 ? 'evidence' : 'export';
      const change = call(`keys set ${key} --purpose ${purpose} --trust trust.json`);
      const reads = await Promise.all([1, 2, 3].map(() => callJson('keys list trust.json')));
      expect((await change).code).toBe(0);
      fingerprints.push((await callJson('keys list trust.json')).fingerprint);
      for (const { fingerprint } of reads) expect(fingerprints).toContain(fingerprint);
    }
  });

  it('has a fingerprint that Python computes as well', async () => {
    await call('keys add jwks.json --issuer another --trust trust.json --not-after 2030-01-01');
    const canonical = "json.dumps(json.load(open('trust.json')),sort_keys=True,separators=(',',':'))";
    const script = `import json,hashlib;print(hashlib.sha256(${canonical}.encode()).hexdigest())`;
    const digest = execFileSync('python3', ['-c', script]).toString().trim();
    expect((await callJson('keys list trust.json')).fingerprint).toBe(`sha256:${digest}`);
  });

  it('has the same bytes for every order in which its keys are added', async () => {
    const texts = [];
    for (const names of ['ab', 'ba']) {
      for (const name of names) await call(`keys add ${name}.pub.pem --issuer ${name} --trust new.json`);
      texts.push(await readTexts('new.json'));
      await rm('new.json');
    }
    expect(texts[0]).toBe(texts[1]);
  });
});

it('verify --as-of is exact to the millisecond, and appears in the report', async () => {
  const { issuedAtMs } = (await callJson('inspect part-1.zip')).attestation.statement;
  const line = 'verify part-1.zip --trust trust.json --as-of';
  const verified = { verdict: 'verified', asOfMs: issuedAtMs };
  const zoned = new Date(issuedAtMs).toISOString().replace('Z', '+00:00');
  for (const asOf of [issuedAtMs, zoned]) expect(await callJson(`${line} ${asOf}`)).toMatchObject(verified);
  expect(await callJson(`${line} ${issuedAtMs - 1}`)).toMatchObject({ verdict: 'failed' });
  expect(await callJson(`${line} 2100-01-01`)).toMatchObject({ asOfMs: Date.UTC(2100, 0) });
});
