import { execFileSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleFromJSON } from '@sigstore/bundle';
import { dsse } from '@sigstore/core';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { readSigningKey } from '../../src/node/keys/keys.ts';
import { encodePreAuth } from '../../src/trust/dsse.ts';
import { publicKeyPem } from '../../src/trust/key/key.ts';
import type { Signer } from '../../src/trust/key/signer.ts';
import { writeFiles } from './folder.ts';

/** A DSSE envelope as its members. */
export type Envelope = { payload: string; payloadType: string; signatures: { keyid: string; sig: string }[] };

export const parseEnvelope = (bytes: Uint8Array): Envelope =>
  JSON.parse(new TextDecoder().decode(bytes)) as Envelope;

/** Makes a key with openssl in a folder, as `key.pem`. */
export function makeOpensslKey(folder: string): Signer {
  const key = join(folder, 'key.pem');
  execFileSync('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key]);
  return readSigningKey(execFileSync('openssl', ['pkey', '-in', key])).signer;
}

/** Verifies an envelope with @sigstore/verify, without transparency logs. */
export function verifyWithSigstore(envelope: Envelope, { point }: Signer): boolean {
  const publicKey = createPublicKey(publicKeyPem(point));
  const trust = toTrustMaterial(
    { mediaType: '', certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] },
    () => ({ publicKey, validFor: () => true }),
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

/** Verifies the signature of an envelope with the openssl command, whose files are in a folder. */
export async function verifyWithOpenssl(
  { payload, payloadType, signatures }: Envelope,
  { point }: Signer,
  folder: string,
): Promise<boolean> {
  await writeFiles(folder, {
    pae: encodePreAuth(payloadType, Buffer.from(payload, 'base64')),
    sig: Buffer.from(signatures[0]?.sig ?? '', 'base64'),
    'pub.pem': publicKeyPem(point),
  });
  try {
    const args = ['dgst', '-sha256', '-verify', 'pub.pem', '-signature', 'sig', 'pae'];
    return execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' }).toString().includes('Verified OK');
  } catch {
    return false;
  }
}

/** Signs a payload with openssl and the `key.pem` of a folder; the bytes to sign come from @sigstore/core. */
export async function signWithOpenssl(
  payload: Buffer,
  payloadType: string,
  { keyId }: Signer,
  folder: string,
): Promise<Envelope> {
  const file = join(folder, 'theirs');
  await writeFile(file, dsse.preAuthEncoding(payloadType, payload));
  const der = execFileSync('openssl', ['dgst', '-sha256', '-sign', join(folder, 'key.pem'), file]);
  return {
    payload: payload.toString('base64'),
    payloadType,
    signatures: [{ keyid: keyId, sig: der.toString('base64') }],
  };
}
