import { findEarliest } from '../../verify/timestamps.ts';
import { count, countNoun, isoTime } from '../../bytes/text/wording.ts';
import type { BundleReport, Completeness, ExportClaim, ExportReport, Verdict } from '../../verify/report.ts';
import { summarizeCoverage } from './facts.ts';
import { allFindings } from '../../verify/finding.ts';
import { clipEnd } from '../printable.ts';
import { countCodes } from './findings.ts';
import { listFailures, VERDICT_PAINT } from './headline.ts';
import type { Paint } from './page.ts';
import { describeBadDrills, isOutcomeCounted, partsOf, summarizeOutcomes } from './tally.ts';

type LineName =
  | 'required'
  | 'failed'
  | 'parts'
  | 'drills'
  | 'completeness'
  | 'time'
  | 'coverage'
  | 'claimed'
  | 'warnings';
/** A sentence about the result, made from the report. */
export type ResultLine = {
  readonly name: LineName;
  readonly text: string;
  readonly tone?: keyof Pick<Paint, 'good' | 'caution' | 'bad'>;
};

const MEANING: Readonly<Record<Verdict, string>> = {
  verified: 'every object matches its digest, and a trusted key signed the bundle',
  intact: 'the bytes match their digests; no trusted signature of the bundle was verified',
  incomplete: 'something could not be read or checked',
  failed: 'something does not match, or is not valid',
};

const LIST: Readonly<Record<Completeness, string>> = {
  pinned: 'pinned: the list of bundles has the digest that you gave',
  attested: 'attested: a trusted key signed the list of bundles',
  claimed: 'claimed: no trusted key signed the list of bundles',
};

/** The sentences about a report on evidence. Text, pages and the page in a browser show these and no others. */
export function describeResult(report: ExportReport | BundleReport): readonly ResultLine[] {
  const parts = partsOf(report);
  const warnings = countCodes(allFindings(report), 'warning');
  return [
    ...(report.run?.unmet ?? []).map(
      ({ message }) => ({ name: 'required', tone: 'bad', text: message }) as const,
    ),
    ...listFailures(report).map((text) => ({ name: 'failed', tone: 'bad', text }) as const),
    ...describeParts(report),
    ...(parts.length === 0 ? [] : [describeDrills(report)]),
    describeList(report),
    ...describeTime(report),
    { name: 'coverage', text: summarizeCoverage(report) },
    ...describeClaims(report),
    ...(warnings === undefined ? [] : [{ name: 'warnings', tone: 'caution', text: warnings } as const]),
  ];
}

function describeParts(report: ExportReport | BundleReport): readonly ResultLine[] {
  const parts = partsOf(report);
  if (parts.length === 0) return [{ name: 'parts', tone: 'caution', text: 'the export lists no bundle' }];
  return (Object.keys(MEANING) as Verdict[]).flatMap((verdict) => {
    const times = parts.filter((part) => part.verdict === verdict).length;
    if (times === 0) return [];
    const which = report.kind === 'export' ? `${count(times)} of ${countNoun(parts.length, 'part')} ` : '';
    return [{ name: 'parts', tone: VERDICT_PAINT[verdict], text: `${which}${verdict}: ${MEANING[verdict]}` }];
  });
}

function describeDrills(report: ExportReport | BundleReport): ResultLine {
  const parts = partsOf(report);
  const tone = describeBadDrills(report)?.tone ?? (parts.every(isOutcomeCounted) ? 'good' : 'caution');
  return { name: 'drills', tone, text: summarizeOutcomes(parts) };
}

function describeList(report: ExportReport | BundleReport): ResultLine {
  if (report.kind === 'bundle')
    return { name: 'completeness', text: 'a part does not show whether other bundles are missing' };
  const { completeness } = report;
  return {
    name: 'completeness',
    tone: completeness === 'claimed' ? 'caution' : 'good',
    text: LIST[completeness],
  };
}

/** Which parts have a trusted timestamp, if any token was given. */
function describeTime(report: ExportReport | BundleReport): readonly ResultLine[] {
  if (report.timestamps === undefined) return [];
  const parts = partsOf(report);
  const stamps = parts.flatMap((part) => findEarliest((part.signers ?? []).map(({ stamp }) => stamp)) ?? []);
  const last = stamps.toSorted((a, b) => b.atMs - a.atMs)[0];
  if (last === undefined)
    return [
      { name: 'time', tone: 'caution', text: 'no timestamp of a trusted authority counts for a signature' },
    ];
  const names = [...new Set(stamps.map(({ authority }) => authority))].join(', ');
  const which =
    report.kind === 'export' ? `${count(stamps.length)} of ${countNoun(parts.length, 'part')} ` : '';
  const text = `${which}signed no later than ${isoTime(last.atMs)}, by timestamps of ${names}`;
  return [{ name: 'time', tone: stamps.length === parts.length ? 'good' : 'caution', text }];
}

/** Columns of a claimed value; the JSON report has all of it. */
const MAX_CLAIM = 48;

const NUMBER = /^\d+$/;

function describeClaim({ name, value }: ExportClaim): string {
  if (!NUMBER.test(value)) return `${name} ${clipEnd(JSON.stringify(value), MAX_CLAIM)}`;
  return name.endsWith('AtMs') ? `${name.slice(0, -2)} ${isoTime(Number(value))}` : `${name} ${value}`;
}

function describeClaims(report: ExportReport | BundleReport): readonly ResultLine[] {
  if (report.kind === 'bundle' || report.claims === undefined || report.claims.length === 0) return [];
  const claims = report.claims.map(describeClaim);
  return [{ name: 'claimed', text: `by export.json, not signed: ${claims.join(', ')}` }];
}
