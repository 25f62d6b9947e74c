import { count, countNoun } from '../../bytes/text/wording.ts';
import {
  AMOUNT,
  checkArguments,
  FLAG,
  type MembersOf,
  oneOf,
  optional,
  withMembers,
} from '../../bytes/arguments.ts';
import type {
  AttestationReport,
  BundleReport,
  Check,
  ExportReport,
  Report,
  SignedBy,
  ToolSourceReport,
  Verdict,
} from '../../verify/report.ts';
import { renderJson } from '../json.ts';
import { allFindings, checkReport } from '../../verify/finding.ts';
import { escapeText } from '../printable.ts';
import {
  COLOURS,
  formatFirst,
  wrapIndented,
  wrapLabel,
  NO_COLOURS,
  type Page,
  type Section,
  sections,
} from './page.ts';
import {
  formatHeadline,
  wrapHeadline,
  summarizeParts,
  VERDICT_PAINT,
  formatVerdictLines,
  toneOfReport,
} from './headline.ts';
import { countSigners, isOutcomeCounted, listVerdicts, partsOf, GOOD_OUTCOME } from './tally.ts';
import { caveatsOf } from './caveats.ts';
import {
  formatAsOf,
  formatCoverage,
  formatFact,
  formatRunFact,
  formatSigners,
  formatTrust,
  explainNoSigner,
} from './facts.ts';
import {
  formatChecks,
  buildClosingSections,
  buildFindingsSection,
  countCodes,
  formatCheckCounts,
  summarizeUnchecked,
} from './findings.ts';
import { describeResult, type ResultLine } from './result.ts';

const MAX_PARTS = 20;

function reportText(page: Page, report: Report): string[] {
  const isEvidence = report.kind === 'export' || report.kind === 'bundle';
  const head = isEvidence
    ? formatVerdictLines(page, report)
    : wrapHeadline(page, report.verdict, subjectOf(report));
  return [
    ...head,
    ...sections(page, [
      buildFindingsSection(page, allFindings(report)),
      ...buildSections(page, report),
      ...buildClosingSections(page, groupChecks(report), allFindings(report), caveatsOf(report)),
    ]),
    ...(isEvidence ? ['', ...head] : []),
  ];
}

const subjectOf = (report: AttestationReport | ToolSourceReport): string =>
  report.kind === 'attestation'
    ? 'attestation alone, without its evidence'
    : `tool source of ${escapeText(report.packageId ?? 'an unknown package')}`;

/** The checks of a report, with one group for each kind of subject. */
const groupChecks = (report: Report): readonly (readonly (readonly Check[])[])[] =>
  report.kind === 'export'
    ? [[report], report.parts, report.localReports].map((group) => group.map(({ checks }) => checks))
    : [[report.checks]];

function buildSections(page: Page, report: Report): readonly Section[] {
  const checked = { title: 'Checked', lines: formatChecks(page, report.checks) };
  if (report.kind === 'export') return buildExportSections(page, report);
  if (report.kind === 'tool-source')
    return [{ title: 'Tool source', lines: formatSourceFacts(page, report) }, checked];
  if (report.kind === 'attestation') {
    const facts = [...formatAsOf(page, report.asOfMs), ...formatTrust(page, report.trust)];
    return [
      { title: 'Attestation', lines: facts },
      checked,
      { title: 'Signed by', lines: formatBundleSigners(page, { ...report, signed: true }) },
    ];
  }
  return [
    { title: 'Bundle', lines: formatEvidenceFacts(page, report) },
    checked,
    { title: 'Drill outcome', lines: formatOutcome(page, report) },
    { title: 'Signed by', lines: formatBundleSigners(page, report) },
    { title: 'Byte coverage', lines: formatCoverage(page, report.coverage) },
  ];
}

function buildExportSections(page: Page, report: ExportReport): readonly Section[] {
  const { checks, parts, coverage } = report;
  const partChecks = parts.map((part) => part.checks);
  return [
    { title: 'Export', lines: formatEvidenceFacts(page, report) },
    { title: 'Checked of the export', lines: formatChecks(page, checks) },
    { title: `Checked of ${countNoun(parts.length, 'part')}`, lines: formatCheckCounts(page, partChecks) },
    { title: 'Parts', lines: formatParts(page, parts) },
    { title: 'Drill outcomes', lines: formatOutcomes(page, report) },
    { title: 'Signed by', lines: formatExportSigners(page, report) },
    { title: 'Completeness', lines: formatSentence(page, report, 'completeness') },
    { title: 'Byte coverage', lines: formatCoverage(page, coverage) },
    { title: 'Claimed', lines: formatSentence(page, report, 'claimed') },
    { title: 'Local reports', lines: formatLocalReports(page, report) },
  ];
}

function formatEvidenceFacts(page: Page, report: ExportReport | BundleReport): string[] {
  return [
    ...formatFact(
      page,
      report.kind,
      report.kind === 'export' ? report.evidenceExportId : report.evidenceBundleId,
    ),
    ...formatFact(page, 'organization', report.organizationId),
    ...(report.kind === 'export' ? [] : formatBundleFacts(page, report)),
    ...formatFact(page, 'manifest', report.manifestDigest),
    ...formatAsOf(page, report.asOfMs),
    ...formatFact(page, 'depth', report.depth),
    ...formatTrust(page, report.trust),
    ...formatRunFact(page, report.run),
  ];
}

function formatParts(page: Page, parts: readonly BundleReport[]): string[] {
  const best = parts.some(({ verdict }) => verdict === 'verified') ? 'verified' : 'intact';
  const worse = parts.filter(({ verdict }) => verdict !== best);
  return [
    `  ${summarizeParts(parts)}`,
    ...formatFirst(worse, MAX_PARTS, ({ verdict, evidenceBundleId, path, findings }) => {
      const reason = findings.find(({ severity }) => severity === 'error')?.code ?? '';
      const name = escapeText(evidenceBundleId ?? path ?? 'a part');
      return formatPartVerdict(page, verdict, `${name} ${reason}`.trimEnd());
    }),
  ];
}

const formatPartVerdict = (page: Page, verdict: Verdict, text: string): string[] =>
  wrapLabel(page, `  ${verdict.padEnd(10)}  `, text, page.paint[VERDICT_PAINT[verdict]]);

const formatSentence = (page: Page, report: ExportReport, name: ResultLine['name']): string[] =>
  describeResult(report)
    .filter((line) => line.name === name)
    .flatMap(({ text }) => wrapIndented(page, escapeText(text)));

function formatOutcomes(page: Page, report: ExportReport): string[] {
  const withOutcome = report.parts.filter(isOutcomeCounted);
  if (withOutcome.length === 0) return [];
  const others = withOutcome.filter(({ outcome }) => outcome.verdict !== GOOD_OUTCOME);
  return [
    ...formatSentence(page, report, 'drills'),
    ...formatFirst(others, MAX_PARTS, ({ outcome: { verdict, drillId, targetId }, evidenceBundleId: id }) =>
      wrapLabel(page, '  - ', escapeText(`${verdict}: ${drillId} on ${targetId} (${id ?? 'no id'})`)),
    ),
  ];
}

function formatExportSigners(page: Page, report: ExportReport): string[] {
  const unsigned = report.parts.filter(({ signed }) => !signed).length;
  const lines = [
    ...formatSigners(page, listPartSigners(report), 'part'),
    ...formatSigners(page, [report.signer ?? []].flat(), 'list'),
    ...(unsigned === 0 ? [] : [`  - no key: ${countNoun(unsigned, 'unsigned part')}`]),
  ];
  const findings = report.parts.flatMap((part) => part.findings);
  return lines.length === 0 && report.parts.length > 0 ? [explainNoSigner(findings)] : lines;
}

const listPartSigners = (report: ExportReport | BundleReport): readonly SignedBy[] =>
  partsOf(report).flatMap(({ signer }) => signer ?? []);

function formatLocalReports(page: Page, { localReports }: ExportReport): string[] {
  if (localReports.length === 0) return [];
  return [
    `  ${listVerdicts(localReports).join(', ')} (user-produced, unattested)`,
    ...formatCheckCounts(
      page,
      localReports.map(({ checks }) => checks),
    ),
    ...formatFirst(
      localReports.filter(({ verdict }) => verdict !== 'intact'),
      MAX_PARTS,
      ({ verdict, localReportId }) => formatPartVerdict(page, verdict, escapeText(localReportId)),
    ),
  ];
}

function formatBundleFacts(page: Page, report: BundleReport): string[] {
  const { archive, objectCount } = report;
  return [
    ...formatFact(page, 'project', report.projectId),
    ...formatFact(page, 'run', report.runId),
    ...formatFact(page, 'rerun of', report.rerunOfHostedRunId),
    ...formatFact(page, 'objects', objectCount === undefined ? undefined : count(objectCount)),
    ...formatFact(page, 'archive', archive?.digest),
    ...formatFact(page, '', archive === undefined ? undefined : `${count(archive.bytes)} bytes`),
  ];
}

function formatOutcome(page: Page, { outcome }: BundleReport): string[] {
  if (outcome === undefined) return [];
  const { verdict, status, drillId, targetId } = outcome;
  return wrapLabel(page, '  ', escapeText(`${verdict} (${status}): ${drillId} on ${targetId}`));
}

type SignerFacts = Pick<BundleReport, 'signer' | 'signers' | 'signed' | 'findings'>;

function formatBundleSigners(page: Page, { signer, signers = [], signed, findings }: SignerFacts): string[] {
  if (signers.length > 1) return formatSigners(page, signers, 'signature');
  if (signer !== undefined) return formatSigners(page, [signer], '');
  if (signed === undefined) return ['  unknown: the archive could not be read'];
  return signed ? [explainNoSigner(findings)] : ['  no key: the bundle is unsigned'];
}

const formatSourceFacts = (
  page: Page,
  { packageId, buildHash, artifactHash }: ToolSourceReport,
): string[] => [
  ...formatFact(page, 'package', packageId),
  ...formatFact(page, 'build', buildHash),
  ...formatFact(page, 'artifact', artifactHash),
];

const MAX_KEYS = 3;
const CONTENT = 'whether what the evidence says is true';

function formatBrief(page: Page, report: ExportReport | BundleReport): string[] {
  const verdict = formatVerdictLines(page, report);
  const findings = allFindings(report);
  const errors = findings.filter(({ severity }) => severity === 'error');
  return [
    ...verdict,
    ...(errors.length === 0 ? [] : [...sections(page, [buildFindingsSection(page, errors)]), '']),
    ...formatCountedSigners(page, report),
    ...describeResult(report)
      .filter(({ name }) => BRIEF.has(name))
      .flatMap(({ name, text, tone }) => formatFact(page, name, text, tone)),
    ...formatFact(
      page,
      'not checked',
      [...summarizeUnchecked(groupChecks(report).flat()), CONTENT].join('; '),
    ),
    ...formatFact(page, 'notes', countCodes(findings, 'info')),
    ...formatRunFact(page, report.run),
    ...(errors.length === 0 ? [] : ['']),
    ...verdict,
  ];
}

/** The first line has the others. */
const BRIEF: ReadonlySet<ResultLine['name']> = new Set([
  'drills',
  'completeness',
  'time',
  'coverage',
  'claimed',
  'warnings',
]);

function formatCountedSigners(page: Page, report: ExportReport | BundleReport): string[] {
  const signers = countSigners(listPartSigners(report));
  const ofList = report.kind === 'export' ? report.signer : undefined;
  const isOfList = ({ issuer, keyId }: { issuer: string; keyId: string }): boolean =>
    ofList?.issuer === issuer && ofList.keyId === keyId;
  const rows = [
    ...signers.map((row) => ({
      ...row,
      what: `${countNoun(row.parts, 'part')}${isOfList(row) ? ' and the list' : ''}`,
    })),
    ...(ofList === undefined || signers.some(isOfList) ? [] : [{ ...ofList, what: 'the list' }]),
  ];
  if (rows.length === 0) return formatFact(page, 'signed by', explainNoSigner(allFindings(report)).trim());
  const more = rows.length - MAX_KEYS;
  return [
    ...rows
      .slice(0, MAX_KEYS)
      .flatMap(({ issuer, keyId, what }, at) => [
        ...formatFact(page, at === 0 ? 'signed by' : '', `${issuer} (${what})`),
        ...wrapLabel(page, '    ', escapeText(`key ${keyId}`)),
      ]),
    ...(more > 0 ? formatFact(page, '', `and ${countNoun(more, 'more key')}; --verbose lists them`) : []),
  ];
}

export type TextOptions = {
  /** Adds colours of the terminal; words carry the same information. Default false. */
  readonly color?: boolean;
  /** Columns of the terminal; longer lines are folded. Default 80, at least 20; `Infinity` does not fold. */
  readonly width?: number;
  /** How much of a report on an export or a bundle. Default `full`. */
  readonly detail?: Detail;
};

const DETAILS = ['verdict', 'brief', 'full'] as const;
export type Detail = (typeof DETAILS)[number];

const OPTION_KINDS: MembersOf<TextOptions> = {
  color: optional(FLAG),
  width: optional(AMOUNT),
  detail: optional(oneOf(DETAILS)),
};
const OPTIONS = withMembers('options', OPTION_KINDS);

/**
 * A report for people (formats §4): the verdict in the first line, what was checked and which key signed, what was not
 * checked, every finding with what to do, what the result does not mean, and the failures again at the end. Depends
 * only on the arguments; text from the evidence is escaped.
 * @throws TypeError for an argument of the wrong kind
 * @example
 * process.stdout.write(renderText(report, { width: process.stdout.columns }));
 */
export function renderText(report: Report, options: TextOptions = {}): string {
  checkReport(report);
  checkArguments({ options: OPTIONS }, { options });
  return `${formatLines(pageOf(options), report, options.detail ?? 'full').join('\n')}\n`;
}

/** A report in one line: its first line with the outcomes of its drills, which a verdict does not show, and its path. */
export function renderLine(
  report: ExportReport | BundleReport,
  path: string,
  options: TextOptions = {},
): string {
  return wrapHeadline(
    pageOf(options),
    report.verdict,
    `${formatHeadline(report, true)} (${escapeText(path)})`,
    toneOfReport(report),
  ).join('\n');
}

export function pageOf({ color = false, width = 80 }: TextOptions): Page {
  return { paint: color ? COLOURS : NO_COLOURS, width: Math.max(20, width) };
}

function formatLines(page: Page, report: Report, detail: Detail): string[] {
  if (detail !== 'full' && (report.kind === 'export' || report.kind === 'bundle'))
    return detail === 'brief' ? formatBrief(page, report) : formatVerdictLines(page, report);
  return reportText(page, report);
}

export const renderers = {
  text: renderText,
  json: (report) => renderJson(report),
} as const satisfies Readonly<Record<string, (report: Report, options?: TextOptions) => string>>;

/** The formats of a report about evidence: those for all reports, and a page. */
export const REPORT_FORMATS = ['text', 'json', 'html'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];
