import type { Digest } from '../bytes/hash.ts';
import type { Code } from '../codes/catalogue.ts';
import type { CodeClass, Severity } from '../codes/entry.ts';
import type { Reproduction } from '../contract/resources/attestation.ts';
import type { CheckId } from './checks.ts';

/** Verdicts, best first (formats §4). */
export const VERDICTS = ['verified', 'intact', 'incomplete', 'failed'] as const;
/**
 * The result for a bundle or an export, best first (formats §4). `verified`: every byte matches its digest, and a
 * trusted key signed it. `intact`: every byte matches, but no trusted signature was checked. `incomplete`: something
 * could not be read or checked. `failed`: something does not match, breaks its format, or is signed by a key that is not
 * valid for it.
 */
export type Verdict = (typeof VERDICTS)[number];

export const DEPTHS = ['full', 'digest'] as const;
/** `full` reads every object of every part; `digest` only compares the archives with the manifest of the export. */
export type Depth = (typeof DEPTHS)[number];

export const CHECK_STATES = ['passed', 'failed', 'not_checked', 'not_applicable'] as const;
/** `not_checked`: it was required but could not run, and never counts as passed. `not_applicable`: nothing to check. */
export type CheckState = (typeof CHECK_STATES)[number];

export const COMPLETENESS = ['pinned', 'attested', 'claimed'] as const;
/**
 * The reason why the list of bundles is known to be complete (formats §4). `pinned`: the caller gave the digest of the
 * manifest. `attested`: a trusted key signed the list. `claimed`: neither; bundles could be missing without a trace.
 */
export type Completeness = (typeof COMPLETENESS)[number];

/** One step of a verification and how it ended (docs/codes.md lists the checks). */
export interface Check {
  /** A check of docs/codes.md. */
  readonly id: CheckId;
  /** How it ended. */
  readonly state: CheckState;
  /** Why it was not checked or does not apply. */
  readonly reason?: string;
}

/** One problem or remark with a code. The findings about one input always come in the same order. */
export interface Finding {
  /** A row of docs/codes.md. */
  readonly code: Code;
  /** The kind of problem, which decides the verdict. */
  readonly class: CodeClass;
  /** `error` decides a verdict, `warning` asks for a look, `info` states a fact. */
  readonly severity: Severity;
  /** `export`, or the id of a bundle or local report. */
  readonly subject: string;
  /** An entry of an archive, a file of the export, or a JSON pointer; the pointer follows its file after `#`. */
  readonly path?: string;
  /** What is wrong, for people. */
  readonly message: string;
  /** The value that it must have. */
  readonly expected?: string;
  /** The value that it has. */
  readonly actual?: string;
  /** How many further findings have this code and subject; they are not listed. */
  readonly more?: number;
}

/** The trust store that was used. */
export interface TrustUsed {
  /** SHA-256 of all its keys with their limits. */
  readonly fingerprint: Digest;
  /** The number of its keys. */
  readonly keys: number;
}

/** The key that a signed statement names. */
export interface SignedBy {
  /** The issuer, exactly as the statement names it. */
  readonly issuer: string;
  /** The name of the key. */
  readonly keyId: string;
  /** The time that the statement gives itself, in ms since 1970. */
  readonly issuedAtMs: number;
}

/** Proof by a time authority that bytes existed. */
export interface Stamp {
  /** The latest time at which they began to exist, with the accuracy of the authority, in ms since 1970. */
  readonly atMs: number;
  /** The name of the authority in the trust store. */
  readonly authority: string;
}

/** One timestamp token (RFC 3161) that was given with the evidence. It counts if it has an authority. */
export interface Timestamp extends Partial<Stamp> {
  /** The file of the token. */
  readonly name: string;
  /** SHA-256 of the token. */
  readonly digest: Digest;
  /** SHA-256 of the bytes that it is about; absent if the token cannot be read. */
  readonly imprint?: Digest;
}

/** One key that signed a bundle, under the name that the statement or envelope gives it. */
export interface SigningKey extends SignedBy {
  /** SHA-256 of the key, as `keyIdOf` gives it: two names of one key have one. */
  readonly thumbprint: Digest;
  /** The last moment at which the key is valid; null if it has no end. Absent in reports of earlier releases. */
  readonly validThroughMs?: number | null;
  /** The place of its signature: the attestation in the part, or an envelope from the caller. */
  readonly in: 'attestation' | 'dsse';
  /** The earliest trusted timestamp of the signed statement. */
  readonly stamp?: Stamp;
}

/** The number of bytes of the evidence that a digest or signature in the chain covers. */
export interface Coverage {
  /** Bytes of all files, without those of a mirror and the claims of `export.json`. */
  readonly totalBytes: number;
  /** Bytes that match a digest in the chain from the manifest. */
  readonly coveredBytes: number;
  /** Covered bytes under a signature by a trusted key. */
  readonly attestedBytes: number;
  /** Paths of files that no digest covers. */
  readonly uncovered: readonly string[];
  /** Paths of files that a mirror adds, outside coverage: checksums and receipts. */
  readonly mirrorFiles: readonly string[];
}

/** A member of `export.json` that the manifest does not fix. Nothing signs it, and no decision uses it. */
export interface ExportClaim {
  /** Its name in `export.json`. */
  readonly name: string;
  /** Its value, as JSON. */
  readonly value: string;
}

/** One assertion of a run. */
export interface OutcomeAssertion {
  /** The assertion. */
  readonly id: string;
  /** The verdict of the run depends on it. */
  readonly gate: boolean;
  /** `passed`, `failed` or `error`, or what the run says instead. */
  readonly status: string;
}

/** One checkpoint of a run. */
export interface OutcomeCheckpoint {
  /** The checkpoint. */
  readonly id: string;
  /** Its kind, such as `final`. */
  readonly kind: string;
  /** `passed`, `failed` or `inconclusive`, or what the run says instead. */
  readonly verdict: string;
}

/** The facts that the signed run result states. They are not results of this verification. */
export interface Outcome {
  /** The drill that ran. */
  readonly drillId: string;
  /** What was drilled. */
  readonly targetId: string;
  /** How the run ended, such as `completed`. */
  readonly status: string;
  /** The result of the drill, such as `passed`. */
  readonly verdict: string;
  /** Whether the simulated environment was consistent. Absent in reports of earlier releases, as are the members below. */
  readonly worldConsistency?: string;
  /** `complete` only if that of every interaction is. */
  readonly bindingEvidence?: string;
  /** Whether the run kept its budget of tool calls and scheduled events. */
  readonly budget?: 'kept' | 'exceeded';
  /** Those of the run, then those of its checkpoints; absent if there are more than 1,000. */
  readonly assertions?: readonly OutcomeAssertion[];
  /** Absent if there are more than 1,000. */
  readonly checkpoints?: readonly OutcomeCheckpoint[];
  /** The world in which it ran. */
  readonly worldInstanceId?: string;
  /** Texts, numbers and booleans of the environment of the setup, as text; absent if there are more than 64. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The virtual time from the start of the run to its end, in microseconds. */
  readonly virtualUs?: number;
}

/** The run of the command that wrote a report: a verification itself never sets it. */
export interface Run {
  /** The program that wrote the report. */
  readonly tool: {
    /** Always `drillproof` for a report of drillproof. */
    readonly name: string;
    /** The version of the package. */
    readonly version: string;
    /** For the page of drillproof: the SHA-256 of its file, with 64 zeros where the file states this digest. */
    readonly page?: string;
  };
  /** The evidence, as the caller named it; absent if there are several. */
  readonly path?: string;
  /** The options that decide the result, by their names without dashes. */
  readonly options: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /** The exit code of the command. */
  readonly exitCode: 0 | 1 | 2 | 3 | 130;
  /** What the caller required and the evidence does not meet. */
  readonly unmet: readonly { readonly requirement: string; readonly message: string }[];
}

/** The steps of a verification, and what they found. */
interface Results {
  /** Every step, in order. */
  readonly checks: readonly Check[];
  /** Every problem and remark, in order. */
  readonly findings: readonly Finding[];
}

/** What all reports have that can be read from a file. */
interface Versioned {
  /** Always 1; a later form of the report has another number. */
  readonly schemaVersion: 1;
}

/** A verification under a trust store. */
interface Verification extends Versioned, Results {
  /** The time of the verification, as the caller gave it, in ms since 1970. */
  readonly asOfMs: number;
  /** Absent if none was given. */
  readonly trust?: TrustUsed;
  /** The key that the statement names; absent unless it is trusted and signed it. */
  readonly signer?: SignedBy;
  /**
   * Every trusted key that signed: first in the attestation, then in envelopes from the caller. Absent in reports on exports
   * of earlier releases.
   */
  readonly signers?: readonly SigningKey[];
  /** Timestamp tokens that were given with it; absent if there were none. */
  readonly timestamps?: readonly Timestamp[];
}

/** A verification of the bytes of evidence. */
interface EvidenceVerification extends Verification {
  /** How much was read. */
  readonly depth: Depth;
  /** How many bytes a digest or a signature covers; of an export, parts included. */
  readonly coverage: Coverage;
  /** Set by the command only. */
  readonly run?: Run;
}

/** The report of `verifyAttestation` and `verifyDsse`: the verdict on a statement without its evidence (formats §4). */
export interface AttestationReport extends Verification {
  /** Always `attestation`. */
  readonly kind: 'attestation';
  /**
   * `valid`: a trusted key signed it and everything checked holds. `not_checked`: no trust was given. An attestation
   * alone is never `verified`.
   */
  readonly verdict: 'valid' | 'not_checked' | 'invalid';
}

/** The report of `verifyPart`: the verdict on one bundle, who signed it, each check, and each finding (formats §4). */
export interface BundleReport extends EvidenceVerification {
  /** Always `bundle`. */
  readonly kind: 'bundle';
  /** The result (formats §4). */
  readonly verdict: Verdict;
  /** The id in the manifest, or in the row of the export if there is no readable manifest. */
  readonly evidenceBundleId?: string;
  /** The organization in the manifest. */
  readonly organizationId?: string;
  /** The project in the manifest. */
  readonly projectId?: string;
  /** The run that the bundle is about. */
  readonly runId?: string;
  /** The name of the run at its control plane. */
  readonly hostedRunId?: string;
  /** The run that this one reproduces; absent unless it is a rerun. */
  readonly rerunOfHostedRunId?: string;
  /** The path of the part in the export. */
  readonly path?: string;
  /** The ZIP archive: SHA-256 and size in bytes. */
  readonly archive?: { readonly digest: Digest; readonly bytes: number };
  /** SHA-256 of the manifest of the bundle. */
  readonly manifestDigest?: Digest;
  /** The number of objects that the manifest lists. */
  readonly objectCount?: number;
  /** The time in the manifest, in ms since 1970. */
  readonly createdAtMs?: number;
  /** Bytes of the manifest and of all objects, as the manifest lists them. */
  readonly evidenceBytes?: number;
  /** True if it has an attestation; absent if the archive could not be read and no row states it. */
  readonly signed?: boolean;

  /** `attested`: a trusted key signed it. `claimed`: unsigned, or no trusted signature. */
  readonly provenance: 'attested' | 'claimed' | 'user_produced';
  /** What the statement pins for a rerun; attested if `provenance` is. */
  readonly reproduction?: Reproduction;
  /** Facts that the run result states; verification does not check them. */
  readonly outcome?: Outcome;
}

/** The report on one local report of an export: `intact` at best, because no key attests it (formats §4). */
export interface LocalReportReport extends Results {
  /** Always `local-report`. */
  readonly kind: 'local-report';
  /** Never `verified`. */
  readonly verdict: 'intact' | 'incomplete' | 'failed';
  /** The id in the manifest of the export. */
  readonly localReportId: string;
  /** The project in the manifest of the export. */
  readonly projectId: string;
  /** The path in the export. */
  readonly path: string;
  /** Always `user_produced`: a user uploaded it, and no key attests it. */
  readonly provenance: 'user_produced';
  /** Always `unattested`. */
  readonly trust: 'unattested';
}

/**
 * The report of `verifyExport`: the verdict on an export, and on each part and each local report (formats §4). Its checks and
 * findings are about the export itself; `allFindings` has those of its parts, too.
 */
export interface ExportReport extends EvidenceVerification {
  /** Always `export`. */
  readonly kind: 'export';
  /** The result: that of the worst bundle, or worse (formats §4). */
  readonly verdict: Verdict;
  /** Whether bundles can be missing without a trace. */
  readonly completeness: Completeness;
  /** The id in the manifest. */
  readonly evidenceExportId?: string;
  /** The organization in the manifest. */
  readonly organizationId?: string;
  /** The window of the manifest, in ms since 1970; absent in reports of earlier releases. */
  readonly window?: { readonly fromAtMs: number; readonly throughAtMs: number };
  /** SHA-256 of the manifest of the export. */
  readonly manifestDigest?: Digest;
  /** One report for each part that the manifest lists, in its order. */
  readonly parts: readonly BundleReport[];
  /** One report for each local report that the manifest lists, in its order. */
  readonly localReports: readonly LocalReportReport[];
  /** Members of `export.json` that nothing signs. Absent in reports of earlier releases, and if it could not be read. */
  readonly claims?: readonly ExportClaim[];
}

/** The report of `verifyToolSource`: the verdict on the JavaScript of one tool (formats §4). */
export interface ToolSourceReport extends Versioned, Results {
  /** Always `tool-source`. */
  readonly kind: 'tool-source';
  /** `verified` if a lock that the caller trusts names these bytes, `intact` if they only match themselves. */
  readonly verdict: Verdict;
  /** The package, if the source could be read. */
  readonly packageId?: string;
  /** The build, if the source could be read. */
  readonly buildHash?: string;
  /** SHA-256 of the source, if it could be read. */
  readonly artifactHash?: string;
}

/** A receipt at the end of a chain. */
export interface ReceiptHead {
  /** The path in the mirror. */
  readonly path: string;
  /** SHA-256 of the receipt. */
  readonly digest: Digest;
  /** When the run of the mirror ended, in ms since 1970. */
  readonly finishedAtMs: number;
}

/** One receipt of a mirror. */
export interface ReceiptLine {
  /** The path in the mirror. */
  readonly path: string;
  /** SHA-256. Absent if it could not be read, as is everything below. */
  readonly digest?: Digest;
  /** When the run of the mirror began, in ms since 1970. */
  readonly startedAtMs?: number;
  /** When it ended, in ms since 1970. */
  readonly finishedAtMs?: number;
  /** Whether the mirror was complete then. */
  readonly outcome?: 'complete' | 'incomplete';
  /** The number of files that it lists. */
  readonly files?: number;
  /** The number of files that could not be fetched. */
  readonly failures?: number;
  /** The program that made the mirror. */
  readonly tool?: string;
  /** Where the files are from. */
  readonly source?: string;
}

/** The report of `verifyReceipts` on the chain of receipts of one mirror (formats §1, Receipts). */
export interface ReceiptsReport extends Versioned {
  /** Always `receipts`. */
  readonly kind: 'receipts';
  /** `sound`: no error. `broken`: an error. `unread`: something could not be read. `none`: no receipt. */
  readonly verdict: 'sound' | 'broken' | 'unread' | 'none';
  /** The export that the receipts name. */
  readonly evidenceExportId?: string;
  /** The organization that they name. */
  readonly organizationId?: string;
  /** The manifest that they name. */
  readonly manifestDigest?: string;
  /** The mirror has a manifest that could be read, so the receipts are compared with it. */
  readonly manifestHere: boolean;
  /** The newest receipt of the chain. */
  readonly head?: ReceiptHead;
  /** The number of receipts without links, outside the chain. */
  readonly unlinked: number;
  /** Every receipt, by time and name. */
  readonly receipts: readonly ReceiptLine[];
  /** Every problem and remark, in order. */
  readonly findings: readonly Finding[];
}
export type ChainResult = ReceiptsReport['verdict'];

/** A report of `verifyExport`, `verifyPart`, `verifyAttestation`, `verifyDsse` or `verifyToolSource`, by `kind`. */
export type Report = AttestationReport | BundleReport | ExportReport | ToolSourceReport;
