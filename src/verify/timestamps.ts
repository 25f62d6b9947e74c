import { listOf, type Kind, withMembers, TEXT } from '../bytes/arguments.ts';
import type { Digest } from '../bytes/hash.ts';
import { statementFinding } from './finding.ts';
import type { Finding, Stamp, Timestamp } from './report.ts';
import { NOTHING, recordCheck, type Step } from './step.ts';

/** A timestamp token that was checked, with the findings about it, as `verifyTimestamps` of `drillproof/node` gives it. */
export type CheckedTimestamp = Timestamp & { readonly findings: readonly Finding[] };

export const TIMESTAMPS: Kind<readonly CheckedTimestamp[]> = listOf(
  withMembers('a result of verifyTimestamps', { name: TEXT, digest: TEXT }),
);

/** The earliest timestamp that counts, by the digest of the bytes that it is about. */
export type Stamps = ReadonlyMap<Digest, Stamp>;

export function indexStamps(timestamps: readonly Timestamp[] = []): Stamps {
  const stamps = new Map<Digest, Stamp>();
  for (const { imprint, atMs, authority } of timestamps) {
    if (imprint === undefined || atMs === undefined || authority === undefined) continue;
    const earliest = findEarliest([stamps.get(imprint), { atMs, authority }]);
    if (earliest !== undefined) stamps.set(imprint, earliest);
  }
  return stamps;
}

export const findEarliest = (stamps: readonly (Stamp | undefined)[]): Stamp | undefined =>
  stamps.flatMap((stamp) => stamp ?? []).toSorted((a, b) => a.atMs - b.atMs)[0];

/**
 * `timestamp.token`: what is wrong with the tokens from the caller. One about other bytes proves nothing here.
 * @param listKnown lists digests of the evidence that a token may be about
 */
export function checkTimestamps(
  subject: string,
  timestamps: readonly CheckedTimestamp[] = [],
  listKnown: () => readonly (string | undefined)[],
): Step {
  if (timestamps.length === 0) return NOTHING;
  const known = new Set([...listKnown(), ...timestamps.map(({ digest }) => digest)]);
  const findings = timestamps.flatMap(({ name, imprint, findings: problems }) => {
    if (imprint === undefined || known.has(imprint)) return problems;
    const message = 'the token is about other bytes than this evidence';
    return [
      ...problems,
      statementFinding('timestamp.SUBJECT_UNKNOWN', subject, { path: name, message, actual: imprint }),
    ];
  });
  return recordCheck(
    'timestamp.token',
    findings.map((problem) => ({ ...problem, subject })),
  );
}

/** The timestamps as a report has them: their problems are among its findings. */
export const listTimestamps = (
  timestamps: readonly CheckedTimestamp[] = [],
): readonly Timestamp[] | undefined =>
  timestamps.length === 0 ? undefined : timestamps.map(({ findings: _findings, ...facts }) => facts);
