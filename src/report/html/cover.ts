import { count, countNoun, isoTime } from '../../bytes/text/wording.ts';
import type { BundleReport, ExportReport, Run, SignedBy } from '../../verify/report.ts';
import { describeResult, type ResultLine } from '../text/result.ts';
import { groupBy } from '../../bytes/async.ts';
import {
  countSigners,
  describeBadDrills,
  describeVerdict,
  GOOD_OUTCOME,
  isOutcomeCounted,
  partsOf,
} from '../text/tally.ts';
import {
  type Anchors,
  type Fact,
  renderLink,
  renderTime,
  renderTimeRange,
  quote,
  quoteText,
  renderFacts,
  renderHeader,
  renderResultLine,
  renderState,
  renderVerdict,
  buildCallFact,
  buildTrustFact,
} from './blocks.ts';
import { html, type Markup, type Piece } from './document.ts';

const LINE_TITLES: Readonly<Record<ResultLine['name'], string>> = {
  required: 'Required, not met',
  failed: 'Failed',
  parts: 'Bundles',
  drills: 'Drills',
  completeness: 'List of bundles',
  time: 'Time',
  coverage: 'Bytes',
  claimed: 'Claimed',
  warnings: 'Warnings',
};

const MAX_NAMES = 3;

export function renderCover(report: ExportReport | BundleReport, anchors: Anchors = new Map()): Markup {
  const lines = groupBy(describeResult(report), ({ name }) => name);
  const names: Partial<Record<ResultLine['name'], readonly Piece[]>> = {
    failed: listBadParts(report, anchors),
    drills: listBadDrills(report, anchors),
  };
  const facts = [...lines].flatMap(([name, group]): readonly Fact[] => {
    const words = group.map((line) => html`<div>${renderResultLine(line)}</div>`);
    const fact: Fact = [
      LINE_TITLES[name],
      [words, renderFirst(names[name] ?? [], MAX_NAMES, anchors.size > 0)],
    ];
    if (name === 'claimed') return [];
    return name === 'completeness' ? [['Signed by', describeSigners(report)], fact] : [fact];
  });
  return renderHeader(
    'Verification of evidence',
    titleOf(report),
    renderVerdict(
      report.verdict,
      quoteText(idOfReport(report)),
      renderFacts(facts),
      describeBadDrills(report),
    ),
    renderFacts([
      ...describeEvidence(report),
      ...describeVerifier(report),
      ['Verified as of', renderTime(report.asOfMs)],
      [LINE_TITLES.claimed, lines.get('claimed')?.map(renderResultLine)],
    ]),
  );
}

/** The first items, each in a line, and a link to the table of parts if there are more and the page has it. */
function renderFirst(items: readonly Piece[], most: number, isLinked = false): Piece {
  const more = items.length - most;
  const rest = isLinked ? html`<a href="#parts">and ${count(more)} more</a>` : `and ${count(more)} more`;
  return [
    items.slice(0, most).map((item) => html`<div>${item}</div>`),
    more > 0 ? html`<div>${rest}</div>` : undefined,
  ];
}

const linkPart = ({ evidenceBundleId, path = '' }: BundleReport, anchors: Anchors): Markup =>
  renderLink(anchors.get(evidenceBundleId ?? path), evidenceBundleId ?? path);

const listBadParts = (report: ExportReport | BundleReport, anchors: Anchors): readonly Piece[] =>
  report.kind === 'bundle'
    ? []
    : report.parts
        .filter(({ findings }) => findings.some(({ severity }) => severity === 'error'))
        .map((part) => linkPart(part, anchors));

const listBadDrills = (report: ExportReport | BundleReport, anchors: Anchors): readonly Piece[] =>
  partsOf(report)
    .filter(isOutcomeCounted)
    .filter(({ outcome }) => outcome.verdict !== GOOD_OUTCOME)
    .map(
      (part) =>
        html`${quote(part.outcome.verdict)}: ${quote(part.outcome.drillId)} on ${quote(part.outcome.targetId)}, ${linkPart(part, anchors)}`,
    );

function describeSigners(report: ExportReport | BundleReport): Piece {
  const signers = countSigners(listSigners(report));
  if (signers.length === 0) return 'no trusted key';
  const lines = signers.map(
    ({ issuer, parts, firstIssuedAtMs, lastIssuedAtMs }) =>
      html`${quote(issuer)} ${countNoun(parts, 'statement')}, ${renderTimeRange(firstIssuedAtMs, lastIssuedAtMs)}`,
  );
  return renderFirst(lines, MAX_NAMES);
}

/** The verdict, and the drills if one did not pass. */
export function renderResult(report: ExportReport | BundleReport): Piece {
  const drills = describeBadDrills(report);
  return [renderState(report.verdict), drills && renderResultLine(drills)];
}

export const idOfReport = (report: ExportReport | BundleReport): string | undefined =>
  report.kind === 'export' ? report.evidenceExportId : (report.evidenceBundleId ?? report.path);

export const titleOf = (report: ExportReport | BundleReport): string =>
  `${describeVerdict(report)}: ${idOfReport(report) ?? 'evidence'}, as of ${isoTime(report.asOfMs)}`;

const describeTool = ({ tool: { name, version, page } }: Run): Piece => [
  quote(`${name} ${version}`),
  page === undefined ? undefined : html`, page ${quote(page)}`,
];

function describeEvidence(report: ExportReport | BundleReport): readonly Fact[] {
  const whole = report.kind === 'export';
  return [
    [whole ? 'Export' : 'Bundle', quoteText(idOfReport(report))],
    ['Organization', quoteText(report.organizationId)],
    ['Project', whole ? undefined : quoteText(report.projectId)],
    ['Read from', quoteText(report.run?.path)],
    ['Manifest', report.manifestDigest && html`<code class="copy">${report.manifestDigest}</code>`],
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
  return [['Verified by', run && describeTool(run)], buildCallFact(run), buildTrustFact(trust)];
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
