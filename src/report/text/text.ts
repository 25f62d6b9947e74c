import type { Report } from '../../verify/report.ts';
import { COLOURS, NO_COLOURS, type Page } from './page.ts';
import { exportText } from './export.ts';
import { attestationText, bundleText, toolSourceText } from './single.ts';

export type TextOptions = {
  /** Adds colours of the terminal; nothing is said in colour alone. Default false. */
  readonly color?: boolean;
  /** Columns of the terminal; longer lines are folded. Default 80, at least 20; `Infinity` does not fold. */
  readonly width?: number;
};

/**
 * A report for people: the verdict in the first line, what was checked and by whose key, what was not checked, every
 * finding with what to do, what the result does not mean, and the failures once more at the end. Depends on nothing
 * but the report and the options; text from the evidence is escaped before it is shown.
 */
export function renderText(report: Report, options: TextOptions = {}): string {
  return `${linesOf(pageOf(options), report).join('\n')}\n`;
}

export function pageOf({ color = false, width = 80 }: TextOptions): Page {
  return { paint: color ? COLOURS : NO_COLOURS, width: Math.max(20, width) };
}

function linesOf(page: Page, report: Report): string[] {
  if (report.kind === 'export') return exportText(page, report);
  if (report.kind === 'bundle') return bundleText(page, report);
  if (report.kind === 'attestation') return attestationText(page, report);
  return toolSourceText(page, report);
}
