import * as z from 'zod/mini';
import type { Code } from '../codes/catalogue.ts';
import { CODE_CLASSES, SEVERITIES } from '../codes/entry.ts';
import { isCode } from '../codes/facts.ts';
import {
  allow,
  atMsSchema as atMs,
  countSchema as count,
  typedDigestSchema as digest,
  narrowText,
} from '../contract/scalars.ts';
import { reproductionSchema } from '../contract/resources/evidence.ts';
import { type CheckId, isCheckId } from './checks.ts';

// Codes and checks are patterns in the JSON Schemas, because a later release has more of them. Their schemas have a
// named type, so that declarations do not list every code.
export interface CodeSchema extends z.ZodMiniType<Code, string> {}
export interface CheckIdSchema extends z.ZodMiniType<CheckId, string> {}

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

export const codeSchema: CodeSchema = narrowText(
  z.string().check(z.regex(/^[a-z][a-z0-9-]*\.[A-Z][A-Z0-9_]*$/)),
  isCode,
).check(z.describe('a row of docs/codes.md'));
export const codeClassSchema = z.enum(CODE_CLASSES);
export const severitySchema = z.enum(SEVERITIES);

export const checkIdSchema: CheckIdSchema = narrowText(
  z.string().check(z.regex(/^[a-z-]+\.[a-z-]+$/)),
  isCheckId,
).check(z.describe('a check of docs/codes.md'));

const checkSchema = z.strictObject({
  id: checkIdSchema,
  /**
   * `not_checked`: it was required but could not run, and never counts as passed. `not_applicable`: nothing to check.
   */
  state: z.enum(['passed', 'failed', 'not_checked', 'not_applicable']),
  /** Why it was not checked or does not apply. */
  reason: allow(z.string()),
});
/** One step of a verification and how it ended (docs/codes.md lists the checks). */
export interface Check extends Readonly<z.infer<typeof checkSchema>> {}
export type CheckState = Check['state'];

const findingSchema = z.strictObject({
  code: codeSchema,
  /** The kind of problem, which decides the verdict. */
  class: codeClassSchema,
  /** `error` decides a verdict, `warning` asks for a look, `info` states a fact. */
  severity: severitySchema,
  subject: z.string().check(z.describe('export, or the id of a bundle or local report')),
  /** An entry of an archive, a file of the export, or a JSON pointer; the pointer follows its file after `#`. */
  path: allow(z.string(), 'an entry, a file or a JSON pointer'),
  message: z.string(),
  expected: allow(z.string()),
  actual: allow(z.string()),
  more: allow(count, 'further findings with this code and subject, which are not listed'),
});
/** One problem or remark with a code. The findings about one input always come in the same order. */
export interface Finding extends Readonly<z.infer<typeof findingSchema>> {}

const ledger = { checks: z.readonly(z.array(checkSchema)), findings: z.readonly(z.array(findingSchema)) };

const trust = z
  .strictObject({ fingerprint: digest, keys: count })
  .check(z.describe('the trust store that was used'));
/** The trust store that was used: its fingerprint, and the number of its keys. */
export interface TrustUsed extends Readonly<z.infer<typeof trust>> {}

const signedBy = { issuer: z.string(), keyId: z.string(), issuedAtMs: atMs };
const signer = z.strictObject(signedBy);
export interface SignedBy extends Readonly<z.infer<typeof signer>> {}

const signingKey = z.strictObject({
  ...signedBy,
  /** The key itself, as `keyIdOf` names it. */
  thumbprint: digest.check(z.describe('SHA-256 of the key: two names of one key have one')),
  /** The last moment at which the key is valid; null if it has no end. Absent in reports of earlier releases. */
  validThroughMs: allow(z.union([atMs, z.null()])),
  /** The place of its signature: the attestation in the part, or an envelope from the caller. */
  in: z.enum(['attestation', 'dsse']),
});
/** One key that signed a bundle, under the name that the statement or envelope gives it. */
export interface SigningKey extends Readonly<z.infer<typeof signingKey>> {}

const coverage = z
  .strictObject({
    /** Bytes of all files, without those of a mirror and the claims of `export.json`. */
    totalBytes: count,
    /** Bytes that match a digest in the chain from the manifest. */
    coveredBytes: count,
    /** Covered bytes under a signature by a trusted key. */
    attestedBytes: count,
    /** Paths of files that no digest covers. */
    uncovered: z.readonly(z.array(z.string())),
    /** Paths of files that a mirror adds, outside coverage: checksums and receipts. */
    mirrorFiles: z.readonly(z.array(z.string())),
  })
  .check(z.describe('how many bytes a digest or a signature covers'));
/** A member of `export.json` that the manifest does not fix. Nothing signs it, and no decision uses it. */
const claim = z.strictObject({ name: z.string(), value: z.string() });
export interface ExportClaim extends Readonly<z.infer<typeof claim>> {}

/** The number of bytes of the evidence that a digest or signature in the chain covers. */
export interface Coverage extends Readonly<z.infer<typeof coverage>> {}

const outcome = z.strictObject({
  drillId: z.string(),
  targetId: z.string(),
  status: z.string(),
  verdict: z.string(),
  /** Absent in reports of earlier releases, as are the members below. */
  worldConsistency: allow(z.string()),
  bindingEvidence: allow(z.string(), 'complete only if that of every interaction is'),
  budget: allow(z.enum(['kept', 'exceeded']), 'of tool calls and scheduled events'),
  assertions: allow(
    z.readonly(z.array(z.strictObject({ id: z.string(), gate: z.boolean(), status: z.string() }))),
    'of the run, then of its checkpoints; absent if there are more than 1,000',
  ),
  checkpoints: allow(
    z.readonly(z.array(z.strictObject({ id: z.string(), kind: z.string(), verdict: z.string() }))),
    'absent if there are more than 1,000',
  ),
});
/** The facts that the signed run result states. They are not results of this verification. */
export interface Outcome extends Readonly<z.infer<typeof outcome>> {}

export const runSchema = z
  .strictObject({
    tool: z.strictObject({ name: z.string(), version: z.string() }),
    /** Absent if there are several. */
    path: allow(z.string(), 'the evidence, as the caller named it'),
    /** By their names without dashes. */
    options: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.readonly(z.array(z.string()))]))
      .check(z.describe('the options that decide the result')),
    exitCode: z.literal([0, 1, 2, 3, 77, 130]),
    unmet: z
      .readonly(z.array(z.strictObject({ requirement: z.string(), message: z.string() })))
      .check(z.describe('what the caller required and the evidence does not meet')),
  })
  .check(z.describe('the run of the command that wrote the report'));
/** The run of the command that wrote a report: a verification itself never sets it. */
export interface Run extends Readonly<z.infer<typeof runSchema>> {}

export const attestationReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('attestation'),
  /**
   * `valid`: a trusted key signed it and everything checked holds. `not_judged`: no trust was given. An attestation
   * alone is never `verified`.
   */
  verdict: z.enum(['valid', 'not_judged', 'invalid']),
  /** The time of the verification, as the caller gave it. */
  asOfMs: atMs,
  /** Absent if none was given. */
  trust: allow(trust),
  signer: allow(signer),
  ...ledger,
});
/** The report of `verifyAttestation` and `verifyDsse`: the verdict on a statement without its evidence (formats §4). */
export interface AttestationReport extends Readonly<z.infer<typeof attestationReportSchema>> {}

const verdict = z.enum(VERDICTS).check(z.describe('formats §4'));

export const bundleReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('bundle'),
  verdict,
  depth: z.enum(DEPTHS),
  /** The time of the verification, as the caller gave it. */
  asOfMs: atMs,
  /** Absent if none was given. */
  trust: allow(trust),
  /** The id in the manifest, or in the row of the export if there is no readable manifest. */
  evidenceBundleId: allow(z.string()),
  organizationId: allow(z.string()),
  projectId: allow(z.string()),
  runId: allow(z.string()),
  hostedRunId: allow(z.string()),
  /** The run that this one reproduces; absent unless it is a rerun. */
  rerunOfHostedRunId: allow(z.string()),
  path: allow(z.string()),
  /** The ZIP archive. */
  archive: allow(z.strictObject({ digest, bytes: count })),
  manifestDigest: allow(digest),
  objectCount: allow(count),
  createdAtMs: allow(atMs),
  /** Bytes of the manifest and of all objects, as the manifest lists them. */
  evidenceBytes: allow(count),
  /** True if it has an attestation; absent if the archive could not be read and no row states it. */
  signed: allow(z.boolean()),
  /** `attested`: a trusted key signed it. `claimed`: unsigned, or no trusted signature. */
  provenance: z.enum(['attested', 'claimed', 'user_produced']),
  signer: allow(signer),
  /** Every trusted key that signed it: first in the attestation, then in envelopes from the caller. */
  signers: allow(z.readonly(z.array(signingKey))),
  reproduction: allow(reproductionSchema, 'what the statement pins; attested when provenance is'),
  outcome: allow(outcome, 'facts that the run result states; verification does not check them'),
  ...ledger,
  coverage,
  run: allow(runSchema),
});
/** The report of `verifyPart`: the verdict on one bundle, who signed it, each check, and each finding (formats §4). */
export interface BundleReport extends Readonly<z.infer<typeof bundleReportSchema>> {}

const localReportReportSchema = z.strictObject({
  kind: z.literal('local-report'),
  verdict: z.enum(['intact', 'incomplete', 'failed']),
  localReportId: z.string(),
  projectId: z.string(),
  path: z.string(),
  provenance: z.literal('user_produced'),
  trust: z.literal('unattested'),
  ...ledger,
});
/** The report on one local report of an export: `intact` at best, because no key attests it (formats §4). */
export interface LocalReportReport extends Readonly<z.infer<typeof localReportReportSchema>> {}

export const exportReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('export'),
  verdict,
  /**
   * `pinned`: the caller gave the digest of the manifest. `attested`: a trusted key signed the list. `claimed`: neither.
   */
  completeness: z.enum(['pinned', 'attested', 'claimed']),
  depth: z.enum(DEPTHS),
  /** The time of the verification, as the caller gave it. */
  asOfMs: atMs,
  evidenceExportId: allow(z.string()),
  organizationId: allow(z.string()),
  /** The window of the manifest; absent in reports of earlier releases. */
  window: allow(z.strictObject({ fromAtMs: atMs, throughAtMs: atMs })),
  manifestDigest: allow(digest),
  /** Absent if none was given. */
  trust: allow(trust),
  /** The signer of the list, if a trusted key signed it. */
  signer: allow(signer),
  /** Every trusted key that signed the list; absent in reports of earlier releases. */
  signers: allow(z.readonly(z.array(signingKey))),
  /** Checks and findings of the export itself; each part and local report has its own. */
  ...ledger,
  parts: z.readonly(z.array(bundleReportSchema)),
  localReports: z.readonly(z.array(localReportReportSchema)),
  coverage,
  /** Absent in reports of earlier releases, and if `export.json` could not be read. */
  claims: allow(z.readonly(z.array(claim)), 'members of export.json that nothing signs, outside coverage'),
  run: allow(runSchema),
});
/** The report of `verifyExport`: the verdict on an export, and on each part and each local report (formats §4). */
export interface ExportReport extends Readonly<z.infer<typeof exportReportSchema>> {}
/**
 * The reason why the list of bundles is known to be complete (formats §4). `pinned`: the caller gave the digest of the
 * manifest. `attested`: a trusted key signed the list. `claimed`: neither; bundles could be missing without a trace.
 */
export type Completeness = ExportReport['completeness'];

export const toolSourceReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('tool-source'),
  /** `verified` if a lock that the caller trusts names these bytes, `intact` if they only match themselves. */
  verdict,
  packageId: allow(z.string()),
  buildHash: allow(z.string()),
  artifactHash: allow(z.string()),
  ...ledger,
});
/** The report of `verifyToolSource`: the verdict on the JavaScript of one tool (formats §4). */
export interface ToolSourceReport extends Readonly<z.infer<typeof toolSourceReportSchema>> {}

const receiptHead = z.strictObject({ path: z.string(), digest, finishedAtMs: atMs });
export interface ReceiptHead extends Readonly<z.infer<typeof receiptHead>> {}

const receiptLine = z.strictObject({
  path: z.string(),
  /** Absent if it could not be read, as is everything below. */
  digest: allow(digest),
  startedAtMs: allow(atMs),
  finishedAtMs: allow(atMs),
  outcome: allow(z.enum(['complete', 'incomplete'])),
  files: allow(count),
  failures: allow(count),
  tool: allow(z.string()),
  source: allow(z.string()),
});
export interface ReceiptLine extends Readonly<z.infer<typeof receiptLine>> {}

export const receiptsReportSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('receipts'),
  /** `sound`: no error. `broken`: an error. `unread`: something could not be read. `none`: no receipt. */
  verdict: z.enum(['sound', 'broken', 'unread', 'none']),
  evidenceExportId: allow(z.string()),
  organizationId: allow(z.string()),
  manifestDigest: allow(z.string()),
  /** The receipts are compared with it. */
  manifestHere: z.boolean().check(z.describe('whether the mirror has a manifest that could be read')),
  /** The newest receipt of the chain. */
  head: allow(receiptHead),
  unlinked: count.check(z.describe('receipts without links, outside the chain')),
  receipts: z.readonly(z.array(receiptLine)),
  findings: z.readonly(z.array(findingSchema)),
});
/** The report of `verifyReceipts` on the chain of receipts of one mirror (formats §1, Receipts). */
export interface ReceiptsReport extends Readonly<z.infer<typeof receiptsReportSchema>> {}
export type ChainResult = ReceiptsReport['verdict'];

/** A report of `verifyExport`, `verifyPart`, `verifyAttestation`, `verifyDsse` or `verifyToolSource`, by `kind`. */
export type Report = AttestationReport | BundleReport | ExportReport | ToolSourceReport;
