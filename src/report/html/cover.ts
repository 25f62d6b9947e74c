import { countNoun, isoTime } from '../../bytes/text/wording.ts';
import type { BundleReport, ExportReport, SignedBy } from '../../verify/report.ts';
import { formatTimeRange } from '../text/facts.ts';
import { describeResult, type ResultLine } from '../text/result.ts';
import { countSigners, describeBadDrills, describeVerdict, groupBy, partsOf } from '../text/tally.ts';
import {
  type Fact,
  quote,
  quoteText,
  renderFacts,
  renderHeader,
  renderResultLine,
  renderVerdict,
  buildCallFact,
  buildTrustFact,
} from './blocks.ts';
import { html, type Markup } from './document.ts';

const LINE_TITLES: Readonly<Record<ResultLine['name'], string>> = {
  required: 'Required, not met',
  failed: 'Failed',
  parts: 'Bundles',
  drills: 'Drills',
  completeness: 'List of bundles',
  coverage: 'Bytes',
  claimed: 'Claimed',
  warnings: 'Warnings',
};

export function renderCover(report: ExportReport | BundleReport): Markup {
  const lines = groupBy(describeResult(report), ({ name }) => name);
  const facts = Array.from(lines, ([name, group]): Fact => [
    LINE_TITLES[name],
    name === 'claimed' ? undefined : group.map((line) => html`<div>${renderResultLine(line)}</div>`),
  ]);
  return renderHeader(
    'Verification of evidence',
    renderVerdict(
      report.verdict,
      quoteText(idOfReport(report)),
      renderFacts(facts),
      describeBadDrills(report),
    ),
    renderFacts([
      ...describeEvidence(report),
      ...describeVerifier(report),
      ...describeTimes(report),
      [LINE_TITLES.claimed, lines.get('claimed')?.[0].text],
    ]),
  );
}

export const idOfReport = (report: ExportReport | BundleReport): string | undefined =>
  report.kind === 'export' ? report.evidenceExportId : (report.evidenceBundleId ?? report.path);

export const titleOf = (report: ExportReport | BundleReport): string =>
  `${describeVerdict(report)}: ${idOfReport(report) ?? 'evidence'}`;

function describeEvidence(report: ExportReport | BundleReport): readonly Fact[] {
  const whole = report.kind === 'export';
  return [
    [whole ? 'Export' : 'Bundle', quoteText(idOfReport(report))],
    ['Organization', quoteText(report.organizationId)],
    ['Project', whole ? undefined : quoteText(report.projectId)],
    ['Read from', quoteText(report.run?.path)],
    ['Manifest', quoteText(report.manifestDigest)],
    ['Local reports', whole && report.localReports.length > 0 ? localTitle(report) : undefined],
    [
      'Depth',
      report.depth === 'full'
        ? 'full: archives and their objects'
        : 'digest: only archives, by the digests in the manifest',
    ],
  ];
}

export const localTitle = ({ localReports }: Pick<ExportReport, 'localReports'>): string =>
  `${countNoun(localReports.length, 'local report')} from users, which no key attests`;

function describeVerifier(report: ExportReport | BundleReport): readonly Fact[] {
  const { run, trust } = report;
  const issuers = [...new Set(listSigners(report).map(({ issuer }) => issuer))];
  return [
    ['Verified by', run === undefined ? undefined : quote(`${run.tool.name} ${run.tool.version}`)],
    buildCallFact(run),
    ['Signed by', issuers.length === 0 ? 'no trusted key' : issuers.map((issuer) => html`${quote(issuer)} `)],
    buildTrustFact(trust),
  ];
}

function describeTimes(report: ExportReport | BundleReport): readonly Fact[] {
  const times = countSigners(listSigners(report));
  const first = Math.min(...times.map(({ firstIssuedAtMs }) => firstIssuedAtMs));
  const last = Math.max(...times.map(({ lastIssuedAtMs }) => lastIssuedAtMs));
  return [
    ['Verified as of', isoTime(report.asOfMs)],
    ['Signed', times.length === 0 ? undefined : formatTimeRange(first, last)],
  ];
}

/** A signature by a trusted key, and the bundle or the list that it is about. */
export type Signed = SignedBy & { readonly subject: string };

export const listSigners = (report: ExportReport | BundleReport): readonly Signed[] => [
  ...partsOf(report).flatMap((part) => signersOf(part, `${part.evidenceBundleId} ${part.manifestDigest}`)),
  ...(report.kind === 'export'
    ? signersOf(report, `${report.evidenceExportId} ${report.manifestDigest}`)
    : []),
];

const signersOf = ({ signer, signers }: ExportReport | BundleReport, subject: string): readonly Signed[] =>
  (signers ?? (signer === undefined ? [] : [signer])).map((key) => ({ ...key, subject }));
