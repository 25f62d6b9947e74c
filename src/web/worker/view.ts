import { closeAfter } from '../../bytes/async.ts';
import { DrillproofError } from '../../errors.ts';
import { readPartContents } from '../../evidence/bundle/contents.ts';
import { renderState } from '../../report/html/blocks.ts';
import { titleOf } from '../../report/html/cover.ts';
import { chainOf } from '../../report/html/chain.ts';
import { renderContents } from '../../report/html/contents.ts';
import { html, type Markup, markupText } from '../../report/html/document.ts';
import { renderChain, renderReportBody, renderReportSections } from '../../report/html/report.ts';
import type { TrustStore } from '../../trust/store.ts';
import type { BundleReport, ExportReport } from '../../verify/report.ts';
import type { ChosenEvidence } from '../sources.ts';
import type { View } from './messages.ts';

/** Renders a report as the page that the command writes has it. */
export const viewReport = (report: ExportReport | BundleReport, trust?: TrustStore): View => ({
  title: titleOf(report),
  verdict: report.verdict,
  html: renderReportBody(report, trust && { trust })
    .map(markupText)
    .join(''),
});

/** Renders the result of one part and what it contains. */
export async function viewPart(part: BundleReport, evidence: ChosenEvidence): Promise<string> {
  const { findings, coverage } = renderReportSections(part);
  const contents = await viewContents(part, evidence);
  const blocks = [renderState(part.verdict), findings, contents, renderChain(chainOf(part)), coverage];
  return blocks.map(markupText).join('');
}

async function viewContents({ path = '' }: BundleReport, evidence: ChosenEvidence): Promise<Markup> {
  try {
    return renderContents(
      evidence.kind === 'part'
        ? await readPartContents(evidence.access)
        : await closeAfter(await evidence.source.open(path), readPartContents),
    );
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    return html`<p>The part cannot be looked into: ${error.message} (${error.code}).</p>`;
  }
}
