import {
  BYTES,
  checkArguments,
  COUNT,
  defined,
  type MembersOf,
  oneOf,
  optional,
} from '../bytes/arguments.ts';
import { digestOf } from '../bytes/hash.ts';
import type { ExportStatement, Statement } from '../evidence/bundle/attestation.ts';
import { parseBundleManifest } from '../evidence/bundle/manifest.ts';
import { parseExportManifest } from '../evidence/export/manifest.ts';
import { readDsseStatement, readExportDsseStatement } from '../evidence/in-toto.ts';
import { buildAttestationReport, STATEMENT_OPTIONS } from './verify-attestation.ts';
import { NOTHING, joinSteps, noteFindings, type StepOf } from './step.ts';
import {
  describeBundleEnvelope,
  describeExportEnvelope,
  verifySignedEnvelope,
  type EnvelopeKind,
  nameEnvelope,
} from './signature/dsse.ts';
import { listSigningKeys } from './part/attestation.ts';
import { findingsOf } from './finding.ts';
import { resolveSettings, VERIFY_OPTIONS, type VerifyOptions } from './options.ts';
import { checkTimestamps } from './timestamps.ts';
import type { AttestationReport } from './report.ts';
import type { AnyStatement } from './signature/signed.ts';

/** The options of `verifyDsse`. Only `asOfMs` is required: the time of the verification, a Date or ms since 1970. */
export type VerifyDsseOptions = Pick<
  VerifyOptions,
  'asOfMs' | 'trust' | 'predicateTypes' | 'secondOpinion' | 'timestamps' | 'limits'
> & {
  /** The subject of the statement: a bundle (`evidence`, the default), or the list of an export (`export`). */
  readonly purpose?: 'evidence' | 'export';
  /** The bytes of the `manifest.json` that the statement must name; absent: the statement is bound to no evidence. */
  readonly manifest?: Uint8Array;
  /** The number of different trusted keys that must have signed; default 1. The key that the statement names is required. */
  readonly threshold?: number;
};

const DSSE_OPTIONS: MembersOf<VerifyDsseOptions> = {
  ...STATEMENT_OPTIONS,
  limits: VERIFY_OPTIONS.limits,
  purpose: optional(oneOf(['evidence', 'export'])),
  manifest: optional(BYTES),
  threshold: optional(COUNT),
};

const SUBJECT = 'dsse';

/**
 * Verifies a DSSE envelope with an in-toto statement about a bundle or export (formats §2, DSSE). Only the manifest of
 * the evidence is read, so the verdict is `valid` at best. Pass the envelope to `verifyPart` or `verifyExport` to verify
 * the whole evidence. Never throws for what is in the bytes.
 * @throws TypeError for an argument of the wrong kind; DrillproofError `trust.…` for a key that cannot be read
 * @example
 * const envelope = await readFile('bundle.dsse.json');
 * const report = verifyDsse(envelope, { asOfMs: Date.now(), trust, manifest });
 * if (report.verdict !== 'valid') throw new Error(report.findings[0]?.message);
 */
export function verifyDsse(envelope: Uint8Array, options: VerifyDsseOptions): AttestationReport {
  checkArguments({ envelope: BYTES }, { envelope });
  const settings = resolveSettings(options, DSSE_OPTIONS);
  const { purpose = 'evidence', manifest, timestamps, threshold = 1 } = options;
  const verify = <S extends AnyStatement>({ value: kind, ...read }: StepOf<EnvelopeKind<S>>) => {
    const result = verifySignedEnvelope(nameEnvelope(envelope), kind, {
      subject: SUBJECT,
      settings,
      threshold,
    });
    const { statement } = result;
    const signers = statement && listSigningKeys('dsse', statement, result);
    return buildAttestationReport(
      {
        ...result,
        ...joinSteps([read, result, checkTimestamps(SUBJECT, timestamps, () => [digestOf(envelope)])]),
        ...defined({ signers }),
      },
      settings,
    );
  };
  if (purpose === 'export') {
    const alone: EnvelopeKind<ExportStatement> = { purpose, read: readExportDsseStatement };
    return verify(
      readManifest(manifest, alone, (bytes) =>
        describeExportEnvelope(SUBJECT, {
          manifest: parseExportManifest(bytes, settings.limits),
          manifestDigest: digestOf(bytes),
        }),
      ),
    );
  }
  const alone: EnvelopeKind<Statement> = { purpose, read: readDsseStatement };
  return verify(
    readManifest(manifest, alone, (bytes) =>
      describeBundleEnvelope(SUBJECT, {
        manifest: parseBundleManifest(bytes, settings.limits),
        manifestDigest: digestOf(bytes),
      }),
    ),
  );
}

/** A manifest that cannot be read is a finding, and the envelope is verified without it. */
function readManifest<K>(
  bytes: Uint8Array | undefined,
  alone: K,
  read: (manifest: Uint8Array) => K,
): StepOf<K> {
  try {
    return { ...NOTHING, value: bytes === undefined ? alone : read(bytes) };
  } catch (error) {
    return { ...noteFindings(findingsOf(error, SUBJECT, 'manifest.json')), value: alone };
  }
}
