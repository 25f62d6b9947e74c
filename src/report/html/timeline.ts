import { isoTime } from '../../bytes/index.ts';
import type { TrustedKey } from '../../trust/index.ts';
import { clipEnd } from '../printable.ts';
import { html, type Markup } from './markup.ts';

/** A key on a page: whose it is, when it is valid, and when it signed. Without a trust store its validity is unknown. */
export type KeyRow = {
  readonly issuer: string;
  readonly keyId: string;
  readonly key?: TrustedKey;
  readonly issuedAtMs: readonly number[];
};

const WIDTH = 720;
const LEFT = 12;
const ROW = 44;
const TOP = 34;
const MAX_ROWS = 40;
const MAX_NAME = 60;

type Scale = (atMs: number) => number;

/**
 * When keys signed, against when they are valid: a bar for each key, a line for each time of a signature, and the time
 * of the verification. The table of keys has the same facts.
 */
export function renderTimeline(rows: readonly KeyRow[], asOfMs: number): Markup {
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
        themselves. Long dashed line: the time of the
        verification.${rows.length > MAX_ROWS ? ` The first ${MAX_ROWS} keys.` : ''}
      </figcaption>
    </figure> `;
}

const dayOf = (atMs: number): string => isoTime(atMs).slice(0, 10);

/** From the first to the last time of a signature, the verification, and ends of validity near to them. */
function rangeOf(rows: readonly KeyRow[], asOfMs: number): readonly [number, number] {
  let first = asOfMs;
  let last = asOfMs;
  for (const { issuedAtMs } of rows)
    for (const atMs of issuedAtMs) {
      first = Math.min(first, atMs);
      last = Math.max(last, atMs);
    }
  const roomMs = Math.max(last - first, 86_400_000);
  const near = (atMs: number | undefined): number[] =>
    atMs !== undefined && atMs >= first - 4 * roomMs && atMs <= last + 4 * roomMs ? [atMs] : [];
  const ends = rows.flatMap(({ key }) => [key?.notBeforeMs, key?.notAfterMs, key?.revokedAtMs].flatMap(near));
  const margin = roomMs / 20;
  return [Math.min(first, ...ends) - margin, Math.max(last, ...ends) + margin];
}

function renderRow({ issuer, keyId, key, issuedAtMs }: KeyRow, top: number, scale: Scale): Markup {
  // A line for each place on the axis: thousands of signatures could not be told apart.
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
