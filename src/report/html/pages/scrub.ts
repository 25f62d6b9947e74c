import type { ScrubReport } from '../../merge/scrubs.ts';
import { count, counted, size } from '../../text/page.ts';
import { quote, renderCaveats, renderFacts, renderSection, renderTable, renderVerdict } from '../blocks.ts';
import { quoted } from '../cover.ts';
import { renderDocument } from '../document.ts';
import { html, type Piece } from '../markup.ts';
import { renderState } from '../states.ts';

const MEANING: Readonly<Record<ScrubReport['outcome'], string>> = {
  good: 'Every file that was read matches its digest, or was repaired.',
  damaged: 'At least one file does not match its digest, or is missing.',
  unreadable: 'At least one file could not be read, so it may be right or wrong.',
  unread: 'Nothing is wrong so far, but not every file was read.',
};

const CAVEATS = [
  'A scrub compares stored bytes with their digests. It does not say that a drill passed.',
  'Files that were skipped or left for another run were not read this time.',
  'The journal of a scrub records when files were read. It is not a proof.',
] as const;

/** What a scrub found as a page in one file: the outcome, the faults, and every mirror. */
export function renderScrubPage(report: ScrubReport): string {
  const { outcome, place, faults, moreFaults, results } = report;
  return renderDocument(
    `Scrub: ${outcome}`,
    html`<header class="cover">
<h1>Scrub of an archive</h1>
${renderVerdict(outcome, quote(place), [MEANING[outcome]])}
${renderFacts(factsOf(report))}
</header>
${renderSection('faults', 'Faults', faults.length === 0 ? [html`<p>There are no faults.</p>`] : [renderFaults(faults), moreFaults === 0 ? undefined : html`<p>and ${counted(moreFaults, 'fault')} more</p>`])}${renderCaveats(CAVEATS)}${renderSection(
      'mirrors',
      'Appendix: every mirror',
      [
        renderTable(
          counted(results.length, 'mirror'),
          [
            ['Mirror'],
            ['Outcome'],
            ['Export'],
            ['Manifest'],
            ['Files', 'number'],
            ['Read', 'number'],
            ['Bytes read', 'number'],
            ['Left', 'number'],
          ],
          results.map((mirror) => [
            quote(mirror.name),
            renderState(mirror.outcome),
            quoted(mirror.evidenceExportId),
            quoted(mirror.manifestDigest),
            count(mirror.files),
            count(mirror.read),
            count(mirror.readBytes),
            count(mirror.left),
          ]),
        ),
      ],
    )}`,
  );
}

const factsOf = (report: ScrubReport) =>
  [
    ['Place', quote(report.place)],
    ['Mirrors', count(report.mirrors)],
    ['Good', count(report.outcomes.good)],
    ['Damaged', count(report.outcomes.damaged)],
    ['Unreadable', count(report.outcomes.unreadable)],
    ['Not read to the end', count(report.outcomes.unread)],
    ['Read', `${counted(report.read, 'file')}, ${size(report.readBytes)}`],
    ['Skipped as read not long ago', counted(report.young, 'file')],
    ['Left for another run', `${counted(report.left, 'file')}, ${size(report.leftBytes)}`],
    ['Shard', report.shard && `${report.shard.index} of ${report.shard.count}, counted from 0`],
    ['Run', report.run && html`${quote(report.run.name)}, ${counted(report.run.workers.length, 'worker')}`],
    ['Strays', report.strays.length === 0 ? undefined : report.strays.map((name) => html`${quote(name)} `)],
  ] as const;

const renderFaults = (faults: ScrubReport['faults']): Piece =>
  renderTable(
    'Faults',
    [['File'], ['Found'], ['Code'], ['Why'], ['Repair']],
    faults.map(({ mirror, path, found, code, message, repair }) => [
      html`${quote(mirror)} ${quote(path)}`,
      renderState(repair === 'repaired' ? 'repaired' : found),
      html`<code>${code}</code>`,
      message,
      repair === undefined
        ? 'not asked for'
        : repair === 'repaired'
          ? 'repaired'
          : html`<code>${repair.code}</code> ${repair.message}`,
    ]),
  );
