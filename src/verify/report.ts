import type { Digest } from '../bytes/index.ts';
import type { Reproduction } from '../contract/index.ts';
import type { Check } from './check.ts';
import type { Finding } from './finding.ts';

/** Verdicts, best first (formats §4). */
export const VERDICTS = ['verified', 'intact', 'incomplete', 'failed'] as const;
/** The result for a bundle or an export, best first: `verified`, `intact`, `incomplete`, `failed` (formats §4). */
export type Verdict = (typeof VERDICTS)[number];

/** `full` reads every object of every part; `digest` compares the archives with the export manifest only. */
export const DEPTHS = ['full', 'digest'] as const;
/** How much is read: `full`, or `digest` for the archives alone. */
export type Depth = (typeof DEPTHS)[number];

/** What vouches for the list of bundles: the caller's digest, a trusted export attestation, or nobody. */
export type Completeness = 'pinned' | 'attested' | 'claimed';

/** Whose word the evidence is: a key in the caller's trust store, an unjudged or absent signature, or a user. */
export type Provenance = 'attested' | 'claimed' | 'user_produced';

export type SignedBy = { readonly issuer: string; readonly keyId: string; readonly issuedAtMs: number };

/** One key that vouches for a bundle, under the name that the statement or envelope gives it. */
export type SigningKey = SignedBy & {
  /** The key itself, as `keyIdOf` names it: two names of one key have one thumbprint. */
  readonly thumbprint: Digest;
  /** Where it signed: the attestation in the part, or the envelope that the caller gave. */
  readonly in: 'attestation' | 'dsse';
};

/** What the run result in the evidence says of the drill. It is not a judgement of this verification. */
export type Outcome = {
  readonly drillId: string;
  readonly targetId: string;
  readonly status: string;
  readonly verdict: string;
};

/** How many bytes of an archive something vouches for. */
export type Coverage = {
  /** Bytes of all files looked at. */
  readonly totalBytes: number;
  /** Bytes that match a digest in the chain from the manifest. */
  readonly coveredBytes: number;
  /** Of these, bytes under a signature by a trusted key. */
  readonly attestedBytes: number;
  /** Files that nothing covers. */
  readonly uncovered: readonly string[];
  /** Files that a mirror adds, outside coverage: checksums and receipts. */
  readonly mirrorFiles: readonly string[];
};

/** The trust store that was used: the digest of all its keys and what each is trusted for, and how many there are. */
export type TrustUsed = { readonly fingerprint: Digest; readonly keys: number };

/** The run of the command that wrote a report: a verification itself never sets it. */
export type Run = {
  readonly tool: { readonly name: string; readonly version: string };
  /** The evidence, as the caller named it; absent where there are many. */
  readonly path?: string;
  /** The options that decide the result, by their names without dashes. */
  readonly options: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly exitCode: 0 | 1 | 2 | 3 | 77 | 130;
  /** What the caller required and the evidence does not meet. */
  readonly unmet: readonly { readonly requirement: string; readonly message: string }[];
};

/** The report of `verifyAttestation` and `verifyDsse`. */
export type AttestationReport = {
  readonly schemaVersion: 1;
  readonly kind: 'attestation';
  /** `valid`: a trusted key signed it and everything checked holds. An attestation alone is never `verified`. */
  readonly verdict: 'valid' | 'not_judged' | 'invalid';
  readonly asOfMs: number;
  /** Absent when none was given. */
  readonly trust?: TrustUsed;
  readonly signer?: SignedBy;
  readonly checks: readonly Check[];
  readonly findings: readonly Finding[];
};

/** The report of `verifyPart`: the verdict on one bundle, who signed it, each check, and each finding. */
export type BundleReport = {
  readonly schemaVersion: 1;
  readonly kind: 'bundle';
  readonly verdict: Verdict;
  readonly depth: Depth;
  readonly asOfMs: number;
  /** Absent when none was given. */
  readonly trust?: TrustUsed;
  /** The id in the manifest, or in the row of the export when there is no readable manifest. */
  readonly evidenceBundleId?: string;
  readonly organizationId?: string;
  readonly projectId?: string;
  readonly runId?: string;
  readonly hostedRunId?: string;
  /** The run that this one reproduces; absent unless it is a rerun. */
  readonly rerunOfHostedRunId?: string;
  readonly path?: string;
  readonly archive?: { readonly digest: Digest; readonly bytes: number };
  readonly manifestDigest?: Digest;
  readonly objectCount?: number;
  readonly createdAtMs?: number;
  /** Bytes of the manifest and of all objects, as the manifest lists them. */
  readonly evidenceBytes?: number;
  /** Whether it carries an attestation; absent when the archive could not be read and no row says it. */
  readonly signed?: boolean;
  readonly provenance: Provenance;
  readonly signer?: SignedBy;
  /** Every key that vouches for it, when any does: of the attestation first, then of an envelope that was given. */
  readonly signers?: readonly SigningKey[];
  /** What was pinned for the run, as the statement says; attested when `provenance` is. */
  readonly reproduction?: Reproduction;
  readonly outcome?: Outcome;
  readonly checks: readonly Check[];
  readonly findings: readonly Finding[];
  readonly coverage: Coverage;
  readonly run?: Run;
};

/** The report on one local report of an export: `intact` at best, because no one attests it. */
export type LocalReportReport = {
  readonly kind: 'local-report';
  readonly verdict: Exclude<Verdict, 'verified'>;
  readonly localReportId: string;
  readonly projectId: string;
  readonly path: string;
  readonly provenance: 'user_produced';
  readonly trust: 'unattested';
  readonly checks: readonly Check[];
  readonly findings: readonly Finding[];
};

/** The report of `verifyExport`: the verdict on an export, and the report of each part and each local report. */
export type ExportReport = {
  readonly schemaVersion: 1;
  readonly kind: 'export';
  readonly verdict: Verdict;
  readonly completeness: Completeness;
  readonly depth: Depth;
  readonly asOfMs: number;
  readonly evidenceExportId?: string;
  readonly organizationId?: string;
  readonly manifestDigest?: Digest;
  /** Absent when none was given. */
  readonly trust?: TrustUsed;
  /** Who signed the export attestation, when a trusted key did. */
  readonly signer?: SignedBy;
  readonly checks: readonly Check[];
  /** Findings about the export itself; those of parts and reports stand with them. */
  readonly findings: readonly Finding[];
  readonly parts: readonly BundleReport[];
  readonly localReports: readonly LocalReportReport[];
  readonly coverage: Coverage;
  readonly run?: Run;
};

/** The report of `verifyToolSource`. */
export type ToolSourceReport = {
  readonly schemaVersion: 1;
  readonly kind: 'tool-source';
  /** `verified` when a lock that the caller trusts names these bytes, `intact` when they only match themselves. */
  readonly verdict: Verdict;
  readonly packageId?: string;
  readonly buildHash?: string;
  readonly artifactHash?: string;
  readonly checks: readonly Check[];
  readonly findings: readonly Finding[];
};

/** Any report of this library that is not about receipts, summaries or decisions. */
export type Report = AttestationReport | BundleReport | ExportReport | ToolSourceReport;
