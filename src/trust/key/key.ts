import { BYTES, BYTES_OR_TEXT, checkArguments, type Digest, digestOf } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { faultError } from '../faults.ts';
import { ecJwk, readEcJwk, type EcJwk } from './jwk.ts';
import { formatPem, isPrivateLabel, openKeyFile, pemBytes, type PemBlock } from './key-file.ts';
import { readSpki, writeSpki } from './spki.ts';

/**
 * A public key that verifies (formats §2): `point` is uncompressed (65 bytes), `keyId` is the id that `keyIdOf`
 * derives.
 */
export type VerifyingKey = { readonly keyId: string; readonly point: Uint8Array };

/** A public key as a JWK for ES256 signatures, named by its own key id. */
export type PublicJwk = EcJwk & { readonly kid: string; readonly use: 'sig'; readonly alg: 'ES256' };

const PUBLIC_KEY = 'PUBLIC KEY';

/**
 * The default id of a public key: the SHA-256 of its DER SubjectPublicKeyInfo with the point uncompressed (formats §2).
 * @param point the public key, uncompressed, 65 bytes
 * @throws TypeError for anything that is not 65 bytes
 * @example
 * const keyId = keyIdOf(signer.point);
 */
export function keyIdOf(point: Uint8Array): Digest {
  checkArguments({ point: BYTES }, { point });
  return digestOf(writeSpki(point));
}

/**
 * A public key as PEM, "PUBLIC KEY", which `openssl dgst -sha256 -verify` reads (formats §2).
 * @param point the public key, uncompressed, 65 bytes
 * @throws TypeError for anything that is not 65 bytes
 * @example
 * await writeFile('signer.pem', publicKeyPem(signer.point));
 */
export function publicKeyPem(point: Uint8Array): string {
  checkArguments({ point: BYTES }, { point });
  return formatPem(PUBLIC_KEY, writeSpki(point));
}

/** The key as a JWK (RFC 7517 §4, RFC 7518 §6.2). */
export const publicJwk = (point: Uint8Array): PublicJwk => ({
  ...ecJwk(point),
  kid: keyIdOf(point),
  use: 'sig',
  alg: 'ES256',
});

/** The key of an uncompressed point that is known to be on the curve. */
export const verifyingKey = (point: Uint8Array): VerifyingKey => ({ keyId: keyIdOf(point), point });

/**
 * Reads one P-256 public key: PEM with one block "PUBLIC KEY", or one JWK (formats §3). A `kid` in the JWK is not used
 * as the key id: a trust store names keys.
 * @throws DrillproofError `trust.KEY_PRIVATE` for a private key in any form, `trust.KEY_UNSUPPORTED` for another
 *   algorithm, curve, use or operation, `trust.KEY_INVALID` for everything else
 * @example
 * const { keyId } = importPublicKey(await readFile('signer.pem'));
 */
export function importPublicKey(input: Uint8Array | string): VerifyingKey {
  checkArguments({ input: BYTES_OR_TEXT }, { input });
  const file = openKeyFile(input);
  if (file.kind === 'pem') return verifyingKey(readSpki(pemBytes(findPublicBlock(file.blocks))));
  const read = readEcJwk(file.jwk, 'verify');
  if ('faults' in read) throw faultError(read.faults);
  return verifyingKey(read.point);
}

function findPublicBlock(blocks: readonly PemBlock[]): PemBlock {
  const secret = blocks.find((block) => isPrivateLabel(block.label));
  if (secret !== undefined)
    throw new DrillproofError('trust.KEY_PRIVATE', `the file holds "${secret.label}"`);
  const [block, ...more] = blocks;
  if (block === undefined || more.length > 0) {
    throw new DrillproofError('trust.KEY_INVALID', `the file holds ${blocks.length} PEM blocks, not one`);
  }
  if (block.label !== PUBLIC_KEY) {
    throw new DrillproofError(
      'trust.KEY_UNSUPPORTED',
      `the file holds "${block.label}", not "${PUBLIC_KEY}"`,
    );
  }
  return block;
}
