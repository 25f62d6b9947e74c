import { isoTime } from '../../bytes/text/wording.ts';
import type { BundleReport, ExportReport, SignedBy, Verdict } from '../../verify/report.ts';
import { COMPLETENESS, formatRun, formatTimeRange } from '../text/facts.ts';
import { countNoun } from '../text/page.ts';
import { summarizeParts } from '../text/headline.ts';
import { countSigners, partsOf } from '../text/tally.ts';
import {
  type Fact,
  quote,
  quoteText,
  renderFacts,
  renderHeader,
  renderVerdict,
  buildTrustFact,
} from './blocks.ts';
import { html, type Markup } from './document.ts';

const MEANING: Readonly<Record<Verdict, string>> = {
  verified: 'Every byte matches its digest, and a key that the verifier trusts signed it.',
  intact: 'Every byte matches its digest, but no trusted signature was checked.',
  incomplete: 'Something could not be read or checked.',
  failed:
    'Something does not match, breaks its format, is signed by a key that is not valid for it, or is required and missing.',
};

export function renderCover(report: ExportReport | BundleReport): Markup {
  const id = idOfReport(report);
  const unmet = report.run?.unmet ?? [];
  return renderHeader(
    'Verification of evidence',
    renderVerdict(report.verdict, quoteText(id), [MEANING[report.verdict]]),
    unmet.map(
      ({ requirement, message }) => html`<p>Required and not met: ${quote(requirement)} ${message}</p>`,
    ),
    renderFacts([...describeEvidence(report), ...describeVerifier(report), ...describeTimes(report)]),
  );
}

export const idOfReport = (report: ExportReport | BundleReport): string | undefined =>
  report.kind === 'export' ? report.evidenceExportId : (report.evidenceBundleId ?? report.path);

export const titleOf = (report: ExportReport | BundleReport): string =>
  `${report.verdict}: ${idOfReport(report) ?? 'evidence'}`;

function describeEvidence(report: ExportReport | BundleReport): readonly Fact[] {
  const whole = report.kind === 'export';
  return [
    [whole ? 'Export' : 'Bundle', quoteText(idOfReport(report))],
    ['Organization', quoteText(report.organizationId)],
    ['Project', whole ? undefined : quoteText(report.projectId)],
    ['Read from', quoteText(report.run?.path)],
    ['Manifest', quoteText(report.manifestDigest)],
    ['Parts', whole ? summarizeParts(report.parts) : undefined],
    ['Local reports', whole && report.localReports.length > 0 ? localTitle(report) : undefined],
    [
      'List of bundles',
      whole
        ? COMPLETENESS[report.completeness]
        : 'A single part does not show whether other bundles are missing.',
    ],
    [
      'Depth',
      report.depth === 'full'
        ? 'full: every object of every part was read'
        : 'digest: only the archives were compared with the manifest',
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
    ['Call', run === undefined ? undefined : quote(formatRun(run))],
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

export function listSigners(report: ExportReport | BundleReport): readonly SignedBy[] {
  const list = report.kind === 'export' && report.signer !== undefined ? [report.signer] : [];
  return [...partsOf(report).flatMap(signersOfPart), ...list];
}

const signersOfPart = ({ signer, signers }: BundleReport): readonly SignedBy[] =>
  signers ?? (signer === undefined ? [] : [signer]);
