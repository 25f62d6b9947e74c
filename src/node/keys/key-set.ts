import { importPublicKeys, type NamedKey, openKeySetFile } from '../../trust/index.ts';
import { readVerifyingKey, type ReadVerifyingKey } from './keys.ts';

/** A public key under the name that its owner gave it, and the validity of the certificate that it is from, if any. */
export type ReadNamedKey = NamedKey &
  Pick<ReadVerifyingKey, 'notBeforeMs' | 'notAfterMs' | 'fromCertificate'>;

/**
 * Reads the public keys that an issuer publishes: what `importPublicKeys` reads, or one X.509 certificate in PEM, of
 * which only the key and the validity are used; nothing else is checked. Never empty.
 * @throws DrillproofError as `importPublicKeys` does
 */
export function readVerifyingKeys(input: Uint8Array | string): readonly ReadNamedKey[] {
  const { kind } = openKeySetFile(input);
  return kind === 'pem' ? [readVerifyingKey(input)] : importPublicKeys(input);
}
