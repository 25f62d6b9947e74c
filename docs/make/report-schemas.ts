/** Schemas of reports that the program writes and does not read. */
import * as z from 'zod/mini';
import {
  atMsSchema as atMs,
  countSchema as count,
  describing,
  optionalMember,
  typedDigestSchema as digest,
} from '../../src/contract/scalars.ts';
import { parameterTextsSchema } from '../../src/policy/document/parameters.ts';
import { runCountSchema } from '../../src/policy/facts.ts';
import type { Summary, SummaryReport } from '../../src/policy/vsa/read.ts';
import { REPORT_PREDICATE_TYPE } from '../../src/report/signed/statement.ts';
import type { ReceiptHead, ReceiptLine, ReceiptsReport } from '../../src/verify/report.ts';
import { attestationReportSchema, findingSchema } from '../../src/verify/report-schema.ts';
import { isLinked, linkedMembers, linkedStatement } from '../../src/verify/signature/linked.ts';

const receiptHead = describing<ReceiptHead>()(
  z.strictObject({ path: z.string(), digest, finishedAtMs: atMs }),
);

const receiptLine = describing<ReceiptLine>()(
  z.strictObject({
    path: z.string(),
    digest: optionalMember(digest),
    startedAtMs: optionalMember(atMs),
    finishedAtMs: optionalMember(atMs),
    outcome: optionalMember(z.enum(['complete', 'incomplete'])),
    files: optionalMember(count),
    failures: optionalMember(count),
    tool: optionalMember(z.string()),
    source: optionalMember(z.string()),
  }),
);

export const receiptsReportSchema = describing<ReceiptsReport>()(
  z.strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('receipts'),
    verdict: z.enum(['sound', 'broken', 'unread', 'none']),
    evidenceExportId: optionalMember(z.string()),
    organizationId: optionalMember(z.string()),
    manifestDigest: optionalMember(z.string()),
    manifestHere: z.boolean().check(z.describe('whether the mirror has a manifest that could be read')),
    head: optionalMember(receiptHead),
    unlinked: count.check(z.describe('receipts without links, outside the chain')),
    receipts: z.readonly(z.array(receiptLine)),
    findings: z.readonly(z.array(findingSchema)),
  }),
);

const summarySchema = describing<Summary>()(
  z.strictObject({
    verifierId: z.string(),
    timeVerifiedMs: atMs,
    resourceUri: z.string(),
    policyDigest: digest,
    parameters: optionalMember(
      parameterTextsSchema,
      'values of the parameters of the policy; absent: not stated',
    ),
    inputs: z
      .readonly(z.array(digest).check(z.minLength(1)))
      .check(z.describe('digests of manifests, each once, sorted')),
    artifacts: optionalMember(z.readonly(z.array(digest)), 'digests of artifacts that may be deployed'),
    runs: optionalMember(z.readonly(z.array(runCountSchema)), 'attested runs by project, drill and target'),
    envelopes: optionalMember(z.readonly(z.array(digest)), 'digests of DSSE envelopes'),
    result: z.enum(['PASSED', 'FAILED']),
    levels: z.readonly(z.array(z.string())),
    trustStore: optionalMember(digest, 'fingerprint of the trust store of the verifier'),
  }),
).check(z.describe('its content; no trusted key signed it unless keys has one'));

export const summaryReportSchema = describing<SummaryReport>()(
  z.strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('summary'),
    verdict: attestationReportSchema.shape.verdict,
    asOfMs: attestationReportSchema.shape.asOfMs,
    trust: attestationReportSchema.shape.trust,
    summary: optionalMember(summarySchema),
    keys: z.readonly(z.array(digest)).check(z.describe('thumbprints of the trusted keys that signed it')),
    findings: attestationReportSchema.shape.findings,
  }),
);

const KINDS = ['export', 'bundle', 'reports', 'scrub', 'report-diff', 'decision'] as const;

/** The statement as its schema is published: the report follows the schema of its kind. */
export const signedReportSchema = linkedStatement(
  'report',
  REPORT_PREDICATE_TYPE,
  z
    .strictObject({
      ...linkedMembers,
      report: z
        .looseObject({ schemaVersion: z.literal(1), kind: z.enum(KINDS) })
        .check(z.describe('a report, by the schema of its kind')),
    })
    .check(isLinked),
);

const memberSchema = z.strictObject({
  name: z.string().check(z.describe('the file, as the caller named it')),
  digest: optionalMember(digest, 'SHA-256 of its payload; absent if it cannot be read'),
  sequence: optionalMember(count),
  previous: optionalMember(digest),
  issuer: optionalMember(z.string()),
  issuedAtMs: optionalMember(attestationReportSchema.shape.asOfMs),
  report: optionalMember(
    z.strictObject({ kind: z.string(), result: z.string() }),
    'what was signed, and the result that it states, with its drills if one did not pass',
  ),
  keys: z.readonly(z.array(digest)).check(z.describe('thumbprints of the trusted keys that signed it')),
});

export const reportChainSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('report-chain'),
  /** `valid`: trusted keys signed every report, and each follows the one before it. `not_checked`: no trust was given. */
  verdict: attestationReportSchema.shape.verdict,
  asOfMs: attestationReportSchema.shape.asOfMs,
  trust: attestationReportSchema.shape.trust,
  reports: z.readonly(z.array(memberSchema)).check(z.describe('in the order of the call')),
  findings: attestationReportSchema.shape.findings,
});
