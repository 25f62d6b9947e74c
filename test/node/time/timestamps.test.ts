import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifyTimestamps } from '../../../src/node/time/timestamps.ts';
import type { TrustedCertificate } from '../../../src/trust/certificate.ts';
import { trustStore } from '../../../src/trust/store.ts';
import { CA, type Issued, openTsa, TSA, trusting } from './tsa.ts';
import { isDeep } from '../../support/deep.ts';
import { makeFolder } from '../../support/folder.ts';

const tsa = openTsa(await makeFolder());
const root = tsa.issue('root', { extensions: CA });
const middle = tsa.issue('middle', { by: root, extensions: CA });
const signer = tsa.issue('signer', { by: middle, extensions: TSA });
const rsaRoot = tsa.issue('rsa-root', { key: 'rsa:2048', extensions: CA });
const rsaSigner = tsa.issue('rsa-signer', { key: 'rsa:2048', by: rsaRoot, extensions: TSA });
const data = Buffer.from('a signed statement');
const AS_OF = Date.UTC(2026, 11, 1);

async function check(
  token: Uint8Array,
  trusted: readonly TrustedCertificate[] = [trusting(root)],
  asOfMs = AS_OF,
) {
  const [result] = await verifyTimestamps([{ name: 'a.tst', token }], {
    asOfMs,
    trust: trustStore([], trusted),
  });
  return result!;
}
const codesOf = async (...args: Parameters<typeof check>): Promise<readonly string[]> => {
  const { findings, authority } = await check(...args);
  expect(authority === undefined).toBe(findings.length > 0);
  return findings.map(({ code }) => code);
};

/** The answer of openssl to the same token. */
function askOpenssl(token: Uint8Array, anchor: Issued, others: readonly Issued[]): boolean {
  const file = join(tsa.folder, 'oracle');
  writeFileSync(file, token);
  writeFileSync(`${file}.data`, data);
  writeFileSync(`${file}.chain`, others.map(({ pem }) => readFileSync(pem, 'utf8')).join(''));
  const untrusted = others.length === 0 ? [] : ['-untrusted', `${file}.chain`];
  try {
    execFileSync(
      'openssl',
      [
        'ts',
        '-verify',
        '-token_in',
        '-in',
        file,
        '-data',
        `${file}.data`,
        '-CAfile',
        anchor.pem,
        ...untrusted,
      ],
      { stdio: 'pipe' },
    );
    return true;
  } catch {
    return false;
  }
}

const query = (): Uint8Array => {
  const file = join(tsa.folder, 'query');
  writeFileSync(file, data);
  tsa.openssl('ts', '-query', '-data', file, '-sha256', '-cert', '-out', `${file}.tsq`);
  return readFileSync(`${file}.tsq`);
};
function tokenOfReply(reply: Uint8Array): Uint8Array {
  const file = join(tsa.folder, 'reply');
  writeFileSync(file, reply);
  tsa.openssl('ts', '-reply', '-in', file, '-token_out', '-out', `${file}.tst`);
  return readFileSync(`${file}.tst`);
}

test.each([
  ['ECDSA with an intermediate', signer, [middle], root, 'sha256'],
  ['ECDSA with ESSCertID of SHA-1', signer, [middle], root, 'sha1'],
  ['RSA', rsaSigner, [], rsaRoot, 'sha256'],
] as const)('a token of openssl ts counts: %s', async (_name, by, others, anchor, ess) => {
  const token = tokenOfReply(tsa.reply(query(), { signer: by, others, ess }));
  expect(askOpenssl(token, anchor, others)).toBe(true);
  const now = Date.now();
  const result = await check(token, [trusting(anchor)], now + 60_000);
  expect(result).toMatchObject({ authority: 'tsa.example', findings: [] });
  expect(Math.abs(result.atMs! - now)).toBeLessThan(60_000);
});

test('a token counts with the certificate of its signer in the trust store, and with an intermediate', async () => {
  const token = tsa.stamp(data, { signer, others: [middle] });
  expect(await codesOf(token, [trusting(signer)])).toEqual([]);
  expect(await codesOf(token, [trusting(middle)])).toEqual([]);
  expect(
    await codesOf(tsa.stamp(data, { signer, options: ['-cades', '-nocerts'] }), [trusting(signer)]),
  ).toEqual([]);
});

test('a token of an unlisted authority does not count', async () => {
  const token = tsa.stamp(data, { signer, others: [middle] });
  expect(await codesOf(token, [trusting(rsaRoot)])).toEqual(['timestamp.AUTHORITY_UNKNOWN']);
  expect(await codesOf(tsa.stamp(data, { signer }))).toEqual(['timestamp.AUTHORITY_UNKNOWN']);
});

test('the certificate of a trusted authority next to a rogue signature does not count, at any place', async () => {
  const rogueRoot = tsa.issue('root', { extensions: CA });
  const rogue = tsa.issue('signer', { by: rogueRoot, serial: '4242', extensions: TSA });
  for (const others of [[signer, middle, root], [root, middle, signer], [middle]])
    expect(await codesOf(tsa.stamp(data, { signer: rogue, others }))).toEqual([
      'timestamp.AUTHORITY_UNKNOWN',
    ]);
});

test('a certificate of the same issuer and serial does not replace the one that the signed attributes name', async () => {
  const fakeMiddle = tsa.issue('middle', { by: root, serial: '77', extensions: CA });
  const honest = tsa.issue('twin', { by: middle, serial: '5151', extensions: TSA });
  const twin = tsa.issue('twin', {
    by: tsa.issue('middle', { extensions: CA }),
    serial: '5151',
    extensions: TSA,
  });
  const token = tsa.stamp(data, { signer: twin, others: [honest, middle, fakeMiddle] });
  expect(await codesOf(token)).toEqual(['timestamp.AUTHORITY_UNKNOWN']);
});

test('a token without a certificate id, or with a different certificate, does not count', async () => {
  expect(await codesOf(tsa.stamp(data, { signer, others: [middle], options: [] }))).toEqual([
    'timestamp.CERTIFICATE_INVALID',
  ]);
  const other = tsa.issue('other', { by: middle, extensions: TSA });
  const token = tsa.stamp(data, { signer, others: [middle], options: ['-cades', '-nocerts'] });
  expect(await codesOf(token, [trusting(other)])).toEqual(['timestamp.CERTIFICATE_INVALID']);
});

test.each([
  ['no extended key usage', 'keyUsage=critical,digitalSignature', false],
  ['a usage that is not critical', 'extendedKeyUsage=timeStamping', false],
  ['a second usage', 'extendedKeyUsage=critical,timeStamping,codeSigning', false],
  ['any usage', 'extendedKeyUsage=critical,anyExtendedKeyUsage', false],
  [
    'a key usage without signatures',
    'extendedKeyUsage=critical,timeStamping\nkeyUsage=critical,keyEncipherment',
    false,
  ],
  ['a certificate authority', `${CA},digitalSignature\nextendedKeyUsage=critical,timeStamping`, undefined],
])('a signer with %s does not count, as for openssl', async (_name, extensions, oracle) => {
  const unfit = tsa.issue('unfit', { by: middle, extensions });
  const token = tsa.stamp(data, { signer: unfit, others: [middle] });
  expect(await codesOf(token)).toEqual(['timestamp.CERTIFICATE_INVALID']);
  if (oracle !== undefined) expect(askOpenssl(token, root, [middle])).toBe(oracle);
});

function chain(extensions: string, usage = TSA) {
  const between = tsa.issue('between', { by: root, extensions: `${CA}\n${extensions}` });
  return tsa.stamp(data, {
    signer: tsa.issue('leaf', { by: between, extensions: usage }),
    others: [between],
  });
}

test('timeStamping on an intermediate is allowed, limits it, and does not replace that of the signer', async () => {
  expect(await codesOf(chain('extendedKeyUsage=timeStamping'))).toEqual([]);
  expect(await codesOf(chain('extendedKeyUsage=serverAuth'))).toEqual(['timestamp.CHAIN_INVALID']);
  const without = chain('extendedKeyUsage=critical,timeStamping', 'keyUsage=critical,digitalSignature');
  expect(await codesOf(without)).toEqual(['timestamp.CERTIFICATE_INVALID']);
});

test('the chain is verified as of the time of the token, not at that of the verification', async () => {
  const short = tsa.issue('short', {
    by: middle,
    from: '20250101000000Z',
    to: '20260101000000Z',
    extensions: TSA,
  });
  const at = (time: string) => tsa.stamp(data, { signer: short, others: [middle], at: time });
  expect(await codesOf(at('20250601000000Z'), [trusting(root)], Date.UTC(2060, 0, 1))).toEqual([]);
  expect(await codesOf(at('20260101000000Z'))).toEqual([]);
  expect(await codesOf(at('20260101000001Z'))).toEqual(['timestamp.CHAIN_INVALID']);
  expect(await codesOf(at('20241231235959Z'))).toEqual(['timestamp.CHAIN_INVALID']);
  const late = tsa.issue('late', { by: root, from: '20260701000000Z', extensions: CA });
  const leaf = tsa.issue('leaf', { by: late, extensions: TSA });
  expect(await codesOf(tsa.stamp(data, { signer: leaf, others: [late] }))).toEqual([
    'timestamp.CHAIN_INVALID',
  ]);
});

test('an intermediate that is not an authority, or has too many below it, does not count', async () => {
  const leafBelow = (by: Issued, ...others: readonly Issued[]) =>
    tsa.stamp(data, { signer: tsa.issue('leaf', { by, extensions: TSA }), others: [by, ...others] });
  const plain = tsa.issue('plain', {
    by: root,
    extensions: 'keyUsage=critical,digitalSignature,keyCertSign',
  });
  expect(await codesOf(leafBelow(plain))).toEqual(['timestamp.CHAIN_INVALID']);
  const narrow = tsa.issue('narrow', { by: root, extensions: 'basicConstraints=critical,CA:true,pathlen:0' });
  expect(await codesOf(leafBelow(narrow))).toEqual([]);
  const below = tsa.issue('below', { by: narrow, extensions: CA });
  expect(await codesOf(leafBelow(below, narrow))).toEqual(['timestamp.CHAIN_INVALID']);
  const named = tsa.issue('named', {
    by: root,
    extensions: `${CA}\nnameConstraints=critical,permitted;DNS:example.org`,
  });
  expect(await codesOf(leafBelow(named))).toEqual(['timestamp.CHAIN_INVALID']);
});

test('weak digests, signatures and keys do not count', async () => {
  const token = (options: Partial<Parameters<typeof tsa.stamp>[1]>) =>
    tsa.stamp(data, { signer, others: [middle], ...options });
  expect(await codesOf(token({ imprintAlgorithm: 'sha1' }))).toEqual(['timestamp.ALGORITHM_REFUSED']);
  expect(await codesOf(token({ imprintAlgorithm: 'sha512' }))).toEqual(['timestamp.ALGORITHM_REFUSED']);
  expect(await codesOf(token({ digest: 'sha1' }))).toEqual(['timestamp.ALGORITHM_REFUSED']);
  expect(await codesOf(token({ digest: 'sha512' }))).toEqual([]);
  const weakKey = tsa.issue('weak', { by: middle, key: 'rsa:1024', extensions: TSA });
  expect(await codesOf(token({ signer: weakKey }))).toEqual(['timestamp.ALGORITHM_REFUSED']);
  const weakIssue = tsa.issue('weak', { by: middle, digest: 'sha1', extensions: TSA });
  expect(await codesOf(token({ signer: weakIssue }))).toEqual(['timestamp.ALGORITHM_REFUSED']);
  expect(await codesOf(token({ signer: weakIssue }), [trusting(weakIssue)])).toEqual([]);
});

test('the time of a token is its latest: with the accuracy, or a second', async () => {
  const at = Date.UTC(2026, 5, 1, 12);
  expect((await check(tsa.stamp(data, { signer, others: [middle] }))).atMs).toBe(at + 1000);
  expect((await check(tsa.stamp(data, { signer, others: [middle], accuracySeconds: 90 }))).atMs).toBe(
    at + 90_000,
  );
  const fraction = tsa.stamp(data, {
    signer,
    others: [middle],
    at: '20260601120000.25Z',
    accuracySeconds: 0,
  });
  expect((await check(fraction)).atMs).toBe(at + 250);
});

test('a token from the future does not count, and one of the same moment does', async () => {
  const token = tsa.stamp(data, { signer, others: [middle] });
  expect(await codesOf(token, [trusting(root)], Date.UTC(2026, 5, 1, 12))).toEqual([]);
  expect(await codesOf(token, [trusting(root)], Date.UTC(2026, 5, 1, 12) - 1)).toEqual([
    'timestamp.IN_FUTURE',
  ]);
});

test('a response, other CMS, bytes after the end and every changed byte are refused', async () => {
  expect(await codesOf(tsa.reply(query(), { signer, others: [middle] }))).toEqual(['timestamp.INVALID']);
  const token = tsa.stamp(data, { signer, others: [middle] });
  expect(await codesOf(Buffer.concat([token, Buffer.of(0)]))).toEqual(['timestamp.INVALID']);
  expect(await codesOf(token.subarray(0, -1))).toEqual(['timestamp.INVALID']);
  expect(await codesOf(new Uint8Array())).toEqual(['timestamp.INVALID']);
  for (let at = 0; at < token.length; at += isDeep ? 1 : 31) {
    const changed = Uint8Array.from(token);
    changed[at]! ^= 0x01;
    const { authority, imprint, atMs } = await check(changed);
    // What the signature does not cover may change: unused certificates, unsigned algorithm parameters.
    if (authority !== undefined)
      expect({ imprint, atMs }).toEqual({
        imprint: expect.any(String),
        atMs: Date.UTC(2026, 5, 1, 12) + 1000,
      });
  }
});

test('a changed signature and a changed time are refused', async () => {
  const token = tsa.stamp(data, { signer, others: [middle] });
  const changed = (at: number): Uint8Array => token.map((byte, index) => (index === at ? byte ^ 1 : byte));
  expect(await codesOf(changed(token.length - 3))).toEqual(['timestamp.SIGNATURE_INVALID']);
  const time = Buffer.from(token).indexOf('20260601120000Z');
  expect(await codesOf(changed(time + 3))).toEqual(['timestamp.SIGNATURE_INVALID']);
});

test('a store without certificates reports that nothing was checked', async () => {
  const token = tsa.stamp(data, { signer });
  const [result] = await verifyTimestamps([{ name: 'a.tst', token }], { asOfMs: AS_OF });
  expect(result?.findings.map(({ code }) => code)).toEqual(['timestamp.NOT_CHECKED']);
  expect(result?.authority).toBeUndefined();
});

test('a revoked or retired authority counts for the time before, unless it is compromised', async () => {
  const token = tsa.stamp(data, { signer, others: [middle] });
  const at = Date.UTC(2026, 5, 1, 12) + 1000;
  const limited = (limits: Partial<TrustedCertificate>) => codesOf(token, [trusting(root, limits)]);
  expect(await limited({ notAfterMs: at })).toEqual([]);
  expect(await limited({ notAfterMs: at - 1 })).toEqual(['timestamp.AUTHORITY_REVOKED']);
  expect(await limited({ notBeforeMs: at })).toEqual(['timestamp.AUTHORITY_REVOKED']);
  expect(await limited({ revokedAtMs: at + 1, compromised: false })).toEqual([]);
  expect(await limited({ revokedAtMs: at, compromised: false })).toEqual(['timestamp.AUTHORITY_REVOKED']);
  expect(await limited({ revokedAtMs: at + 1, compromised: true })).toEqual(['timestamp.AUTHORITY_REVOKED']);
});

test('a renewal before the compromise saves the token of an authority, and a chain of renewals too', async () => {
  const revokedAtMs = Date.UTC(2030, 0, 1);
  const first = tsa.stamp(data, { signer, others: [middle] });
  const renewed = (token: Uint8Array, at: string, by = rsaSigner) =>
    tsa.stamp(token, { signer: by, others: by === signer ? [middle] : [], at });
  const trust = (limits: Partial<TrustedCertificate> = {}, more: readonly TrustedCertificate[] = []) =>
    trustStore(
      [],
      [trusting(root, { revokedAtMs }), trusting(rsaRoot, { issuer: 'second', ...limits }), ...more],
    );
  const verify = async (tokens: readonly Uint8Array[], store = trust()) =>
    (
      await verifyTimestamps(
        tokens.map((token, at) => ({ name: `${at}.tst`, token })),
        { asOfMs: Date.UTC(2039, 0, 1), trust: store },
      )
    ).map(({ authority }) => authority);
  const inTime = renewed(first, '20291231235958Z');
  expect(await verify([first, inTime])).toEqual(['tsa.example', 'second']);
  expect(await verify([first, renewed(first, '20291231235959Z')])).toEqual([undefined, 'second']);
  // Whoever has the stolen key of the authority can renew, too, but proves nothing.
  expect(await verify([first, renewed(first, '20280101000000Z', signer)])).toEqual([undefined, undefined]);
  const third = tsa.issue('third', { extensions: TSA });
  const store = trust({ revokedAtMs: Date.UTC(2034, 0, 1) }, [trusting(third, { issuer: 'third' })]);
  const again = tsa.stamp(inTime, { signer: third, at: '20330101000000Z' });
  expect(await verify([first, inTime, again], store)).toEqual(['tsa.example', 'second', 'third']);
  expect(await verify([first, inTime], store)).toEqual([undefined, undefined]);
});
