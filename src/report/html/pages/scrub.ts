import { count, countNoun } from '../../../bytes/text/wording.ts';
import type { ScrubReport } from '../../many/scrubs.ts';
import { size } from '../../text/page.ts';
import {
  type ItemColumn,
  quote,
  quoteText,
  renderCaveats,
  renderFacts,
  renderHeader,
  renderItems,
  renderSection,
  renderState,
  renderVerdict,
} from '../blocks.ts';
import { html, renderDocument } from '../document.ts';

const MEANING: Readonly<Record<ScrubReport['outcome'], string>> = {
  good: 'Every file that was read matches its digest, or was repaired.',
  damaged: 'At least one file does not match its digest, or is missing.',
  unreadable: 'At least one file could not be read, so it may be right or wrong.',
  unread: 'Nothing is wrong so far, but not every file was read.',
};

const CAVEATS = [
  'A scrub compares stored bytes with their digests. It does not say that a drill passed.',
  'Files that were skipped or unread for another run were not read this time.',
  'The journal of a scrub records when files were read. It is not a proof.',
] as const;

const MIRROR_COLUMNS: readonly ItemColumn<ScrubReport['results'][number]>[] = [
  ['Mirror', ({ name }) => quote(name)],
  ['Outcome', ({ outcome }) => renderState(outcome)],
  ['Export', ({ evidenceExportId }) => quoteText(evidenceExportId)],
  ['Manifest', ({ manifestDigest }) => quoteText(manifestDigest)],
  ['Files', ({ files }) => count(files), 'number'],
  ['Read', ({ read }) => count(read), 'number'],
  ['Bytes read', ({ readBytes }) => count(readBytes), 'number'],
  ['Unread', ({ unread }) => count(unread), 'number'],
];

const FAULT_COLUMNS: readonly ItemColumn<ScrubReport['faults'][number]>[] = [
  ['File', ({ mirror, path }) => html`${quote(mirror)} ${quote(path)}`],
  ['Found', ({ found, repair }) => renderState(repair === 'repaired' ? 'repaired' : found)],
  ['Known', ({ acknowledged: known }) => known && html`${quote(known.by)}: ${quote(known.reason)}`],
  ['Code', ({ code }) => html`<code>${code}</code>`],
  ['Why', ({ message }) => message],
  [
    'Repair',
    ({ repair = 'not asked for' }) =>
      typeof repair === 'string' ? repair : html`<code>${repair.code}</code> ${repair.message}`,
  ],
];

export function renderScrubPage(report: ScrubReport): string {
  const { outcome, place, faults, moreFaults, results } = report;
  const more = moreFaults === 0 ? undefined : html`<p>and ${countNoun(moreFaults, 'fault')} more</p>`;
  const title = `Scrub: ${outcome}`;
  return renderDocument(title, [
    renderHeader(
      'Scrub of an archive',
      title,
      renderVerdict(outcome, quote(place), MEANING[outcome]),
      renderFacts(factsOf(report)),
    ),
    renderSection(
      'faults',
      'Faults',
      faults.length === 0
        ? [html`<p>There are no faults.</p>`]
        : [renderItems('Faults', FAULT_COLUMNS, faults), more],
    ),
    renderCaveats(CAVEATS),
    renderSection('mirrors', 'Appendix: every mirror', [
      renderItems(countNoun(results.length, 'mirror'), MIRROR_COLUMNS, results),
    ]),
  ]);
}

const factsOf = (report: ScrubReport) =>
  [
    ['Place', quote(report.place)],
    ['Mirrors', count(report.mirrors)],
    ['Good', count(report.outcomes.good)],
    ['Damaged', count(report.outcomes.damaged)],
    ['Unreadable', count(report.outcomes.unreadable)],
    ['Not read to the end', count(report.outcomes.unread)],
    ['Read', `${countNoun(report.read, 'file')}, ${size(report.readBytes)}`],
    ['Skipped as read not long ago', countNoun(report.recent, 'file')],
    ['Left for another run', `${countNoun(report.unread, 'file')}, ${size(report.unreadBytes)}`],
    ['Run', report.run && html`${quote(report.run.name)}, ${countNoun(report.run.workers.length, 'worker')}`],
    ['Strays', report.strays.length === 0 ? undefined : report.strays.map((name) => html`${quote(name)} `)],
  ] as const;
