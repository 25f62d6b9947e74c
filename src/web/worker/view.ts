import { chainOf, findWeakLink } from '../../report/html/chain.ts';
import { markupText } from '../../report/html/document.ts';
import { renderPartRow } from '../../report/html/parts.ts';
import { renderChain, renderReportSections } from '../../report/html/report.ts';
import { renderState } from '../../report/html/blocks.ts';
import { describeVerdict } from '../../report/text/tally.ts';
import type { TrustStore } from '../../trust/store.ts';
import type { BundleReport, ExportReport } from '../../verify/report.ts';
import type { PartLine, View } from './messages.ts';

/** Renders a report for the page: escaped HTML, and the keys by which parts are sorted and filtered. */
export function viewReport(report: ExportReport | BundleReport, trust: TrustStore | undefined): View {
  const sections = renderReportSections(report, trust && { trust });
  const order = ['cover', 'findings', 'chain', 'keys', 'coverage', 'caveats', 'commands', 'local'] as const;
  const parts = report.kind === 'export' ? report.parts : [];
  return {
    title: describeVerdict(report),
    verdict: report.verdict,
    sections: order.map((id) => markupText(sections[id])),
    parts: parts.map(viewPart),
  };
}

const RANK = { does_not_hold: 0, could_not_tell: 1, not_asked: 2, holds: 3 } as const;

function viewPart(part: BundleReport): PartLine {
  const { evidenceBundleId = '', path = '', verdict, signer, outcome, archive } = part;
  const link = findWeakLink(part);
  const codes = part.findings.map(({ code }) => code);
  const words = [link?.title, signer?.issuer, outcome?.drillId, archive?.digest, ...codes];
  return {
    row: markupText(renderPartRow(part)),
    text: [evidenceBundleId, path, verdict, ...words].join(' ').toLowerCase(),
    verdict,
    keys: [
      evidenceBundleId,
      verdict,
      link === undefined ? 9 : RANK[link.state],
      outcome?.verdict ?? '',
      signer?.issuedAtMs ?? 0,
      archive?.bytes ?? 0,
    ],
  };
}

export function viewPartDetails(part: BundleReport): string {
  const sections = renderReportSections(part);
  return [renderState(part.verdict), renderChain(chainOf(part)), sections.findings, sections.coverage]
    .map(markupText)
    .join('');
}
