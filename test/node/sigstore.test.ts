import { execFileSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFromJSON } from '@sigstore/bundle';
import { dsse as sigstoreDsse } from '@sigstore/core';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import {
  attestDsse,
  IN_TOTO_PAYLOAD_TYPE,
  inTotoStatement,
  parseAttestation,
  type Statement,
} from '../../src/evidence/index.ts';
import { readSigningKey } from '../../src/node/index.ts';
import { dsseBytes, preAuthEncoding, publicKeyPem, type Signer } from '../../src/trust/index.ts';
import { verifyDsse } from '../../src/verify/index.ts';
import { errorsOf, makePart, makeTrust, NOW, unpack } from '../support/evidence.ts';

type Members = { payload: string; payloadType: string; signatures: { keyid: string; sig: string }[] };
let folder: string;
let signer: Signer;
let statement: Statement;
let manifest: Uint8Array;
let ours: Members;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'drillproof-sigstore-'));
  execFileSync('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', at('key.pem')]);
  signer = readSigningKey(execFileSync('openssl', ['pkey', '-in', at('key.pem')])).signer;
  const entries = await unpack((await makePart(1, signer)).bytes);
  statement = parseAttestation(entries.get('attestation.json')!).statement;
  manifest = entries.get('manifest.json')!;
  ours = members(dsseBytes(await attestDsse(statement, [signer])));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const members = (bytes: Uint8Array): Members => JSON.parse(new TextDecoder().decode(bytes)) as Members;
const bytesOf = (envelope: Members): Uint8Array => canonicalBytes(envelope);

/** Whether @sigstore/verify takes the envelope for signed by our public key, without transparency logs. */
function sigstoreAccepts(envelope: Members): boolean {
  try {
    sigstoreVerifies(envelope);
    return true;
  } catch {
    return false;
  }
}

function sigstoreVerifies(envelope: Members): void {
  const bundle = bundleFromJSON({
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: 'ours' }, tlogEntries: [] },
    dsseEnvelope: envelope,
  });
  const rawBytes = createPublicKey(publicKeyPem(signer.point)).export({ type: 'spki', format: 'der' });
  const finder = () => ({
    publicKey: createPublicKey({ key: rawBytes, format: 'der', type: 'spki' }),
    validFor: () => true,
  });
  const trust = toTrustMaterial(
    { mediaType: '', certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] },
    finder,
  );
  const verifier = new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
  verifier.verify(toSignedEntity(bundle));
}

const weAccept = (envelope: Members): boolean =>
  verifyDsse(bytesOf(envelope), { asOfMs: NOW, trust: makeTrust(signer), manifest }).verdict === 'valid';

describe('what we sign', () => {
  it('is signed for @sigstore/verify too', () => {
    expect(sigstoreAccepts(ours)).toBe(true);
    expect(weAccept(ours)).toBe(true);
  });

  it('is signed for the openssl command too', async () => {
    await writeFile(at('pae'), preAuthEncoding(ours.payloadType, Buffer.from(ours.payload, 'base64')));
    await writeFile(at('sig'), Buffer.from(ours.signatures[0]!.sig, 'base64'));
    await writeFile(at('pub.pem'), publicKeyPem(signer.point));
    const said = execFileSync('openssl', [
      'dgst',
      '-sha256',
      '-verify',
      at('pub.pem'),
      '-signature',
      at('sig'),
      at('pae'),
    ]);
    expect(said.toString()).toContain('Verified OK');
  });

  const changes: [string, (envelope: Members) => void][] = [
    [
      'payload',
      (envelope) =>
        (envelope.payload = Buffer.from(`${Buffer.from(envelope.payload, 'base64').toString()} `).toString(
          'base64',
        )),
    ],
    ['payloadType', (envelope) => (envelope.payloadType = 'application/json')],
    [
      'sig',
      (envelope) =>
        (envelope.signatures[0]!.sig = Buffer.from(flip(envelope.signatures[0]!.sig)).toString('base64')),
    ],
    ['signatures', (envelope) => (envelope.signatures = [])],
  ];
  it.each(changes)('is refused by both once its %s was changed', (_, change) => {
    const copy = structuredClone(ours);
    change(copy);
    expect(sigstoreAccepts(copy)).toBe(false);
    expect(weAccept(copy)).toBe(false);
  });

  it('is refused by us alone under another key id, which is a mere hint to others', () => {
    const copy = structuredClone(ours);
    copy.signatures[0]!.keyid = 'other';
    expect(sigstoreAccepts(copy)).toBe(true);
    expect(weAccept(copy)).toBe(false);
  });
});

const flip = (base64: string): Uint8Array => {
  const bytes = Buffer.from(base64, 'base64');
  bytes[bytes.length - 1]! ^= 1;
  return bytes;
};

const signedByOpenssl = async (payload: Buffer): Promise<Members> => {
  await writeFile(at('theirs'), sigstoreDsse.preAuthEncoding(IN_TOTO_PAYLOAD_TYPE, payload));
  const der = execFileSync('openssl', ['dgst', '-sha256', '-sign', at('key.pem'), at('theirs')]);
  return {
    payload: payload.toString('base64'),
    payloadType: IN_TOTO_PAYLOAD_TYPE,
    signatures: [{ keyid: signer.keyId, sig: der.toString('base64') }],
  };
};
const theirs = (): object =>
  inTotoStatement(statement.subject.manifestDigest, statement.predicateType, statement);

describe('what others sign', () => {
  it('is signed for us too: bytes by @sigstore/core, signature by openssl, the payload formatted as it likes', async () => {
    for (const text of [JSON.stringify(theirs()), JSON.stringify(theirs(), null, 2)]) {
      const envelope = await signedByOpenssl(Buffer.from(text));
      expect(weAccept(envelope)).toBe(true);
      expect(sigstoreAccepts(envelope)).toBe(true);
    }
  });

  it('is refused when it is about something else, however well it is signed', async () => {
    const other = { ...theirs(), predicateType: 'https://slsa.dev/provenance/v1' };
    const envelope = await signedByOpenssl(Buffer.from(JSON.stringify(other)));
    expect(sigstoreAccepts(envelope)).toBe(true);
    const report = verifyDsse(bytesOf(envelope), { asOfMs: NOW, trust: makeTrust(signer), manifest });
    expect(errorsOf(report)).toEqual(['attestation.PREDICATE_UNSUPPORTED']);
  });

  it('has the same bytes to sign, whatever the payload', () => {
    for (const text of ['', '{}', 'ä€'.repeat(100)]) {
      const payload = Buffer.from(text);
      expect(Buffer.from(preAuthEncoding(IN_TOTO_PAYLOAD_TYPE, payload))).toEqual(
        sigstoreDsse.preAuthEncoding(IN_TOTO_PAYLOAD_TYPE, payload),
      );
    }
  });
});
