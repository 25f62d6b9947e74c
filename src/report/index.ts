export { renderDecisionMarkdown } from './decision/markdown.ts';
export { type DecisionFormat, decisionRenderers } from './decision/renderers.ts';
export { diffReports, renderDiff } from './diff.ts';
export { chainOf, findWeakLink, PART_COLUMNS, renderPartRow } from './html/chain.ts';
export * from './html/pages/history.ts';
export * from './html/pages/many.ts';
export { markupText } from './html/document.ts';
export * from './html/report.ts';
export * from './html/pages/scrub.ts';
export { renderState } from './html/blocks.ts';
export * from './json.ts';
export * from './merge/reports.ts';
export * from './merge/archives.ts';
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
export * from './run.ts';
export * from './signed/chain.ts';
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
export * from './text/summary.ts';
export * from './text/text.ts';
export * from './text/vsa.ts';
