import { execFileSync } from 'node:child_process';
import { chmod, cp, lstat, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openTrustFile, rewriteTrustFile, storeOf } from '../../../src/cli/keys/trust-file.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { parseTrustStore } from '../../../src/trust/index.ts';
import { call as callWith, NOW_MS, scratch, world, writeEvidence } from '../make.ts';

const home = process.cwd();
const openssl = (line: string) =>
  execFileSync('openssl', line.split(' '), { stdio: ['ignore', 'pipe', 'ignore'] });
const dir = await scratch();
process.chdir(dir.root);
await writeEvidence(dir.root);
await cp('trust.json', 'original.json');
for (const name of ['a', 'b']) await callWith(['keys', 'generate', '--out', `${name}.pem`]);
openssl('req -x509 -new -key a.pem -subj /CN=ci -days 30 -out cert.pem');
openssl('ecparam -name secp384r1 -genkey -noout -out p384.pem');
openssl('req -x509 -new -key p384.pem -subj /CN=ci -days 30 -out p384-cert.pem');
openssl('req -x509 -new -key b.pem -subj /CN=ci -days 30 -out other-cert.pem');
const jwks = { keys: [await jwkOf('a.pub.pem', 'ci-1'), await jwkOf('b.pub.pem', 'ci-2')] };
await writeFile('jwks.json', JSON.stringify(jwks));
afterAll(async () => {
  process.chdir(home);
  await dir[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await cp('original.json', 'trust.json');
  await rm('new.json', { force: true });
});

const call = (line: string) => callWith(line.split(' '));
const json = async (line: string) => JSON.parse((await call(`${line} --json`)).stdout);
const errorOf = async (line: string) => {
  const { code, stdout, stderr } = await call(line);
  return [code, stdout === '' ? /^drillproof: ([^:]+):/.exec(stderr)?.[1] : stdout];
};
const keyOf = async (path = 'trust.json') => (await json(`keys list ${path}`)).keys[0];
const idOf = async (path = 'trust.json') => (await keyOf(path)).kid as string;

async function jwkOf(path: string, kid: string): Promise<unknown> {
  const { createPublicKey } = await import('node:crypto');
  return { ...createPublicKey(await readFile(path)).export({ format: 'jwk' }), kid };
}

describe('keys add', () => {
  it('takes all keys of a JWK Set by their names, also as keys import', async () => {
    const { added } = await json('keys import jwks.json --issuer ci --trust new.json');
    expect(added).toEqual([
      { issuer: 'ci', keyId: 'ci-1' },
      { issuer: 'ci', keyId: 'ci-2' },
    ]);
    const { keys } = await json('keys list new.json');
    expect(keys).toMatchObject([{ kid: 'ci-1' }, { kid: 'ci-2' }]);
  });

  it('keys add accepts one key id for two issuers, and --issuer selects one', async () => {
    await call('keys add jwks.json --issuer one --trust new.json');
    expect((await call('keys add jwks.json --issuer two --trust new.json')).code).toBe(0);
    expect(await errorOf('keys revoke ci-1 --trust new.json')).toEqual([2, 'usage.INVALID']);
    expect((await call('keys revoke ci-1 --issuer two --trust new.json')).code).toBe(0);
    const { keys } = await json('keys list new.json');
    expect(keys.map((key: { revokedAtMs?: number }) => key.revokedAtMs)).toEqual([
      undefined,
      undefined,
      NOW_MS,
      undefined,
    ]);
  });

  it('never replaces a name; --new-only leaves the same key out, and no other', async () => {
    await call('keys add a.pub.pem --key-id ci-1 --issuer ci --trust new.json');
    const before = await readFile('new.json');
    expect(await errorOf('keys add jwks.json --issuer ci --trust new.json')).toEqual([
      2,
      'trust.KEY_DUPLICATE',
    ]);
    expect(await readFile('new.json')).toEqual(before);
    expect(await json('keys add jwks.json --issuer ci --trust new.json --new-only')).toMatchObject({
      added: [{ keyId: 'ci-2' }],
      alreadyTrusted: 1,
      keys: 2,
    });
    expect(await json('keys add jwks.json --issuer ci --trust new.json --new-only')).toMatchObject({
      added: [],
    });
    const other = 'keys add b.pub.pem --key-id ci-1 --issuer ci --trust new.json --new-only';
    expect(await errorOf(other)).toEqual([2, 'trust.KEY_DUPLICATE']);
  });

  it('takes key and validity of a certificate, and warns about an expired one', async () => {
    await call('keys add cert.pem --issuer ci --trust new.json');
    expect(await keyOf('new.json')).toMatchObject({ fromCertificate: true, notAfterMs: expect.any(Number) });
    const later = { now: () => Date.UTC(2100, 0) };
    const line = 'keys add other-cert.pem --issuer ci --trust new.json';
    const { code, stderr } = await callWith(line.split(' '), later);
    expect([code, stderr]).toEqual([0, expect.stringContaining('expired at 20')]);
  });

  it.each([
    [
      'two certificates',
      async () => `${await readFile('cert.pem', 'utf8')}${await readFile('other-cert.pem', 'utf8')}`,
      'trust.KEY_INVALID',
    ],
    ['a certificate of another curve', () => readFile('p384-cert.pem', 'utf8'), 'trust.KEY_UNSUPPORTED'],
    ['a private key', () => readFile('a.pem', 'utf8'), 'trust.KEY_PRIVATE'],
    [
      'a certificate and its private key',
      async () => `${await readFile('cert.pem', 'utf8')}${await readFile('a.pem', 'utf8')}`,
      'trust.KEY_PRIVATE',
    ],
    ['an empty set', () => '{"keys":[]}', 'trust.STORE_EMPTY'],
    ['a set and more', () => '{"keys":[]} {}', 'trust.KEY_INVALID'],
    [
      '100,000 keys',
      async () => `{"keys":[${`${JSON.stringify(await jwkOf('a.pub.pem', 'k'))},`.repeat(100_000)}{}]}`,
      'json.TOO_LARGE',
    ],
    ['a trust store', () => readFile('original.json', 'utf8'), 'trust.KEY_INVALID'],
  ])('refuses %s, and writes nothing', async (_, content, code) => {
    await writeFile('input', await content());
    const [, actual] = await errorOf('keys add input --issuer ci --trust new.json');
    expect(actual).toBe(code);
    await expect(lstat('new.json')).rejects.toThrow('ENOENT');
  });

  it.each([
    'keys add jwks.json --issuer ci --trust new.json --key-id one',
    'keys add a.pub.pem --issuer ci --trust new.json --not-compromised',
    'keys add a.pub.pem --issuer ci --trust -',
    'keys add a.pub.pem --issuer ci --trust new.json --revoked-at 2026-01-01 --compromised --not-compromised',
  ])('says that %s is a wrong call', async (line) => {
    expect(await errorOf(line)).toEqual([2, 'usage.INVALID']);
  });

  it.each(['__proto__', '../../x', 'k'.repeat(256)])('takes the name %s literally', async (keyId) => {
    expect((await call(`keys add a.pub.pem --key-id ${keyId} --issuer ci --trust new.json`)).code).toBe(0);
    expect((await call(`keys set ${keyId} --not-after 2030-01-01 --trust new.json`)).code).toBe(0);
    expect(await keyOf('new.json')).toMatchObject({ kid: keyId, notAfterMs: Date.UTC(2030, 0) });
  });

  it('refuses a name of 257 characters', async () => {
    const line = `keys add a.pub.pem --key-id ${'k'.repeat(257)} --issuer ci --trust new.json`;
    expect(await errorOf(line)).toEqual([2, 'trust.STORE_INVALID']);
  });

  it('lets --key take a whole set too', async () => {
    await writeFile('set.json', JSON.stringify({ keys: [await jwkOf('key.pub.pem', await idOf())] }));
    expect((await call('verify export --key set.json,issuer=acme-ci')).code).toBe(0);
    expect(await errorOf('verify export --key jwks.json,issuer=acme-ci,keyId=x')).toEqual([
      2,
      'usage.INVALID',
    ]);
  });
});

describe('keys set', () => {
  it('sets only the named members, and removes them again', async () => {
    const before = await readFile('trust.json', 'utf8');
    const key = await idOf();
    const limits =
      '--not-before 2023-01-01 --not-after 1893456000001 --project prj_1 --organization org_1 --purpose evidence';
    const product = await json(`keys set ${key} ${limits} --trust trust.json`);
    expect(product.changes.map(({ name }: { name: string }) => name)).toEqual([
      'not before',
      'not after',
      'valid for',
      'projects',
      'organizations',
    ]);
    expect(await keyOf()).toMatchObject({
      notBeforeMs: Date.UTC(2023, 0),
      notAfterMs: 1_893_456_000_001,
      projects: ['prj_1'],
      organizations: ['org_1'],
      purposes: ['evidence'],
    });
    const away =
      '--not-before none --not-after none --any-project --any-organization --purpose evidence --purpose export';
    await call(`keys set ${key} ${away} --trust trust.json`);
    expect(await readFile('trust.json', 'utf8')).toBe(before);
  });

  it('keys set accepts the key id that keys list shows, and refuses a short or ambiguous one', async () => {
    const key = await idOf();
    const shown = (await call('keys list trust.json')).stdout.match(/sha256:[0-9a-f]{64}/)![0].slice(0, 19);
    expect((await call(`keys set ${shown} --purpose evidence --trust trust.json`)).code).toBe(0);
    expect(await errorOf(`keys set ${key.slice(0, 11)} --purpose export --trust trust.json`)).toEqual([
      2,
      'usage.INVALID',
    ]);
    await call('keys add a.pub.pem --key-id release-key-1 --issuer ci --trust trust.json');
    await call('keys add b.pub.pem --key-id release-key-2 --issuer ci --trust trust.json');
    expect(await errorOf('keys set release-key- --purpose export --trust trust.json')).toEqual([
      2,
      'usage.INVALID',
    ]);
  });

  it.each([
    ['nothing', '', 'usage.INVALID'],
    ['a compromise of a key that is not revoked', '--compromised', 'usage.INVALID'],
    ['an end before the beginning', '--not-before 2025-01-02 --not-after 2025-01-01', 'trust.STORE_INVALID'],
    ['a time that is none', '--not-after soon', 'usage.INVALID'],
    ['a purpose that is none', '--purpose all', 'usage.INVALID'],
    ['a project and every project', '--project prj_1 --any-project', 'usage.INVALID'],
  ])('refuses %s, and leaves the store as it is', async (_, options, code) => {
    const before = await readFile('trust.json');
    const line = `keys set ${await idOf()} ${options} --trust trust.json`.replace(/ +/g, ' ');
    expect(await errorOf(line)).toEqual([2, code]);
    expect(await readFile('trust.json')).toEqual(before);
  });

  it('keys set does not rewrite the store without a change', async () => {
    const { ino } = await stat('trust.json');
    expect(await json(`keys set ${await idOf()} --not-after none --trust trust.json`)).toMatchObject({
      changes: [],
    });
    expect((await stat('trust.json')).ino).toBe(ino);
  });

  it('keys set refuses an unknown key and a missing store', async () => {
    expect(await errorOf('keys set sha256:0000000000000 --purpose export --trust trust.json')).toEqual([
      2,
      'usage.INVALID',
    ]);
    expect(await errorOf('keys set x --purpose export --trust absent.json')).toEqual([2, 'io.NOT_FOUND']);
  });
});

describe('keys revoke', () => {
  it('keys revoke makes verify refuse every signature of the key', async () => {
    expect((await call('verify export --trust trust.json')).code).toBe(0);
    expect((await call(`keys revoke ${await idOf()} --trust trust.json`)).code).toBe(0);
    expect(await keyOf()).toMatchObject({ revokedAtMs: NOW_MS, compromised: true });
    const { code, stdout } = await call('verify export --trust trust.json');
    expect([code, stdout]).toEqual([1, expect.stringContaining('trust.KEY_REVOKED')]);
  });

  it('keeps earlier signatures valid when the key is not compromised, to the millisecond', async () => {
    const { statement } = (await json('inspect part-1.zip')).attestation;
    for (const [delta, code] of [
      [1, 0],
      [0, 1],
    ] as const) {
      await cp('original.json', 'trust.json');
      await call(
        `keys revoke ${await idOf()} --at ${statement.issuedAtMs + delta} --not-compromised --trust trust.json`,
      );
      expect((await call('verify part-1.zip --trust trust.json')).code).toBe(code);
    }
  });

  it('keys revoke refuses a key that is already revoked', async () => {
    await call(`keys revoke ${await idOf()} --trust trust.json --at 2024-01-01`);
    expect(await errorOf(`keys revoke ${await idOf()} --not-compromised --trust trust.json`)).toEqual([
      2,
      'usage.INVALID',
    ]);
    expect((await call(`keys set ${await idOf()} --revoked-at 2023-01-01 --trust trust.json`)).code).toBe(0);
    expect(await keyOf()).toMatchObject({ revokedAtMs: Date.UTC(2023, 0), compromised: true });
  });

  it('is remembered when the same key comes back under another name', async () => {
    await call(`keys revoke ${await idOf()} --trust trust.json`);
    const { code, stderr } = await call('keys add key.pub.pem --issuer other --trust trust.json');
    expect([code, stderr]).toEqual([0, expect.stringContaining('of acme-ci, which is revoked')]);
  });

  it('keys revoke reports the other name under which the key is still trusted', async () => {
    await call('keys add key.pub.pem --key-id other-name --issuer ci --trust trust.json');
    const { stderr } = await call(`keys revoke ${await idOf()} --trust trust.json`);
    expect(stderr).toContain('other-name of ci');
  });
});

describe('a trust store that is rewritten', () => {
  it('keeps its rights, and a link stays one', async () => {
    await chmod('trust.json', 0o600);
    await symlink('trust.json', 'link.json');
    await call(`keys set ${await idOf()} --not-after 2030-01-01 --trust link.json`);
    expect((await lstat('link.json')).isSymbolicLink()).toBe(true);
    expect((await stat('trust.json')).mode & 0o777).toBe(0o600);
    expect(await keyOf()).toMatchObject({ notAfterMs: Date.UTC(2030, 0) });
    await rm('link.json');
  });

  it('rewriteTrustFile does not replace a store that another program changed', async () => {
    const file = await openTrustFile(world(), 'trust.json');
    await call('keys add a.pub.pem --issuer ci --trust trust.json');
    const theirs = await readFile('trust.json');
    const lost = await rewriteTrustFile(file, storeOf(file).keys).catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(DrillproofError);
    expect(lost).toMatchObject({ code: 'io.CHANGED' });
    expect(await readFile('trust.json')).toEqual(theirs);
    expect((await readdir('.')).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('rewriteTrustFile does not replace a store that another program created', async () => {
    const file = await openTrustFile(world(), 'new.json');
    await cp('original.json', 'new.json');
    const { keys } = parseTrustStore(await readFile('original.json'));
    await expect(rewriteTrustFile(file, keys)).rejects.toMatchObject({ code: 'io.EXISTS' });
  });

  it('is read whole, as it was before or after, while it is replaced', async () => {
    const wide = await json('keys list trust.json');
    const key = wide.keys[0].kid as string;
    const narrow = await json(`keys set ${key} --purpose evidence --trust trust.json`);
    const known = [wide.fingerprint, narrow.fingerprint];
    for (let round = 0; round < 10; round++) {
      const change = call(
        `keys set ${key} --purpose ${round % 2 ? 'evidence' : 'export'} --trust trust.json`,
      );
      const reads = await Promise.all([1, 2, 3].map(() => json('keys list trust.json')));
      expect((await change).code).toBe(0);
      known.push((await json('keys list trust.json')).fingerprint);
      for (const { fingerprint } of reads) expect(known).toContain(fingerprint);
    }
  });

  it('has a fingerprint that python computes as well', async () => {
    await call('keys add jwks.json --issuer another --trust trust.json --not-after 2030-01-01');
    const canonical = "json.dumps(json.load(open('trust.json')),sort_keys=True,separators=(',',':'))";
    const script = `import json,hashlib;print(hashlib.sha256(${canonical}.encode()).hexdigest())`;
    const digest = execFileSync('python3', ['-c', script]).toString().trim();
    expect((await json('keys list trust.json')).fingerprint).toBe(`sha256:${digest}`);
  });

  it('has the same bytes whatever the order in which its keys came', async () => {
    await call('keys add a.pub.pem --issuer one --trust new.json');
    await call('keys add b.pub.pem --issuer two --trust new.json');
    const forth = await readFile('new.json', 'utf8');
    await rm('new.json');
    await call('keys add b.pub.pem --issuer two --trust new.json');
    await call('keys add a.pub.pem --issuer one --trust new.json');
    expect(await readFile('new.json', 'utf8')).toBe(forth);
  });
});

const plan = async (line: string) => {
  const { code, stdout } = await call(`keys plan --retire ${await idOf()} --trust trust.json ${line} --json`);
  return { code, plan: JSON.parse(stdout) };
};

describe('keys plan', () => {
  it('reports the signatures that would stop to verify, ends with 1, and writes nothing', async () => {
    const before = await readFile('trust.json');
    const { code, plan: product } = await plan('--compromised export part-1.zip');
    expect(code).toBe(1);
    expect(product).toMatchObject({
      kind: 'key-plan',
      depth: 'attestations',
      retire: { how: 'compromised' },
    });
    expect(product.counts).toMatchObject({ stops: 4, stands: 0, unread: 0 });
    expect(product.results[0].effects[0]).toMatchObject({
      kind: 'list',
      outcome: 'stops',
      codes: ['trust.KEY_REVOKED'],
    });
    expect(await readFile('trust.json')).toEqual(before);
  });

  it('predicts what revoking then does', async () => {
    const { plan: product } = await plan('--compromised part-1.zip');
    expect((await call(`keys revoke ${await idOf()} --trust trust.json`)).code).toBe(0);
    const { fingerprint } = await json('keys list trust.json');
    expect(product.trust.after.fingerprint).toBe(fingerprint);
  });

  it('keys plan ends with 0 if every signature would still verify', async () => {
    await call('keys add a.pub.pem --issuer acme-ci --key-id unused --trust trust.json');
    const line = 'keys plan --retire unused --compromised --trust trust.json export';
    expect(await json(line)).toMatchObject({ counts: { stops: 0, stands: 3, refused: 0 } });
    expect((await call(line)).code).toBe(0);
  });

  it.each(['attestations', 'full'])(
    'is exact on both sides of the millisecond at depth %s',
    async (depth) => {
      const { issuedAtMs } = (await json('inspect part-1.zip')).attestation.statement;
      const stops = async (how: string, atMs: number) =>
        (await plan(`--as ${how} --at ${atMs} --depth ${depth} part-1.zip`)).plan.counts.stops;
      expect(await stops('revoked', issuedAtMs)).toBe(1);
      expect(await stops('revoked', issuedAtMs + 1)).toBe(0);
      expect(await stops('expired', issuedAtMs - 1)).toBe(1);
      expect(await stops('expired', issuedAtMs)).toBe(0);
    },
  );

  it('lets a successor take over what it signed, and no signature of the old key', async () => {
    await call('keys add a.pub.pem --issuer other --trust new.json');
    const { keys } = await json('keys list new.json');
    const line = `keys plan --retire ${keys[0].kid} --trust new.json --compromised`;
    // The evidence is by key.pem of acme-ci: the successor of a key of another issuer does not help it.
    expect((await json(`${line} --replace-with key.pub.pem part-1.zip`)).counts).toMatchObject({
      refused: 1,
    });
    await call('keys add b.pub.pem --issuer acme-ci --key-id b --trust new.json');
    const taken =
      'keys plan --retire b --trust new.json --at 2000-01-01 --replace-with key.pub.pem part-1.zip';
    expect(await json(taken)).toMatchObject({ counts: { starts: 1 }, replacements: [{ issuer: 'acme-ci' }] });
    const same = `keys plan --retire ${await idOf()} --trust trust.json --replace-with key.pub.pem part-1.zip`;
    expect(await errorOf(same)).toEqual([2, 'usage.INVALID']);
    const known =
      'keys plan --retire release-b --trust trust.json --compromised --replace-with a.pub.pem part-1.zip';
    await call('keys add b.pub.pem --issuer acme-ci --key-id release-b --trust trust.json');
    await call('keys add a.pub.pem --issuer acme-ci --trust trust.json');
    expect((await json(known)).counts).toMatchObject({ stands: 1, starts: 0 });
  });

  it('keys plan ends with 3 for an unreadable path, and with 1 if a signature would stop as well', async () => {
    await writeFile('cut.zip', (await readFile('part-1.zip')).subarray(0, 200));
    expect(await plan('cut.zip')).toMatchObject({ code: 3, plan: { counts: { unread: 1 } } });
    expect(await plan('--at 2100-01-01 absent part-1.zip')).toMatchObject({
      code: 3,
      plan: { counts: { unopened: 1, stands: 1 } },
    });
    expect((await plan('--compromised absent part-1.zip')).code).toBe(1);
  });

  it('ends with 3 when nothing is signed', async () => {
    const roles = '--role journal.jsonl=evidence --role state.json=state --role trace.json=trajectory';
    await call(`pack run-1 --run run-1.json --unsigned ${roles} --out unsigned.zip --force`);
    expect(await plan('unsigned.zip')).toMatchObject({ code: 3, plan: { counts: { unsigned: 1 } } });
  });

  it('names the same key under another name, and counts what only becomes a claim', async () => {
    await call('keys add key.pub.pem --key-id other-name --issuer ci --trust trust.json');
    const { plan: product } = await plan('--at 2100-01-01 part-1.zip');
    expect(product.sameKey).toEqual([{ issuer: 'ci', keyId: 'other-name' }]);
    expect(product.counts).toMatchObject({ stands: 1, timeClaimed: 1 });
  });

  it('keys plan reports the same as text', async () => {
    const { stdout } = await call(
      `keys plan --retire ${await idOf()} --compromised --trust trust.json export`,
    );
    expect(stdout).toContain('3 of 3 signatures WOULD STOP VERIFYING');
    expect(stdout).toContain('signatures only; objects and archives were not read');
    expect(stdout).toMatch(/export +evidence_000000000001 .*trust\.KEY_REVOKED/);
  });

  it.each([
    'keys plan --retire x part-1.zip',
    'keys plan --retire x --trust trust.json --compromised --as expired part-1.zip',
    'keys plan --retire sha256:000000000000 --trust trust.json part-1.zip',
  ])('says that %s is a wrong call', async (line) => {
    expect(await errorOf(line)).toEqual([2, 'usage.INVALID']);
  });
});

it('verify --as-of is exact to the millisecond, and appears in the report', async () => {
  const { issuedAtMs } = (await json('inspect part-1.zip')).attestation.statement;
  const at = async (asOf: string | number) => json(`verify part-1.zip --trust trust.json --as-of ${asOf}`);
  expect(await at(issuedAtMs)).toMatchObject({ verdict: 'verified', asOfMs: issuedAtMs });
  expect(await at(issuedAtMs - 1)).toMatchObject({ verdict: 'failed' });
  const zoned = new Date(issuedAtMs).toISOString().replace('Z', '+00:00');
  expect(await at(zoned)).toMatchObject({ verdict: 'verified', asOfMs: issuedAtMs });
  expect(await at('2100-01-01')).toMatchObject({ asOfMs: Date.UTC(2100, 0) });
});
