import * as z from 'zod/mini';
import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import { type JsonValue, parseJson } from '../../bytes/json/parse.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import { IN_TOTO_PAYLOAD_TYPE, buildInTotoStatement, requireInToto } from '../../evidence/in-toto.ts';
import { typeDocument } from '../../evidence/document.ts';
import { decisionSchema } from '../../policy/decision.ts';
import { type DsseEnvelope, parseDsse, signDsse } from '../../trust/dsse.ts';
import { isObject } from '../../trust/faults.ts';
import {
  buildLink,
  isLinked,
  linkedMembers,
  linkedStatement,
  type LinkSigning,
} from '../../verify/signature/linked.ts';
import { bundleReportSchema, exportReportSchema } from '../../verify/report-schema.ts';
import { reportDiffSchema } from '../diff.ts';
import { reportsSchema } from '../many/reports.ts';
import { scrubSchema } from '../many/scrubs.ts';
import { addBadDrills, describeBadOutcomes, describeVerdict } from '../text/tally.ts';

export const REPORT_PREDICATE_TYPE = 'urn:drillproof:attestation:report:v1';

/** Bytes of an envelope: base64 takes a third more than the report in it. */
export const MAX_SIGNED_BYTES = 128 * 1024 * 1024;
const MAX_PAYLOAD_BYTES = 96 * 1024 * 1024;
const MAX_VALUES = 4_000_000;

const anyReport = z.discriminatedUnion('kind', [
  exportReportSchema,
  bundleReportSchema,
  reportsSchema,
  scrubSchema,
  reportDiffSchema,
  decisionSchema,
]);
export type SignableReport = z.infer<typeof anyReport>;
const statementSchema = linkedStatement(
  'report',
  REPORT_PREDICATE_TYPE,
  z.strictObject({ ...linkedMembers, report: anyReport }).check(isLinked),
);

/** A signed report as its statement has it; no signature is verified. */
export type SignedReport = Omit<z.infer<typeof statementSchema>['predicate'], 'schemaVersion'> & {
  /** SHA-256 of the payload: what the next report of the chain names. */
  readonly digest: Digest;
};

/**
 * Signs a report as an in-toto statement in a DSSE envelope. Its subject is the report itself, by its canonical JSON.
 * @throws DrillproofError `report.SIGNED_INVALID` for what is not a report, `trust.SIGNER_FAULT`, what the signer throws
 * @throws LimitError `json.TOO_LARGE`
 */
export async function signReport(report: JsonValue, signing: LinkSigning): Promise<DsseEnvelope> {
  const content = { ...buildLink(signing), report };
  const digest = digestOf(canonicalBytes(report));
  const payload = canonicalBytes(buildInTotoStatement(digest, REPORT_PREDICATE_TYPE, content, 'report'));
  if (payload.length > MAX_PAYLOAD_BYTES)
    throw new LimitError(
      'json.TOO_LARGE',
      `the report has ${payload.length} bytes, more than ${MAX_PAYLOAD_BYTES}`,
    );
  typeStatement(payload);
  return signDsse({ payloadType: IN_TOTO_PAYLOAD_TYPE, payload }, [signing.signer]);
}

const typeStatement = (payload: Uint8Array) =>
  typeDocument(parseJson(payload, { maxBytes: MAX_PAYLOAD_BYTES, maxValues: MAX_VALUES }), {
    schema: statementSchema,
    code: 'report.SIGNED_INVALID',
  });

/** @throws DrillproofError `dsse.INVALID` and what `parseJson` throws @throws LimitError `json.TOO_LARGE` */
export const parseSignedEnvelope = (bytes: Uint8Array): DsseEnvelope =>
  parseDsse(bytes, { maxBytes: MAX_SIGNED_BYTES });

/**
 * The signed report in an envelope; no signature is verified.
 * @throws DrillproofError `dsse.PAYLOAD_TYPE_UNSUPPORTED`, `report.SIGNED_INVALID`, `report.SUBJECT_MISMATCH`, and what
 *   `parseJson` throws
 */
export function readSignedReport(envelope: DsseEnvelope): SignedReport {
  requireInToto(envelope);
  const { payload } = envelope;
  const { subject, predicate: content } = typeStatement(payload);
  const { schemaVersion: _version, ...signed } = content;
  const actual = digestOf(canonicalBytes(signed.report));
  if (actual !== `sha256:${subject[0].digest.sha256}`)
    throw new DrillproofError('report.SUBJECT_MISMATCH', `the report has the digest ${actual}`, {
      path: '/subject/0/digest/sha256',
    });
  return { ...signed, digest: digestOf(payload) };
}

export type OpenedReport = { readonly report: SignableReport; readonly signed?: SignedReport };

/**
 * Reads a JSON report, signed or not; no signature is verified.
 * @throws DrillproofError `report.UNREADABLE`, and as `readSignedReport` and `parseJson`
 */
export function openReport(bytes: Uint8Array): OpenedReport {
  const value = parseJson(bytes, { maxBytes: MAX_SIGNED_BYTES, maxValues: MAX_VALUES });
  if (isObject(value) && Object.hasOwn(value, 'payloadType')) {
    const signed = readSignedReport(parseSignedEnvelope(bytes));
    return { report: signed.report, signed };
  }
  return { report: typeDocument(value, { schema: anyReport, code: 'report.UNREADABLE' }) };
}

/** The result of a report as the report itself has it, and its drills if one did not pass. */
export function resultOfReport(report: SignableReport): string {
  if (report.kind === 'export' || report.kind === 'bundle') return describeVerdict(report);
  if (report.kind === 'reports')
    return addBadDrills(
      report.results.every(({ passed }) => passed) ? 'passed' : 'not passed',
      describeBadOutcomes(new Map(Object.entries(report.summary.outcomes))),
    );
  if (report.kind === 'report-diff') return report.equal ? 'equal' : 'different';
  if (report.kind === 'decision') return report.answer;
  return report.outcome;
}
