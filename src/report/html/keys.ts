import { defined, isoTime } from '../../bytes/index.ts';
import { thumbprintOf, type TrustedKey, type TrustStore } from '../../trust/index.ts';
import type { BundleReport, ExportReport } from '../../verify/index.ts';
import { counted } from '../text/page.ts';
import { countSigners } from '../text/tally.ts';
import { quote, renderTable } from './blocks.ts';
import { signersIn, spanOf } from './cover.ts';
import { html, type Markup } from './markup.ts';
import { type KeyRow, renderTimeline } from './timeline.ts';

/** The trust store of a report, if that is the one that was given. */
export const matchingTrust = (
  { trust: used }: Pick<ExportReport, 'trust'>,
  trust: TrustStore | undefined,
): TrustStore | undefined => (used?.fingerprint === trust?.fingerprint ? trust : undefined);

/** The keys that signed, and then the other keys of the trust store. */
export function keyRowsOf(
  report: ExportReport | BundleReport,
  trust: TrustStore | undefined,
): readonly KeyRow[] {
  const signers = signersIn(report);
  const used = countSigners(signers).map(({ issuer, keyId }) => {
    const isSame = (other: { issuer: string; keyId: string }): boolean =>
      other.issuer === issuer && other.keyId === keyId;
    const issuedAtMs = signers.filter(isSame).map((signer) => signer.issuedAtMs);
    return defined({ issuer, keyId, issuedAtMs, key: trust?.find(issuer, keyId) });
  });
  const others = (trust?.keys ?? []).filter(
    ({ issuer, keyId }) => !used.some((row) => row.issuer === issuer && row.keyId === keyId),
  );
  return [...used, ...others.map((key) => ({ issuer: key.issuer, keyId: key.keyId, key, issuedAtMs: [] }))];
}

/** Keys with their fingerprints, and a timeline of what they signed against their validity. */
export function renderKeys(rows: readonly KeyRow[], asOfMs: number): Markup {
  if (rows.length === 0) return html`<p>No trusted key signed anything, and no trust store was given.</p>`;
  const signed = rows.filter(({ issuedAtMs }) => issuedAtMs.length > 0);
  return html`${renderTable(
    'Keys with their fingerprints',
    [['Issuer'], ['Key'], ['Valid'], ['Signed']],
    rows.map(keyCells),
  )}${signed.length === 0 ? undefined : renderTimeline(signed, asOfMs)}`;
}

const keyCells = ({ issuer, keyId, key, issuedAtMs }: KeyRow) => [
  quote(issuer),
  html`${quote(keyId)}${key === undefined ? undefined : fingerprintWords(keyId, thumbprintOf(key))}`,
  key === undefined ? 'not known here' : validityWords(key),
  issuedAtMs.length === 0
    ? 'nothing here'
    : `${counted(issuedAtMs.length, 'statement')}, ${spanOf(Math.min(...issuedAtMs), Math.max(...issuedAtMs))}`,
];

/** The SHA-256 of the public key, where the key has another name. */
const fingerprintWords = (keyId: string, thumbprint: string): Markup =>
  keyId === thumbprint
    ? html`<br />which is the fingerprint of the public key`
    : html`<br />fingerprint of the public key: ${quote(thumbprint)}`;

export function validityWords({ notBeforeMs, notAfterMs, revokedAtMs, compromised }: TrustedKey): string {
  const from = notBeforeMs === undefined ? [] : [`from ${isoTime(notBeforeMs)}`];
  const until = notAfterMs === undefined ? [] : [`until ${isoTime(notAfterMs)}`];
  const effect = compromised ? 'nothing that it signed is valid' : 'earlier signatures stay valid';
  const revoked = revokedAtMs === undefined ? [] : [`revoked ${isoTime(revokedAtMs)}: ${effect}`];
  const words = [...from, ...until, ...revoked];
  return words.length === 0 ? 'without limit' : words.join(', ');
}
