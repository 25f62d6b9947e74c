import { count, countNoun, isoTime } from '../../bytes/text/wording.ts';
import {
  type BundleReport,
  type ExportReport,
  type LocalReportReport,
  VERDICTS,
} from '../../verify/report.ts';
import { GOOD_OUTCOME, isOutcomeCounted, partsOf } from '../text/tally.ts';
import {
  type Column,
  type ItemColumn,
  quote,
  renderItems,
  renderSign,
  renderState,
  renderTable,
  renderTime,
  toneOf,
  TONE_NAMES,
  wordOf,
} from './blocks.ts';
import { findWeakLink } from './chain.ts';
import { localTitle } from './cover.ts';
import { anchor, html, type Markup, type Piece, renderData, visibleText } from './document.ts';

/** Rows that a page has as HTML; the script shows as many of the others at a time. */
const PAGE_ROWS = 100;
/** Fewer rows need no filter. */
const FEW_ROWS = 20;

const PART_COLUMNS: readonly Column[] = [
  ['Bundle'],
  ['Verdict'],
  ['Chain'],
  ['Outcome of the drill'],
  ['Signed by'],
  ['Bytes', 'number'],
];

const KINDS = { bad: 'Failed or incomplete', drill: 'Drill did not pass' } as const;
type Kind = keyof typeof KINDS;

function kindOf(part: BundleReport): Kind | undefined {
  if (part.verdict === 'failed' || part.verdict === 'incomplete') return 'bad';
  return isOutcomeCounted(part) && part.outcome.verdict !== GOOD_OUTCOME ? 'drill' : undefined;
}

/** The parts as the table has them: failed ones first, then incomplete ones, then drills that did not pass. */
export const sortParts = (report: ExportReport | BundleReport): readonly BundleReport[] =>
  partsOf(report)
    .map((part) => ({ part, rank: rankOf(part) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ part }) => part);

const rankOf = (part: BundleReport): number =>
  kindOf(part) === 'drill' ? 1.5 : VERDICTS.length - 1 - VERDICTS.indexOf(part.verdict);

/** The ids of the rows that a page has as HTML, by the subjects of their findings. */
export const listAnchors = (parts: readonly BundleReport[]): ReadonlyMap<string, string> =>
  new Map(
    parts
      .slice(0, PAGE_ROWS)
      .map(({ evidenceBundleId, path = '' }, at) => [evidenceBundleId ?? path, `part-${at + 1}`] as const)
      .toReversed(),
  );

/** A part as texts, of which both a template here and the script make a row. */
function describePart(part: BundleReport) {
  const { evidenceBundleId: id, path = '', archive, verdict, signer, findings } = part;
  const link = findWeakLink(part);
  const codes = findings.flatMap(({ severity, code }) => (severity === 'error' ? [code] : []));
  const outcome = isOutcomeCounted(part) ? part.outcome : undefined;
  return {
    id: id ?? 'unknown',
    path: path === `parts/${id}.zip` ? '' : path,
    digest: archive?.digest.slice('sha256:'.length) ?? '',
    verdictTone: toneOf(verdict),
    verdict: wordOf(verdict),
    codes: [...new Set(codes)].join(' '),
    chainTone: toneOf(link?.state ?? 'holds'),
    chain: link === undefined ? 'every link holds' : `${link.title}: ${wordOf(link.state)}`,
    outcome: outcome?.verdict ?? '',
    drill: outcome?.drillId ?? '',
    issuer: signer?.issuer ?? '',
    time: signer === undefined ? '' : isoTime(signer.issuedAtMs),
    bytes: archive === undefined ? '' : count(archive.bytes),
    kind: kindOf(part) ?? '',
  };
}
type PartTexts = ReturnType<typeof describePart>;

function buildPartCells(texts: PartTexts): readonly Piece[] {
  const codes = texts.codes.split(' ').filter((code) => code !== '');
  return [
    [
      quote(texts.id),
      texts.path === '' ? undefined : html`<br />${quote(texts.path)}`,
      texts.digest === '' ? undefined : html`<br /><code class="copy">sha256:${texts.digest}</code>`,
    ],
    [
      renderSign(texts.verdictTone, texts.verdict),
      codes.map((code) => html` <a href="${anchor(code)}"><code>${code}</code></a>`),
    ],
    renderSign(texts.chainTone, texts.chain),
    texts.outcome === '' ? 'not counted' : html`${quote(texts.outcome)} ${quote(texts.drill)}`,
    texts.issuer === '' ? 'no trusted key' : html`${quote(texts.issuer)} ${renderTime(texts.time)}`,
    texts.bytes,
  ];
}

/** The table of parts. A page has the first rows of many, and all of them as data for its script. */
export function renderParts(parts: readonly BundleReport[]): Markup {
  const rows = parts.map(describePart);
  const first = rows.slice(0, PAGE_ROWS);
  const table = renderTable(countNoun(parts.length, 'part'), PART_COLUMNS, first.map(buildPartCells), 'part');
  if (rows.length <= FEW_ROWS) return table;
  const more = rows.length - first.length;
  return html`${renderControls(rows)}${table}
    ${more === 0 ? undefined : html`<p>The table begins with failed and incomplete parts. This file has ${countNoun(more, 'more part')} as data, which a browser with scripts shows in the table; the JSON report has them too.</p>`}${renderData('part-data', { length: rows.length, size: PAGE_ROWS, columns: buildColumns(rows) })}`;
}

function renderControls(rows: readonly PartTexts[]): Markup {
  const kinds = Object.entries(KINDS).flatMap(([kind, name]) => {
    const times = rows.filter((row) => row.kind === kind).length;
    return times === 0 ? [] : [[kind, name, times] as const];
  });
  return html`<div id="part-controls" class="controls" hidden>
    ${[['', 'All', rows.length] as const, ...kinds].map(([kind, name, times]) => html`<button type="button" value="${kind}" aria-pressed="${String(kind === '')}">${name} ${count(times)}</button> `)}
    <label>Find <input type="search" /></label>
    <span role="status"></span>
    ${TONE_NAMES.map((tone) => html`<span class="sign" data-tone="${tone}" hidden>${renderSign(tone, '')}</span>`)}
  </div> `;
}

/** Each column as its values, or, if they repeat, as its different values with an index for each row. */
function buildColumns(rows: readonly PartTexts[]): Readonly<Record<string, unknown>> {
  const names = Object.keys(rows[0]!) as (keyof PartTexts)[];
  return Object.fromEntries(
    names.map((name) => {
      const values = rows.map((row) => row[name]);
      const places = new Map([...new Set(values)].map((value, at) => [value, at]));
      const words = [...places.keys()];
      const isRepeated = words.length * 2 < values.length;
      return [
        name,
        isRepeated
          ? { words: words.map(visibleText), index: values.map((value) => places.get(value)) }
          : { words: values.map(visibleText) },
      ];
    }),
  );
}

const LOCAL_COLUMNS: readonly ItemColumn<LocalReportReport>[] = [
  ['Local report', ({ localReportId }) => quote(localReportId)],
  ['Verdict', ({ verdict }) => renderState(verdict)],
  ['Path', ({ path }) => quote(path)],
];

export function renderLocalReports(report: ExportReport): readonly Piece[] {
  const { localReports } = report;
  if (localReports.length === 0) return [];
  const sorted = localReports.toSorted(
    (a, b) => Number(a.verdict === 'intact') - Number(b.verdict === 'intact'),
  );
  const more = localReports.length - PAGE_ROWS;
  return [
    renderItems(localTitle(report), LOCAL_COLUMNS, sorted.slice(0, PAGE_ROWS)),
    more > 0 ? html`<p>${count(more)} more are in the JSON report.</p>` : undefined,
  ];
}
