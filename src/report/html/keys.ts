import { defined, isoTime } from '../../bytes/index.ts';
import { thumbprintOf, type TrustedKey, type TrustStore } from '../../trust/index.ts';
import type { ExportReport, SignedBy } from '../../verify/index.ts';
import { counted } from '../text/page.ts';
import { groupBy } from '../text/tally.ts';
import { quote, renderTable } from './blocks.ts';
import { formatTimeRange } from './cover.ts';
import { html, type Markup } from './markup.ts';
import { type KeyRow, renderTimeline } from './timeline.ts';

/** The trust store of a report, if that is the one that was given. */
export const matchingTrust = (
  { trust: used }: Pick<ExportReport, 'trust'>,
  trust: TrustStore | undefined,
): TrustStore | undefined => (used?.fingerprint === trust?.fingerprint ? trust : undefined);

/** The keys that signed, and then the other keys of the trust store. */
export function keyRowsOf(signers: readonly SignedBy[], trust: TrustStore | undefined): readonly KeyRow[] {
  const groups = groupBy(signers, nameOf);
  const used = [...groups.values()].map((group) => {
    const [{ issuer, keyId }] = group;
    const issuedAtMs = group.map((signer) => signer.issuedAtMs);
    return defined({ issuer, keyId, issuedAtMs, key: trust?.find(issuer, keyId) });
  });
  const others = (trust?.keys ?? []).filter((key) => !groups.has(nameOf(key)));
  return [...used, ...others.map((key) => ({ issuer: key.issuer, keyId: key.keyId, key, issuedAtMs: [] }))];
}

const nameOf = ({ issuer, keyId }: Pick<SignedBy, 'issuer' | 'keyId'>): string =>
  JSON.stringify([issuer, keyId]);

/** Keys with their fingerprints, and a timeline of what they signed against their validity. */
export function renderKeys(rows: readonly KeyRow[], asOfMs: number): Markup {
  if (rows.length === 0) return html`<p>No trusted key signed anything, and no trust store was given.</p>`;
  const signed = rows.filter(({ issuedAtMs }) => issuedAtMs.length > 0);
  return html`${renderTable(
    'Keys with their fingerprints',
    [['Issuer'], ['Key'], ['Valid'], ['Signed']],
    rows.map((row) => keyCells(row, asOfMs)),
  )}${signed.length === 0 ? undefined : renderTimeline(signed, asOfMs)}`;
}

const keyCells = ({ issuer, keyId, key, issuedAtMs }: KeyRow, asOfMs: number) => [
  quote(issuer),
  html`${quote(keyId)}${key === undefined ? undefined : fingerprintWords(keyId, thumbprintOf(key))}`,
  key === undefined ? 'not known here' : validityWords(key, asOfMs),
  issuedAtMs.length === 0
    ? 'nothing here'
    : `${counted(issuedAtMs.length, 'statement')}, ${formatTimeRange(Math.min(...issuedAtMs), Math.max(...issuedAtMs))}`,
];

/** The SHA-256 of the public key, where the key has another name. */
const fingerprintWords = (keyId: string, thumbprint: string): Markup =>
  keyId === thumbprint
    ? html`<br />which is the fingerprint of the public key`
    : html`<br />fingerprint of the public key: ${quote(thumbprint)}`;

const DAY_MS = 86_400_000;

function validityWords(
  { notBeforeMs, notAfterMs, revokedAtMs, compromised }: TrustedKey,
  asOfMs: number,
): string {
  const from = notBeforeMs === undefined ? [] : [`from ${isoTime(notBeforeMs)}`];
  const until =
    notAfterMs === undefined ? [] : [`until ${isoTime(notAfterMs)}`, expiryWords(notAfterMs - asOfMs)];
  const effect = compromised ? 'nothing that it signed is valid' : 'earlier signatures stay valid';
  const revoked = revokedAtMs === undefined ? [] : [`revoked ${isoTime(revokedAtMs)}: ${effect}`];
  const words = [...from, ...until, ...revoked];
  return words.length === 0 ? 'without limit' : words.join(', ');
}

const expiryWords = (leftMs: number): string =>
  leftMs < 0 ? 'expired' : `${counted(Math.floor(leftMs / DAY_MS), 'day')} left`;
