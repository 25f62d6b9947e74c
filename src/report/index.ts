export { renderDecisionMarkdown } from './decision/markdown.ts';
export { type DecisionFormat, decisionRenderers } from './decision/renderers.ts';
export { diffReports, renderDiff } from './diff.ts';
export { chainOf, PART_COLUMNS, renderPartRow } from './html/chain.ts';
export {
  type Chart,
  type HistoryEntry,
  renderChainBody,
  renderChainPage,
  renderHistoryPage,
} from './html/pages/history.ts';
export { BEGIN_REPORTS, endReports, renderReportsRow } from './html/pages/many.ts';
export { markupText } from './html/markup.ts';
export { renderChain, renderReportPage, renderReportSections } from './html/report.ts';
export { renderScrubPage } from './html/pages/scrub.ts';
export { renderState } from './html/blocks.ts';
export { renderJson, stableJson } from './json.ts';
export { MAX_REPORT_BYTES, type Mergeable, readMergeable, readReport } from './read-report.ts';
export { type ArchiveReport, archiveSchema, mergeArchives, sumTransfers } from './merge/archives.ts';
export { mergeResults, type PathResult, type ReportsReport } from './merge/reports.ts';
export { type MergedScrub, mergeScrubs, mirrorScrubSchema, type ScrubReport } from './merge/scrubs.ts';
export {
  assertWholeOfShards,
  selectShard,
  listDigest,
  type Named,
  type Shard,
  type ShardFacts,
  shardName,
} from './merge/shard.ts';
export { createSummary, type SummaryCollector } from './merge/summary.ts';
export { escapeText, printableJson, clipEnd, columnsOf, padEnd, quoteShellWord } from './printable.ts';
export { describeOptions, exitOfVerdict, finishReport, type Requirements } from './run.ts';
export {
  type ChainOptions,
  orderSignedReports,
  type ReportChain,
  verifyReportChain,
} from './signed/chain.ts';
export {
  MAX_SIGNED_BYTES,
  openReport,
  parseSignedEnvelope,
  readSignedReport,
  type OpenedReport,
  type SignedReport,
  signReport,
} from './signed/statement.ts';
export {
  count,
  countNoun,
  percent,
  shortId,
  size,
  foldLines,
  wrapLabel,
  type Page,
  sections,
} from './text/page.ts';
export { renderSummary } from './text/summary.ts';
export {
  type Detail,
  pageOf,
  renderers,
  renderLine,
  renderText,
  REPORT_FORMATS,
  type ReportFormat,
} from './text/text.ts';
export { renderSummaryReport } from './text/vsa.ts';
