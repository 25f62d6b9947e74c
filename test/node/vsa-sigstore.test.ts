import { execFileSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFromJSON } from '@sigstore/bundle';
import { dsse as sigstoreDsse } from '@sigstore/core';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandSigner } from '../../src/node/keys/command-signer.ts';
import { readSigningKey } from '../../src/node/index.ts';
import { signSummary } from '../../src/policy/vsa/vsa.ts';
import { verifySummary } from '../../src/policy/vsa/judge.ts';
import { dsseBytes, preAuthEncoding, publicKeyPem, type Signer } from '../../src/trust/index.ts';
import { AS_OF_MS, IN_TOTO, keyOf, summaryOf, trusting } from '../policy/vsa-makers.ts';

type Members = { payload: string; payloadType: string; signatures: { keyid: string; sig: string }[] };
let folder: string;
let signer: Signer;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'drillproof-vsa-'));
  execFileSync('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', at('key.pem')]);
  signer = readSigningKey(execFileSync('openssl', ['pkey', '-in', at('key.pem')])).signer;
  await writeFile(at('pub.pem'), publicKeyPem(signer.point));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const membersOf = (bytes: Uint8Array): Members => JSON.parse(new TextDecoder().decode(bytes)) as Members;
const bytesOf = (members: Members): Uint8Array => Buffer.from(JSON.stringify(members));

/** Whether @sigstore/verify takes the envelope for signed by our public key, without transparency logs. */
function sigstoreAccepts(envelope: Members): boolean {
  const key = createPublicKey(publicKeyPem(signer.point));
  const trust = toTrustMaterial(
    { mediaType: '', certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] },
    () => ({ publicKey: key, validFor: () => true }),
  );
  const verifier = new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
  try {
    const bundle = bundleFromJSON({
      mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      verificationMaterial: { publicKey: { hint: 'ours' }, tlogEntries: [] },
      dsseEnvelope: envelope,
    });
    verifier.verify(toSignedEntity(bundle));
    return true;
  } catch {
    return false;
  }
}
const weAccept = (envelope: Members): boolean =>
  verifySummary(bytesOf(envelope), { asOfMs: AS_OF_MS, trust: trusting(keyOf(signer)) }).verdict === 'valid';

async function opensslAccepts({ payload, payloadType, signatures }: Members): Promise<boolean> {
  await writeFile(at('pae'), preAuthEncoding(payloadType, Buffer.from(payload, 'base64')));
  await writeFile(at('sig'), Buffer.from(signatures[0]?.sig ?? '', 'base64'));
  const args = ['dgst', '-sha256', '-verify', at('pub.pem'), '-signature', at('sig'), at('pae')];
  try {
    return execFileSync('openssl', args, { stdio: 'pipe' }).toString().includes('Verified OK');
  } catch {
    return false;
  }
}

describe('a summary that we sign', () => {
  it('is verified by @sigstore/verify and by openssl, whether a key or a command signed it', async () => {
    const program = await commandSigner({
      command: ['openssl', 'dgst', '-sha256', '-sign', at('key.pem')],
      publicKey: signer,
    });
    for (const by of [signer, program]) {
      const envelope = membersOf(dsseBytes(await signSummary(summaryOf(), [by])));
      expect([sigstoreAccepts(envelope), await opensslAccepts(envelope), weAccept(envelope)]).toEqual([
        true,
        true,
        true,
      ]);
    }
  });

  const changes: [string, (envelope: Members) => void][] = [
    ['result', (one) => (one.payload = rewritten(one.payload, 'PASSED', 'FAILED'))],
    ['time', (one) => (one.payload = rewritten(one.payload, '2026-11-21T12', '2026-11-21T11'))],
    ['payload type', (one) => (one.payloadType = 'application/json')],
    ['signatures', (one) => (one.signatures = [])],
  ];
  it.each(changes)('is refused by all once its %s was changed', async (_, change) => {
    const envelope = membersOf(dsseBytes(await signSummary(summaryOf(), [signer])));
    change(envelope);
    expect([sigstoreAccepts(envelope), await opensslAccepts(envelope), weAccept(envelope)]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

const rewritten = (base64: string, from: string, to: string): string => {
  const text = Buffer.from(base64, 'base64').toString();
  expect(text).toContain(from);
  return Buffer.from(text.replace(from, to)).toString('base64');
};

describe('a summary that others sign', () => {
  it('is accepted however its payload is formatted: bytes by @sigstore/core, signature by openssl', async () => {
    for (const text of [JSON.stringify(summaryOf()), JSON.stringify(summaryOf(), null, 2)]) {
      const payload = Buffer.from(text);
      await writeFile(at('theirs'), sigstoreDsse.preAuthEncoding(IN_TOTO, payload));
      const der = execFileSync('openssl', ['dgst', '-sha256', '-sign', at('key.pem'), at('theirs')]);
      const envelope = {
        payload: payload.toString('base64'),
        payloadType: IN_TOTO,
        signatures: [{ keyid: signer.keyId, sig: der.toString('base64') }],
      };
      expect([sigstoreAccepts(envelope), weAccept(envelope)]).toEqual([true, true]);
    }
  });
});
