import type { BundleReport, ExportReport } from '../../verify/report.ts';
import { count } from './figures.ts';
import { printable } from '../printable.ts';
import { countOutcomes } from './tally.ts';
import { renderText, type TextOptions } from './text.ts';

/** A report in one line: its first one, and the outcomes of its drills, which a verdict does not say. */
export function renderLine(report: ExportReport | BundleReport, options: TextOptions = {}): string {
  const text = renderText(report, options);
  const outcomes = countOutcomes(report.kind === 'export' ? report.parts : [report]);
  const drills = outcomes.map(([verdict, n]) => `${count(n)} ${printable(verdict)}`).join(', ');
  return `${text.slice(0, text.indexOf('\n'))}${drills === '' ? '' : `; drills: ${drills}`}`;
}
