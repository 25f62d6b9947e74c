import { defined } from '../../bytes/arguments.ts';
import { count, countNoun } from '../../bytes/text/wording.ts';
import type { BundleReport, Check, ExportReport, Finding, LocalReportReport } from '../../verify/report.ts';
import { CHECK_TEXTS, codesOf } from '../../verify/check-texts.ts';
import type { CheckId } from '../../verify/checks.ts';
import { type LinkState, renderState, wordOf } from './blocks.ts';
import type { Markup } from './document.ts';

export type Link = {
  readonly id: LinkId;
  readonly title: string;
  readonly claim: string;
  readonly state: LinkState;
  /** Why it does not hold, is unknown, or was not asked. */
  readonly why?: string;
  /** The first link that does not hold: nothing behind it is claimed. */
  readonly first?: true;
};

type Row = {
  readonly title: string;
  readonly claim: string;
  readonly checks: readonly CheckId[];
  /** The link needs trusted keys, and evidence without a signature leaves it undecided. */
  readonly signed?: boolean;
};

/** The links of the chain; each check of an export and its parts is in exactly one. */
export const LINKS = {
  documents: {
    title: 'Export documents',
    claim: 'The manifest follows its format, and every document of the export agrees with it.',
    checks: ['export.container', 'export.manifest', 'export.expected', 'export.resource', 'export.selection'],
  },
  files: {
    title: 'Files',
    claim: 'Exactly the listed files exist.',
    checks: ['export.files', 'export.bag'],
  },
  archives: {
    title: 'Archives',
    claim: 'Each archive has the listed size and SHA-256.',
    checks: ['part.bytes', 'local-report.bytes'],
  },
  bundles: {
    title: 'Bundles',
    claim: 'Each archive is one unambiguous ZIP with the bundle that the export lists.',
    checks: ['part.archive', 'bundle.manifest', 'bundle.row', 'bundle.expected'],
  },
  objects: {
    title: 'Objects',
    claim: 'Exactly the listed objects exist, each with its size and SHA-256.',
    checks: ['bundle.objects', 'second.reader'],
  },
  statements: {
    title: 'Statements',
    claim: 'Each signed statement names exactly this evidence.',
    checks: ['attestation.format', 'attestation.binding'],
    signed: true,
  },
  keys: {
    title: 'Keys',
    claim: 'A key that you trust is valid for each statement.',
    checks: ['attestation.key'],
    signed: true,
  },
  signatures: {
    title: 'Signatures',
    claim: 'Each signature verifies with that key.',
    checks: ['attestation.signature', 'second.crypto', 'dsse.attestation', 'timestamp.token'],
    signed: true,
  },
  list: {
    title: 'List of bundles',
    claim: 'The list is complete: a trusted key signed it, or you gave its digest.',
    checks: ['export.attestation'],
  },
} as const satisfies Readonly<Record<string, Row>>;
type LinkId = keyof typeof LINKS;
const ROWS: Readonly<Record<LinkId, Row>> = LINKS;
const LINK_IDS = Object.keys(LINKS) as readonly LinkId[];

type Result = { readonly state: LinkState; readonly why?: string };
type Subject = ExportReport | BundleReport | LocalReportReport;

const HOLDS: Result = { state: 'holds' };
const NOT_CLAIMED: Result = {
  state: 'could_not_tell',
  why: 'Not claimed, because a link before it does not hold or was not settled.',
};

/**
 * The chain of a report, from the documents of the export to its signatures. Of several parts the worst decides. Nothing
 * is claimed about an export or a part behind a link that does not hold, was not settled, or was not asked of it. The
 * list depends on no other link.
 */
export function chainOf(report: ExportReport | BundleReport): readonly Link[] {
  const stops = new Map<Subject, LinkState>();
  let isBroken = false;
  return LINK_IDS.flatMap((id): Link[] => {
    const result = resultOf(report, id, stops);
    if (result === undefined) return [];
    const first = !isBroken && result.state === 'does_not_hold' ? true : undefined;
    isBroken ||= first === true;
    const { title, claim } = ROWS[id];
    return [defined({ id, title, claim, ...result, first } as const)];
  });
}

type Stops = Map<Subject, LinkState>;

function resultOf(report: ExportReport | BundleReport, id: LinkId, stops: Stops): Result | undefined {
  const subjects = subjectsOf(report, id);
  if (subjects === undefined) return undefined;
  if (subjects.length === 0) return { state: 'could_not_tell', why: 'There is no part to check.' };
  const results = subjects.flatMap((subject) => {
    const result = deriveLinkResult(report, subject, id);
    if (result === undefined) return [];
    const before = [stops.get(report), stops.get(subject)];
    if (result.state !== 'holds' && stops.get(subject) !== 'does_not_hold') stops.set(subject, result.state);
    const isOpen = before.some((state) => state !== undefined) && result.state === 'holds';
    return id !== 'list' && (isOpen || before.includes('does_not_hold')) ? NOT_CLAIMED : result;
  });
  return findWorst(results, id === 'archives' ? 'archive' : 'part');
}

/** The subjects of a link; `undefined` for links of the export in the report of a single part. */
function subjectsOf(report: ExportReport | BundleReport, id: LinkId): readonly Subject[] | undefined {
  const ofExport = ROWS[id].checks.some((check) => check.startsWith('export.'));
  if (report.kind === 'bundle') return ofExport ? undefined : [report];
  if (ofExport) return [report];
  return id === 'archives' ? [...report.parts, ...report.localReports] : report.parts;
}

const WORST: readonly LinkState[] = ['does_not_hold', 'could_not_tell', 'not_asked'];

function findWorst(results: readonly Result[], noun: string): Result | undefined {
  if (results.length === 0) return undefined;
  const state = WORST.find((candidate) => results.some((result) => result.state === candidate));
  if (state === undefined) return HOLDS;
  const same = results.filter((result) => result.state === state);
  const which = results.length === 1 ? '' : `${count(same.length)} of ${countNoun(results.length, noun)}: `;
  return { state, why: `${which}${same[0]?.why ?? ''}` };
}

function deriveLinkResult(
  report: ExportReport | BundleReport,
  subject: Subject,
  id: LinkId,
): Result | undefined {
  const { checks: ids, signed = false } = ROWS[id];
  const broken = findBrokenCheck(subject, id);
  if (broken !== undefined)
    return { state: 'does_not_hold', why: `It is not true that ${CHECK_TEXTS[broken].sentence}.` };
  const checks = subject.checks.filter((check) => ids.includes(check.id));
  if (id === 'list') return report.kind === 'export' ? deriveListResult(report) : undefined;
  const open = checks.find(({ state }) => state === 'not_checked');
  if (open !== undefined) return deriveOpenResult(report, subject, open, signed);
  if (checks.some(({ state }) => state === 'passed')) return HOLDS;
  return signed && checks.length > 0 ? deriveUnsignedResult(subject) : undefined;
}

function findBrokenCheck({ checks, findings }: Subject, id: LinkId): CheckId | undefined {
  const failed = checks.find((check) => check.state === 'failed' && ROWS[id].checks.includes(check.id));
  if (failed !== undefined) return failed.id;
  const errors = findings.filter(({ severity, class: c }) => severity === 'error' && c !== 'inaccessible');
  const fault = errors.find((error) => linkOfFinding(error, checks) === id);
  if (fault === undefined) return undefined;
  return ROWS[id].checks.find((check) => codesOf(check).includes(fault.code)) ?? ROWS[id].checks[0];
}

/** The link that an error breaks although no check failed by it; the first link if no check can give its code. */
function linkOfFinding({ code }: Finding, checks: readonly Check[]): LinkId | undefined {
  const canGive = checks.filter(({ id }) => codesOf(id).includes(code));
  if (canGive.some(({ state }) => state === 'failed')) return undefined;
  return firstLinkOf(canGive) ?? firstLinkOf(checks);
}

const firstLinkOf = (checks: readonly Check[]): LinkId | undefined =>
  LINK_IDS.find((id) => checks.some((check) => ROWS[id].checks.includes(check.id)));

function deriveOpenResult(
  { trust, depth }: ExportReport | BundleReport,
  { checks }: Subject,
  { reason }: Check,
  signed: boolean,
): Result {
  if (depth === 'digest' && checks.some(({ id, state }) => id === 'part.bytes' && state === 'passed'))
    return { state: 'not_asked', why: 'At depth "digest" nothing inside the archives is read.' };
  if (signed && trust === undefined) return { state: 'not_asked', why: 'No trusted keys were given.' };
  return { state: 'could_not_tell', why: `Not checked: ${reason ?? 'no reason is recorded'}.` };
}

/** An envelope of the caller can sign evidence that has no signature inside. */
function deriveUnsignedResult({ checks }: Subject): Result {
  const enveloped = checks.some(({ id, state }) => id === 'dsse.attestation' && state === 'passed');
  return enveloped ? HOLDS : { state: 'could_not_tell', why: 'There is no signature.' };
}

function deriveListResult(report: ExportReport): Result {
  if (report.completeness !== 'claimed') return HOLDS;
  if (report.trust === undefined)
    return { state: 'not_asked', why: 'Neither trusted keys nor the digest of the manifest were given.' };
  return { state: 'could_not_tell', why: 'No trusted key signed the list, so bundles could be missing.' };
}

/** The first link that does not hold, or else the first that is undecided. */
export function findWeakLink(report: ExportReport | BundleReport): Link | undefined {
  const chain = chainOf(report);
  return chain.find(({ first }) => first) ?? chain.find(({ state }) => state !== 'holds');
}

export function renderChainEnd(report: ExportReport | BundleReport): Markup {
  const link = findWeakLink(report);
  if (link === undefined) return renderState('holds', 'every link holds');
  return renderState(link.state, `${link.title}: ${wordOf(link.state)}`);
}
