import { BYTES, BYTES_OR_TEXT, checkArguments } from '../../bytes/arguments.ts';
import { concatBytes } from '../../bytes/async.ts';
import { type DerElement, derTag, readDer, readDerItems } from '../../bytes/der.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import { fromHex, toHex } from '../../bytes/text/encoding.ts';
import { DrillproofError } from '../../errors.ts';
import { faultError } from '../faults.ts';
import { readEcJwk } from './jwk.ts';
import { formatPem, isPrivateLabel, openKeyFile, type PemBlock, decodePem } from './key-file.ts';
import { platform } from '#platform';

const EC_PUBLIC_KEY = '2a8648ce3d0201';
const P_256 = '2a8648ce3d030107';

// Names of the algorithms that people try, for the message of the refusal (RFC 5480, RFC 8017, RFC 8410, SEC 2).
const ALGORITHMS = new Map([
  ['2a864886f70d010101', 'RSA'],
  ['2a864886f70d01010a', 'RSA-PSS'],
  ['2a8648ce380401', 'DSA'],
  ['2b8104010c', 'ECDH'],
  ['2b656e', 'X25519'],
  ['2b656f', 'X448'],
  ['2b6570', 'Ed25519'],
  ['2b6571', 'Ed448'],
]);
const CURVES = new Map([
  ['2b8104000a', 'secp256k1'],
  ['2b81040022', 'P-384'],
  ['2b81040023', 'P-521'],
]);

/** DER of everything in the SubjectPublicKeyInfo of a P-256 key before its uncompressed point (RFC 5480 §2). */
const PREFIX = fromHex('3059301306072a8648ce3d020106082a8648ce3d030107034200');

/** The DER SubjectPublicKeyInfo of an uncompressed point. */
export function writeSpki(point: Uint8Array): Uint8Array {
  if (point.length !== 65) throw new TypeError('a point is 65 bytes, uncompressed');
  return concatBytes([PREFIX, point]);
}

/**
 * The uncompressed point of a DER SubjectPublicKeyInfo of a P-256 key, whose own point may be compressed.
 * @throws DrillproofError `trust.KEY_INVALID`, or `trust.KEY_UNSUPPORTED` for any other algorithm or curve
 */
export function readSpki(der: Uint8Array): Uint8Array {
  const { identifier, key } = openSpki(der);
  assertP256(identifier);
  if (key[0] !== 0) throw spkiError('the key is not a whole number of bytes');
  return platform.p256.uncompress(key.subarray(1));
}

/** The elements of the AlgorithmIdentifier, and the contents of the BIT STRING that is the key. */
function openSpki(der: Uint8Array): { identifier: readonly DerElement[]; key: Uint8Array } {
  try {
    const [algorithm, key, ...more] = readSequence(readDer(der));
    if (algorithm === undefined || key?.tag !== derTag.bitString || more.length > 0) {
      throw spkiError('its elements are not an algorithm and a key');
    }
    return { identifier: readSequence(algorithm), key: key.contents };
  } catch (cause) {
    if (!(cause instanceof DrillproofError) || cause.code === 'trust.KEY_INVALID') throw cause;
    throw spkiError(cause.message, cause);
  }
}

function readSequence(element: DerElement): DerElement[] {
  if (element.tag !== derTag.sequence) throw spkiError('an element is not a SEQUENCE');
  return readDerItems(element.contents);
}

function assertP256([algorithm, parameters, ...more]: readonly DerElement[]): void {
  if (algorithm?.tag !== derTag.oid || more.length > 0) throw spkiError('its algorithm is not an identifier');
  const name = toHex(algorithm.contents);
  if (name !== EC_PUBLIC_KEY) throw unsupportedError(ALGORITHMS.get(name) ?? `algorithm ${name}`);
  if (parameters?.tag !== derTag.oid) throw unsupportedError('EC on a curve that is not named');
  const curve = toHex(parameters.contents);
  if (curve !== P_256) throw unsupportedError(`EC on ${CURVES.get(curve) ?? `curve ${curve}`}`);
}

const spkiError = (why: string, cause?: unknown): DrillproofError =>
  new DrillproofError('trust.KEY_INVALID', `not a SubjectPublicKeyInfo: ${why}`, { cause });
const unsupportedError = (kind: string): DrillproofError =>
  new DrillproofError('trust.KEY_UNSUPPORTED', `the key is ${kind}`);

/**
 * A public key that verifies (formats §2): `point` is uncompressed (65 bytes), `keyId` is by default the id that
 * `keyIdOf` derives.
 */
export type VerifyingKey = { readonly keyId: string; readonly point: Uint8Array };

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

/** The key of an uncompressed point that is known to be on the curve. */
export const buildVerifyingKey = (point: Uint8Array): VerifyingKey => ({ keyId: keyIdOf(point), point });

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
  if (file.kind === 'pem') return buildVerifyingKey(readSpki(decodePem(findPublicBlock(file.blocks))));
  const read = readEcJwk(file.jwk, 'verify');
  if ('faults' in read) throw faultError(read.faults);
  return buildVerifyingKey(read.point);
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
