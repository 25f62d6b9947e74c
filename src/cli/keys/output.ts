import { isoTime } from '../../bytes/text/wording.ts';
import { findCompromise } from '../../trust/check-key.ts';
import { certificateIdOf, type TrustedCertificate } from '../../trust/certificate.ts';
import type { TrustedKey } from '../../trust/trusted-key.ts';
import type { TrustStore } from '../../trust/store.ts';
import { alignFacts } from '../shared/output/product.ts';

export function formatKeys(store: TrustStore): string {
  const blocks = store.keys.map((key) =>
    alignFacts([
      ['issuer', key.issuer],
      ['key', key.keyId],
      ['valid for', key.purposes.join(', ')],
      ['period', formatValidity(key)],
      ['only for', formatScope(key)],
      ['verifies', formatCompromise(store, key)],
    ]),
  );
  const certificates = (store.certificates ?? []).map((row) =>
    alignFacts([
      ['issuer', row.issuer],
      ['certificate', certificateIdOf(row)],
      ['valid for', 'timestamp'],
      ['period', formatValidity(row)],
    ]),
  );
  return [...blocks, ...certificates, alignFacts([['fingerprint', store.fingerprint]])].join('\n');
}

/** Says that a key verifies nothing, because another name lists it as compromised. */
export function formatCompromise(store: TrustStore, key: TrustedKey): string | undefined {
  const other = findOtherCompromise(store, key);
  return other && `nothing: the same key is compromised as ${other.keyId} of ${other.issuer}`;
}

/** Finds the other name under which a key is compromised; `undefined` if it is itself, or not at all. */
export function findOtherCompromise(store: TrustStore, key: TrustedKey): TrustedKey | undefined {
  const other = findCompromise(store, key);
  return other === key ? undefined : other;
}

function formatValidity({
  notBeforeMs,
  notAfterMs,
  revokedAtMs,
  compromised,
  fromCertificate,
}: Omit<TrustedCertificate, 'certificate'> & Pick<TrustedKey, 'fromCertificate'>): string {
  const words = [
    ...(notBeforeMs === undefined ? [] : [`from ${formatDay(notBeforeMs)}`]),
    ...(notAfterMs === undefined ? [] : [`to ${formatDay(notAfterMs)}`]),
  ];
  if (revokedAtMs !== undefined)
    words.push(
      `revoked ${formatDay(revokedAtMs)}, ${compromised ? 'compromised' : 'earlier signatures stay valid'}`,
    );
  if (words.length === 0) words.push('always');
  return `${words.join(' ')}${fromCertificate === true ? ' (certificate)' : ''}`;
}

const formatDay = (atMs: number): string => isoTime(atMs).replace('T00:00:00.000Z', '');
const formatScope = ({ projects = [], organizations = [] }: TrustedKey): string | undefined =>
  projects.length + organizations.length === 0 ? undefined : [...organizations, ...projects].join(', ');

/** What happens to another name of a key that is retired. */
export const describeAlias = (compromised: boolean, { keyId, issuer }: TrustedKey): string =>
  `the same key ${compromised ? 'verifies nothing' : 'stays trusted'} as ${keyId} of ${issuer}`;
