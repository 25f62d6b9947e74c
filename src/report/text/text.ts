import { checkArguments, LIST, OBJECT, optional, TEXT, withMembers } from '../../bytes/index.ts';
import type { BundleReport, ExportReport, Report } from '../../verify/index.ts';
import { renderJson } from '../json.ts';
import { printable } from '../printable.ts';
import { briefText, verdictLines } from './brief.ts';
import { COLOURS, NO_COLOURS, type Page, count } from './page.ts';
import { exportText } from './export.ts';
import { headline } from './facts.ts';
import { formatHeadline } from './headline.ts';
import { attestationText, bundleText, toolSourceText } from './single.ts';
import { countOutcomes } from './tally.ts';

export type TextOptions = {
  /** Adds colours of the terminal; words carry the same information. Default false. */
  readonly color?: boolean;
  /** Columns of the terminal; longer lines are folded. Default 80, at least 20; `Infinity` does not fold. */
  readonly width?: number;
  /** How much of a report on an export or a bundle. Default `full`. */
  readonly detail?: Detail;
};

/** The verdict line alone, a few lines around it, or everything. */
export type Detail = 'verdict' | 'brief' | 'full';

/**
 * A report for people (formats §4): the verdict in the first line, what was checked and which key signed, what was not
 * checked, every finding with what to do, what the result does not mean, and the failures again at the end. Depends
 * only on the arguments; text from the evidence is escaped.
 * @param options.width columns of the terminal, at least 20; default 80, and `Infinity` does not fold
 * @param options.color colours of the terminal; default false
 * @param options.detail `verdict`, `brief` or `full`; default `full`
 * @throws TypeError for an argument of the wrong kind
 * @example
 * process.stdout.write(renderText(report, { width: process.stdout.columns }));
 */
export function renderText(report: Report, options: TextOptions = {}): string {
  checkArguments(
    {
      report: withMembers('a report', { kind: TEXT, findings: LIST, checks: LIST }),
      options: optional(OBJECT),
    },
    { report, options },
  );
  return `${linesOf(pageOf(options), report, options.detail ?? 'full').join('\n')}\n`;
}

/** A report in one line: its first line, the outcomes of its drills, which a verdict does not show, and its path. */
export function renderLine(
  report: ExportReport | BundleReport,
  path: string,
  options: TextOptions = {},
): string {
  const outcomes = countOutcomes(report.kind === 'export' ? report.parts : [report]);
  const drills = outcomes.map(([verdict, n]) => `${count(n)} ${printable(verdict)}`).join(', ');
  const words = `${formatHeadline(report)}${drills === '' ? '' : `; drills: ${drills}`} (${printable(path)})`;
  return headline(pageOf(options), report.verdict, words).join('\n');
}

export function pageOf({ color = false, width = 80 }: TextOptions): Page {
  return { paint: color ? COLOURS : NO_COLOURS, width: Math.max(20, width) };
}

function linesOf(page: Page, report: Report, detail: Detail): string[] {
  if (detail !== 'full' && (report.kind === 'export' || report.kind === 'bundle'))
    return detail === 'brief' ? briefText(page, report) : verdictLines(page, report);
  if (report.kind === 'export') return exportText(page, report);
  if (report.kind === 'bundle') return bundleText(page, report);
  if (report.kind === 'attestation') return attestationText(page, report);
  return toolSourceText(page, report);
}

/** Every format of a report by the name that people give it. */
export const renderers = {
  text: renderText,
  json: (report) => renderJson(report),
} as const satisfies Readonly<Record<string, (report: Report, options?: TextOptions) => string>>;

/** The formats of a report about evidence: those for all reports, and a page. */
export const REPORT_FORMATS = ['text', 'json', 'html'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];
