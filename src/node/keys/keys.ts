import { BYTES, BYTES_OR_TEXT, checkArguments } from '../../bytes/arguments.ts';
import { fromBase64url, toBase64url } from '../../bytes/text/encoding.ts';
import type { JsonObject } from '../../bytes/json/parse.ts';
import { readDer } from '../../bytes/der.ts';
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { platform } from '#platform';
import { DrillproofError } from '../../errors.ts';
import { createSigner, type Signer } from '../../trust/key/signer.ts';
import { formatEcJwk, readEcJwk, readFieldElement } from '../../trust/key/jwk.ts';
import { faultError, type KeyFault } from '../../trust/faults.ts';
import { importPublicKey, readSpki, buildVerifyingKey, type VerifyingKey } from '../../trust/key/key.ts';
import { importPublicKeys } from '../../trust/key-set.ts';
import {
  isPrivateLabel,
  openKeyFile,
  openKeySetFile,
  type PemBlock,
  decodePem,
} from '../../trust/key/key-file.ts';

/** A private key, 32 bytes big-endian, and the signer that uses it (formats §2). */
export type SigningKey = { readonly scalar: Uint8Array; readonly signer: Signer };

/** A public key and, if it is from a certificate, the validity of the certificate. No chain is checked (formats §3). */
export type ReadVerifyingKey = VerifyingKey & {
  readonly notBeforeMs?: number;
  readonly notAfterMs?: number;
  readonly fromCertificate?: true;
};

/**
 * Generates a P-256 private key with the random source of the system (formats §2).
 * @example
 * const { scalar, signer } = generateSigningKey();
 * await writeFile('private.pem', writeSigningKeyPem(scalar), { mode: 0o600 });
 * await writeFile('public.pem', publicKeyPem(signer.point));
 */
export function generateSigningKey(): SigningKey {
  return createSigningKey(platform.p256.generateScalar());
}

/**
 * Formats a private key as unencrypted PKCS#8 in PEM, "PRIVATE KEY" (formats §2).
 * @param scalar the private key, 32 bytes big-endian
 * @throws DrillproofError `trust.KEY_INVALID`; TypeError for anything that is not a Uint8Array
 * @example
 * const pem = writeSigningKeyPem(generateSigningKey().scalar);
 * await writeFile('private.pem', pem, { mode: 0o600 });
 */
export function writeSigningKeyPem(scalar: Uint8Array): string {
  checkArguments({ scalar: BYTES }, { scalar });
  const jwk = { ...formatEcJwk(platform.p256.signer(scalar).point), d: toBase64url(scalar) };
  return createPrivateKey({ key: jwk, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' }).toString();
}

/**
 * Reads a P-256 private key: PEM as PKCS#8 ("PRIVATE KEY") or SEC 1 ("EC PRIVATE KEY", with or without the "EC
 * PARAMETERS" that openssl writes before it), or a private JWK (formats §2).
 * @throws DrillproofError `trust.KEY_PUBLIC` for a public key or certificate, `trust.KEY_ENCRYPTED`,
 *   `trust.KEY_UNSUPPORTED` for another kind of key, `trust.KEY_INVALID` for everything else
 * @example
 * const { signer } = readSigningKey(await readFile('private.pem'));
 */
export function readSigningKey(input: Uint8Array | string): SigningKey {
  checkArguments({ input: BYTES_OR_TEXT }, { input });
  const file = openKeyFile(input);
  const { scalar, point } = file.kind === 'jwk' ? readJwk(file.jwk) : readPem(file.blocks);
  const key = createSigningKey(scalar);
  // OpenSSL does not check the public half in the file, and would sign with the id of another key.
  if (Buffer.compare(point, key.signer.point) !== 0) throw keyError('its public half belongs to another key');
  return key;
}

/**
 * Reads a P-256 public key as `importPublicKey` does, or an X.509 certificate in PEM, of which only the key and the
 * validity (ms since 1970) are used; its chain is not checked (formats §3).
 * @throws as `importPublicKey`
 * @example
 * const { keyId, point } = readVerifyingKey(await readFile('certificate.pem'));
 */
export function readVerifyingKey(input: Uint8Array | string): ReadVerifyingKey {
  checkArguments({ input: BYTES_OR_TEXT }, { input });
  const file = openKeyFile(input);
  const [block, ...more] = file.kind === 'pem' ? file.blocks : [];
  return block?.label === 'CERTIFICATE' && more.length === 0
    ? readCertificate(block)
    : importPublicKey(input);
}

/**
 * Reads the public keys of an issuer as `importPublicKeys` does, or an X.509 certificate in PEM, of which only the key
 * and the validity are used; nothing else is checked. Never empty.
 * @throws DrillproofError as `importPublicKeys`
 */
export function readVerifyingKeys(input: Uint8Array | string): readonly ReadVerifyingKey[] {
  const { kind } = openKeySetFile(input);
  return kind === 'pem' ? [readVerifyingKey(input)] : importPublicKeys(input);
}

/**
 * Reads the X.509 certificates of a PEM file, as DER. Nothing but their encoding is checked.
 * @throws DrillproofError `trust.KEY_INVALID`, `trust.KEY_UNSUPPORTED` for other blocks
 */
export function readCertificates(input: Uint8Array): readonly Uint8Array[] {
  const file = openKeyFile(input);
  const blocks = file.kind === 'pem' ? file.blocks : [];
  const other = blocks.find(({ label }) => label !== 'CERTIFICATE');
  if (blocks.length === 0 || other !== undefined)
    throw kindError(`${other === undefined ? 'a JWK' : `"${other.label}"`}, not a certificate in PEM`);
  return blocks.map((block) => {
    const der = decodePem(block);
    openCertificate(der);
    return der;
  });
}

const createSigningKey = (scalar: Uint8Array): SigningKey => ({ scalar, signer: createSigner(scalar) });

type Halves = { readonly scalar: Uint8Array; readonly point: Uint8Array };

function readJwk(jwk: JsonObject): Halves {
  if (!Object.hasOwn(jwk, 'd'))
    throw new DrillproofError('trust.KEY_PUBLIC', 'the JWK has no private member');
  const read = readEcJwk(jwk, 'sign');
  if ('faults' in read) throw faultError(read.faults);
  const faults: KeyFault[] = [];
  const scalar = readFieldElement(jwk['d'], '/d', faults);
  if (scalar === undefined) throw faultError(faults);
  return { scalar, point: read.point };
}

const FORMATS: ReadonlyMap<string, 'pkcs8' | 'sec1'> = new Map([
  ['PRIVATE KEY', 'pkcs8'],
  ['EC PRIVATE KEY', 'sec1'],
]);
/** The "EC PARAMETERS" of openssl for P-256: its object identifier. */
const P_256_PARAMETERS = 'BggqhkjOPQMBBw==';

function readPem(blocks: readonly PemBlock[]): Halves {
  const block = selectPrivateBlock(blocks);
  if (block.label.startsWith('ENCRYPTED') || block.body.includes('ENCRYPTED')) {
    throw new DrillproofError('trust.KEY_ENCRYPTED', `"${block.label}" is encrypted with a passphrase`);
  }
  const type = FORMATS.get(block.label);
  if (type === undefined) throw kindError(`"${block.label}"`);
  return readKeyObject(openPrivateKey(decodePem(block), type));
}

function selectPrivateBlock(blocks: readonly PemBlock[]): PemBlock {
  if (!blocks.some((block) => isPrivateLabel(block.label))) {
    throw new DrillproofError(
      'trust.KEY_PUBLIC',
      `the file contains "${blocks[0]?.label ?? ''}" but no private key`,
    );
  }
  const [first, ...others] = blocks;
  const parameters = first?.label === 'EC PARAMETERS' ? first : undefined;
  if (parameters !== undefined && parameters.body !== P_256_PARAMETERS)
    throw kindError('EC on another curve');
  const [block, ...more] = parameters === undefined ? blocks : others;
  if (block === undefined || more.length > 0) throw keyError('more than one key in the file');
  return block;
}

function openPrivateKey(der: Uint8Array, type: 'pkcs8' | 'sec1'): KeyObject {
  try {
    readDer(der); // OpenSSL ignores bytes after the end
    return createPrivateKey({ key: Buffer.from(der), format: 'der', type });
  } catch (cause) {
    throw keyError('its contents do not decode', cause);
  }
}

function readKeyObject(key: KeyObject): Halves {
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (key.asymmetricKeyType !== 'ec') throw kindError(key.asymmetricKeyType ?? 'of an unknown kind');
  if (curve !== 'prime256v1') throw kindError(`EC on ${curve ?? 'a curve that is not named'}`);
  const { x = '', y = '', d = '' } = key.export({ format: 'jwk' });
  return { scalar: fromBase64url(d), point: Uint8Array.of(4, ...fromBase64url(x), ...fromBase64url(y)) };
}

function readCertificate(block: PemBlock): ReadVerifyingKey {
  const { validFrom, validTo, spki } = openCertificate(decodePem(block));
  const notBeforeMs = Date.parse(validFrom);
  const notAfterMs = Date.parse(validTo);
  if (!(notBeforeMs <= notAfterMs)) throw keyError('the certificate has no readable validity');
  return { ...buildVerifyingKey(readSpki(spki)), notBeforeMs, notAfterMs, fromCertificate: true };
}

function openCertificate(der: Uint8Array): { validFrom: string; validTo: string; spki: Uint8Array } {
  try {
    readDer(der);
    const { validFrom, validTo, publicKey } = new X509Certificate(der);
    return { validFrom, validTo, spki: publicKey.export({ type: 'spki', format: 'der' }) };
  } catch (cause) {
    throw keyError('the certificate does not decode', cause);
  }
}

const keyError = (why: string, cause?: unknown): DrillproofError =>
  new DrillproofError('trust.KEY_INVALID', `cannot read the key: ${why}`, { cause });
const kindError = (kind: string): DrillproofError =>
  new DrillproofError('trust.KEY_UNSUPPORTED', `the key is ${kind}`);
