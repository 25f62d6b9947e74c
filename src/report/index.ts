export { renderDecisionMarkdown } from './decision/markdown.ts';
export { type DecisionFormat, decisionRenderers } from './decision/renderers.ts';
export { diffReports } from './diff.ts';
export { chainOf, type Link } from './html/chain.ts';
export { renderDocument } from './html/document.ts';
export { html, htmlText, type Markup, markupText } from './html/markup.ts';
export { PART_COLUMNS, renderPartRow } from './html/parts.ts';
export { renderChain, renderReportPage, renderReportSections } from './html/report.ts';
export { type LinkState, renderState } from './html/states.ts';
export { REPORT_CSS } from './html/style.ts';
export { renderJson, stableJson } from './json.ts';
export { MAX_REPORT_BYTES, type Mergeable, readMergeable, readReport } from './read-report.ts';
export { type ArchiveReport, archiveSchema, mergeArchives, sumTransfers } from './merge/archives.ts';
export { mergeResults, type PathResult, type ReportsReport } from './merge/reports.ts';
export { type MergedScrub, mergeScrubs, mirrorScrubSchema, type ScrubReport } from './merge/scrubs.ts';
export {
  assertWholeOfShards,
  inShard,
  listDigest,
  type Named,
  type Shard,
  type ShardFacts,
  shardName,
} from './merge/shard.ts';
export { createSummary, type SummaryCollector } from './merge/summary.ts';
export { printable, printableJson, clipEnd, columnsOf, padEnd, shellWord } from './printable.ts';
export { describeOptions, exitOfVerdict, finishReport, type Requirements } from './run.ts';
export { renderDiff } from './text/diff.ts';
export {
  count,
  counted,
  percent,
  shortId,
  size,
  foldLines,
  labelled,
  type Page,
  sections,
} from './text/page.ts';
export { renderSummary } from './text/summary.ts';
export { type Detail, pageOf, renderers, renderLine, renderText, type ReportFormat } from './text/text.ts';
export { renderSummaryReport } from './text/vsa.ts';
