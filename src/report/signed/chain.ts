import { defined } from '../../bytes/arguments.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import type { TrustStore } from '../../trust/store.ts';
import type { AttestationReport, Finding, TrustUsed } from '../../verify/report.ts';
import { type CheckedTimestamp, indexStamps } from '../../verify/timestamps.ts';
import { findingsOf } from '../../verify/finding.ts';
import { checkLinkedSignatures, checkLinks } from '../../verify/signature/linked.ts';
import { parseSignedEnvelope, readSignedReport, resultOfReport, type SignedReport } from './statement.ts';

type Member = {
  /** The file, as the caller named it. */
  readonly name: string;
  /** SHA-256 of its payload; absent if it cannot be read. */
  readonly digest?: Digest;
  readonly sequence?: number;
  readonly previous?: Digest;
  readonly issuer?: string;
  readonly issuedAtMs?: number;
  /** What was signed, and the result that it states, with its drills if one did not pass. */
  readonly report?: { readonly kind: string; readonly result: string };
  /** Thumbprints of the trusted keys that signed it. */
  readonly keys: readonly Digest[];
};

export type ReportChain = {
  readonly schemaVersion: 1;
  readonly kind: 'report-chain';
  /** `valid`: trusted keys signed every report, and each follows the one before it. `not_checked`: no trust was given. */
  readonly verdict: AttestationReport['verdict'];
  readonly asOfMs: number;
  readonly trust?: TrustUsed;
  /** In the order of the call. */
  readonly reports: readonly Member[];
  readonly findings: readonly Finding[];
};

/** The bytes of a report, with the name that messages show. */
export type ReportFile = { readonly name: string; readonly report: Uint8Array };

export type ChainOptions = {
  readonly asOfMs: number;
  readonly trust?: TrustStore;
  /** Timestamps of the reports, checked with the same trust store. */
  readonly timestamps?: readonly CheckedTimestamp[];
  /** The report before the first one, if the caller knows it. */
  readonly after?: Digest;
  /** The last report, if the caller knows it. Without it, missing newer reports cannot be detected. */
  readonly expectLast?: Digest;
};

const REPORTS = {
  noun: 'report',
  codes: {
    order: 'report.ORDER_MISMATCH',
    fork: 'report.FORKED',
    mismatch: 'report.PREVIOUS_MISMATCH',
    missing: 'report.PREVIOUS_MISSING',
    last: 'report.LAST_MISMATCH',
  },
} as const;

type Verified = {
  readonly member: Member;
  readonly signed?: SignedReport;
  readonly findings: readonly Finding[];
};

/**
 * Verifies a chain of signed reports, oldest first (docs/verify/reports.md, Signed reports): each signature under the trust
 * store, the order, gaps, replaced reports, and both ends. Never throws for what is in the bytes.
 */
export function verifyReportChain(files: readonly ReportFile[], options: ChainOptions): ReportChain {
  const { asOfMs, trust } = options;
  const verified = files.map(({ name, report }) => verifyMember(name, report, options));
  const read = verified.flatMap(({ member: { name }, signed }) =>
    signed === undefined ? [] : [{ name, signed }],
  );
  const tokens = (options.timestamps ?? []).flatMap((token) => token.findings);
  const findings = [
    ...verified.flatMap((report) => report.findings),
    ...checkLinks(read, { ...options, ...REPORTS }),
    ...tokens,
  ];
  return defined({
    schemaVersion: 1,
    kind: 'report-chain',
    verdict: verdictOf(verified, findings, trust),
    asOfMs,
    trust: trust && { fingerprint: trust.fingerprint, keys: trust.keys.length },
    reports: verified.map(({ member }) => member),
    findings,
  } as const);
}

function verdictOf(
  verified: readonly Verified[],
  findings: readonly Finding[],
  trust: TrustStore | undefined,
): ReportChain['verdict'] {
  if (verified.length === 0 || findings.some(({ severity }) => severity === 'error')) return 'invalid';
  if (trust === undefined) return 'not_checked';
  return verified.every(({ member }) => member.keys.length > 0) ? 'valid' : 'invalid';
}

/** Signed reports in the order of their numbers; those that cannot be read come last. */
export function orderSignedReports(files: readonly ReportFile[]): readonly ReportFile[] {
  const places = new Map(files.map((file) => [file, sequenceOf(file.report)]));
  return files.toSorted((a, b) => places.get(a)! - places.get(b)!);
}

function sequenceOf(bytes: Uint8Array): number {
  try {
    return readSignedReport(parseSignedEnvelope(bytes)).sequence;
  } catch (error) {
    if (error instanceof DrillproofError) return Number.MAX_SAFE_INTEGER;
    throw error;
  }
}

function verifyMember(name: string, bytes: Uint8Array, options: ChainOptions): Verified {
  try {
    const envelope = parseSignedEnvelope(bytes);
    const signed = readSignedReport(envelope);
    const stampedAtMs = indexStamps(options.timestamps).get(digestOf(bytes))?.atMs;
    const { keys, findings } = checkLinkedSignatures(
      name,
      envelope,
      { ...signed, stampedAtMs },
      { ...options, purpose: 'report' },
    );
    const { digest, sequence, previous, issuer, issuedAtMs, report } = signed;
    const result = { kind: report.kind, result: resultOfReport(report) };
    const member = defined({ name, digest, sequence, previous, issuer, issuedAtMs, report: result, keys });
    return { member, signed, findings };
  } catch (error) {
    return { member: { name, keys: [] }, findings: findingsOf(error, name) };
  }
}
