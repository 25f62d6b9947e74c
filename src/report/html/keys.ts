import { defined } from '../../bytes/arguments.ts';
import { countNoun, isoTime } from '../../bytes/text/wording.ts';
import { findCompromise } from '../../trust/check-key.ts';
import { thumbprintOf, type TrustedKey } from '../../trust/trusted-key.ts';
import type { TrustStore } from '../../trust/store.ts';
import type { ExportReport, SignedBy } from '../../verify/report.ts';
import { clipEnd } from '../printable.ts';
import type { Signed } from './cover.ts';
import { groupBy } from '../../bytes/async.ts';
import { type ItemColumn, quote, renderItems, renderTime, renderTimeRange } from './blocks.ts';
import { html, type Markup, type Piece } from './document.ts';

/** A key on a page: its issuer, its validity, and the times of its signatures. `key` is absent without a trust store. */
type KeyRow = {
  readonly issuer: string;
  readonly keyId: string;
  readonly key?: TrustedKey;
  readonly issuedAtMs: readonly number[];
};

export const selectTrust = (
  { trust: used }: Pick<ExportReport, 'trust'>,
  trust: TrustStore | undefined,
): TrustStore | undefined => (used?.fingerprint === trust?.fingerprint ? trust : undefined);

/** Reports of several days have the same statements, which count once. */
export function buildKeyRows(all: readonly Signed[], trust: TrustStore | undefined): readonly KeyRow[] {
  const signers = [...new Map(all.map((signed) => [keyOf(signed), signed])).values()];
  const groups = groupBy(signers, nameOf);
  const keys = trust === undefined ? [] : trust.keys.map((key) => ({ ...key, ...findEnd(trust, key) }));
  const used = [...groups.values()].map((group) => {
    const [{ issuer, keyId }] = group;
    const issuedAtMs = group.map((signer) => signer.issuedAtMs);
    return defined({ issuer, keyId, issuedAtMs, key: keys.find((key) => nameOf(key) === nameOf(group[0])) });
  });
  const others = keys.filter((key) => !groups.has(nameOf(key)));
  return [...used, ...others.map((key) => ({ issuer: key.issuer, keyId: key.keyId, key, issuedAtMs: [] }))];
}

/** The revocation of a key that is compromised under another name. */
function findEnd(trust: TrustStore, key: TrustedKey): Pick<TrustedKey, 'revokedAtMs' | 'compromised'> {
  const { revokedAtMs, compromised } = findCompromise(trust, key) ?? key;
  return { compromised, ...defined({ revokedAtMs }) };
}

const keyOf = ({ issuer, keyId, issuedAtMs, subject }: Signed): string =>
  JSON.stringify([issuer, keyId, issuedAtMs, subject]);

const nameOf = ({ issuer, keyId }: Pick<SignedBy, 'issuer' | 'keyId'>): string =>
  JSON.stringify([issuer, keyId]);

export function renderKeys(
  rows: readonly KeyRow[],
  asOfMs: number,
  now = 'the time of the verification',
): Markup {
  if (rows.length === 0) return html`<p>No trusted key signed anything, and no trust store was given.</p>`;
  const signed = rows.filter(({ issuedAtMs }) => issuedAtMs.length > 0);
  const columns: readonly ItemColumn<KeyRow>[] = [
    ['Issuer', ({ issuer }) => quote(issuer)],
    ['Key', ({ keyId, key }) => [quote(keyId), key && renderFingerprint(keyId, thumbprintOf(key))]],
    ['Valid', ({ key }) => (key === undefined ? 'unknown' : formatValidity(key, asOfMs))],
    ['Signed', ({ issuedAtMs }) => formatSigned(issuedAtMs)],
  ];
  return html`${renderItems('Keys with their fingerprints', columns, rows)}${signed.length === 0 ? undefined : renderTimeline(signed, asOfMs, now)}`;
}

const renderFingerprint = (keyId: string, thumbprint: string): Markup =>
  keyId === thumbprint
    ? html`<br />which is the fingerprint of the public key`
    : html`<br />fingerprint of the public key: ${quote(thumbprint)}`;

function formatSigned(times: readonly number[]): Piece {
  const sorted = times.toSorted((a, b) => a - b);
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return 'no statement here';
  return [`${countNoun(times.length, 'statement')}, `, renderTimeRange(first, last)];
}

const DAY_MS = 86_400_000;

function formatValidity(key: TrustedKey, asOfMs: number): Piece {
  const { notBeforeMs, notAfterMs, revokedAtMs, compromised } = key;
  const words: Piece[] = [];
  if (notBeforeMs !== undefined) words.push(html`from ${renderTime(notBeforeMs)}`);
  if (notAfterMs !== undefined) {
    const days = Math.floor((notAfterMs - asOfMs) / DAY_MS);
    words.push(
      html`until ${renderTime(notAfterMs)}`,
      days < 0 ? 'expired' : `${countNoun(days, 'day')} left`,
    );
  }
  const effect = compromised ? 'nothing that it signed is valid' : 'earlier signatures stay valid';
  if (revokedAtMs !== undefined) words.push(html`revoked ${renderTime(revokedAtMs)}: ${effect}`);
  return words.length === 0 ? 'without limit' : words.map((word) => html`<div>${word}</div>`);
}

const WIDTH = 720;
const LEFT = 12;
const ROW = 44;
const TOP = 34;
const MAX_ROWS = 40;
const MAX_NAME = 60;

type Scale = (atMs: number) => number;

function renderTimeline(rows: readonly KeyRow[], asOfMs: number, what: string): Markup {
  const shown = rows.slice(0, MAX_ROWS);
  const [firstMs, lastMs] = rangeOf(shown, asOfMs);
  const scale: Scale = (atMs) => {
    const share = (Math.min(Math.max(atMs, firstMs), lastMs) - firstMs) / (lastMs - firstMs);
    return Math.round((LEFT + share * (WIDTH - 2 * LEFT)) * 10) / 10;
  };
  const height = TOP + shown.length * ROW + 8;
  const now = scale(asOfMs);
  return html`<h3>When the keys signed</h3>
    <figure>
      <svg
        class="plot"
        viewBox="0 0 ${WIDTH} ${height}"
        role="img"
        aria-label="Timeline of signatures and of the validity of keys, from ${isoTime(firstMs)} to ${isoTime(lastMs)}. The table of keys has the same facts."
      >
        <line class="axis" x1="${LEFT}" x2="${WIDTH - LEFT}" y1="${TOP - 12}" y2="${TOP - 12}" />
        <text class="soft" x="${LEFT}" y="${TOP - 18}">${dayOf(firstMs)}</text>
        <text class="soft" x="${WIDTH - LEFT}" y="${TOP - 18}" text-anchor="end">${dayOf(lastMs)}</text>
        ${shown.map((row, at) => renderRow(row, TOP + at * ROW, scale))}
        <line class="now" x1="${now}" x2="${now}" y1="${TOP - 12}" y2="${height}" />
      </svg>
      <figcaption class="soft">
        Green: the key is valid. Red, dashed: it is not. Short lines: the times that statements give
        themselves. Long dashed line:
        ${what}.${rows.length > MAX_ROWS ? ` The first ${MAX_ROWS} keys.` : ''}
      </figcaption>
    </figure> `;
}

const dayOf = (atMs: number): string => isoTime(atMs).slice(0, 10);

function rangeOf(rows: readonly KeyRow[], asOfMs: number): readonly [number, number] {
  let first = asOfMs;
  let last = asOfMs;
  for (const atMs of rows.flatMap(({ issuedAtMs }) => issuedAtMs)) {
    first = Math.min(first, atMs);
    last = Math.max(last, atMs);
  }
  const roomMs = Math.max(last - first, DAY_MS);
  const near = (atMs: number | undefined): number[] =>
    atMs !== undefined && atMs >= first - 4 * roomMs && atMs <= last + 4 * roomMs ? [atMs] : [];
  const ends = rows.flatMap(({ key }) => [key?.notBeforeMs, key?.notAfterMs, key?.revokedAtMs].flatMap(near));
  const margin = roomMs / 20;
  return [Math.min(first, ...ends) - margin, Math.max(last, ...ends) + margin];
}

function renderRow({ issuer, keyId, key, issuedAtMs }: KeyRow, top: number, scale: Scale): Markup {
  // One line for each place on the axis, because thousands of signatures would overlap.
  const places = [...new Set(issuedAtMs.map(scale))];
  const y = top + 18;
  return html`<text x="${LEFT}" y="${top + 12}">${clipEnd(`${issuer} ${keyId}`, MAX_NAME)}</text>
    <rect class="track" x="${LEFT}" y="${y}" width="${WIDTH - 2 * LEFT}" height="14" />
    ${key === undefined ? undefined : renderWindow(key, y, scale)}${places.map((x) => html`<line class="issue" x1="${x}" x2="${x}" y1="${y - 3}" y2="${y + 17}" />`)} `;
}

function renderWindow(key: TrustedKey, y: number, scale: Scale): Markup {
  const { notBeforeMs = -Infinity, notAfterMs = Infinity, revokedAtMs = Infinity, compromised } = key;
  const from = scale(notBeforeMs);
  const end = scale(Math.min(notAfterMs, compromised && revokedAtMs !== Infinity ? -Infinity : revokedAtMs));
  const until = Math.max(from, end);
  const rest = scale(Infinity);
  const bar = (name: string, x: number, width: number): Markup | undefined =>
    width <= 0
      ? undefined
      : html`<rect class="${name}" x="${x}" y="${y}" width="${Math.round(width * 10) / 10}" height="14" />`;
  return html`${bar('after', LEFT, from - LEFT)}${bar('window', from, until - from)}${bar('after', until, rest - until)}`;
}
