import type { BundleReport, ExportReport } from '../../verify/report.ts';
import { count } from './figures.ts';
import { printable } from '../printable.ts';
import { countOutcomes } from './tally.ts';
import { headline } from './facts.ts';
import { pageOf, renderText, type TextOptions } from './text.ts';

/** A report in one line: its first one, the outcomes of its drills, which a verdict does not say, and its path. */
export function renderLine(
  report: ExportReport | BundleReport,
  path: string,
  options: TextOptions = {},
): string {
  const text = renderText(report, { width: Infinity });
  const subject = text.slice(text.indexOf(' ') + 1, text.indexOf('\n'));
  const outcomes = countOutcomes(report.kind === 'export' ? report.parts : [report]);
  const drills = outcomes.map(([verdict, n]) => `${count(n)} ${printable(verdict)}`).join(', ');
  const words = `${subject}${drills === '' ? '' : `; drills: ${drills}`} (${printable(path)})`;
  return headline(pageOf(options), report.verdict, words).join('\n');
}
