import {
  BYTES,
  checkArguments,
  COUNT,
  digestOf,
  type MembersOf,
  oneOf,
  optional,
} from '../../bytes/index.ts';
import {
  type EvidenceLimits,
  type ExportStatement,
  parseBundleManifest,
  parseExportManifest,
  readDsseStatement,
  readExportDsseStatement,
  type Statement,
} from '../../evidence/index.ts';
import { reportAlone } from './attestation.ts';
import { createLedger, type Ledger } from '../check.ts';
import { dsseOnBundle, dsseOnExport, verifyEnvelope, type DsseAbout } from './dsse.ts';
import { findingsOf } from '../finding.ts';
import { onlyEnvelope } from './given-envelopes.ts';
import { settingsOf, VERIFY_OPTIONS, type VerifyOptions } from '../options.ts';
import type { AttestationReport } from '../report.ts';

/** The options of `verifyDsse`. Only `asOfMs` is required: the time of the verification, a Date or ms since 1970. */
export type VerifyDsseOptions = Pick<
  VerifyOptions,
  'asOfMs' | 'trust' | 'predicateTypes' | 'secondOpinion' | 'limits'
> & {
  /** What the statement is about: a bundle (the default), or the list of an export. */
  readonly purpose?: 'evidence' | 'export';
  /** The bytes of the `manifest.json` that the statement has to be about; without it nothing is bound. */
  readonly manifest?: Uint8Array;
  /** How many different trusted keys must have signed; default 1. The one that the statement names is among them. */
  readonly threshold?: number;
};

const DSSE_OPTIONS: MembersOf<VerifyDsseOptions> = {
  asOfMs: VERIFY_OPTIONS.asOfMs,
  trust: VERIFY_OPTIONS.trust,
  predicateTypes: VERIFY_OPTIONS.predicateTypes,
  secondOpinion: VERIFY_OPTIONS.secondOpinion,
  limits: VERIFY_OPTIONS.limits,
  purpose: optional(oneOf(['evidence', 'export'])),
  manifest: optional(BYTES),
  threshold: optional(COUNT),
};

const SUBJECT = 'dsse';

/**
 * Verifies a DSSE envelope with an in-toto statement about a bundle or export (formats §2, DSSE). Of the evidence only
 * the manifest is read, so the verdict is `valid` at best: pass the envelope to `verifyPart` or `verifyExport` to
 * verify the whole evidence. Never throws for what is in the bytes.
 * @throws TypeError for an argument of the wrong kind; DrillproofError `trust.…` for a key that cannot be read
 * @example
 * const envelope = await readFile('bundle.dsse.json');
 * const report = verifyDsse(envelope, { asOfMs: Date.now(), trust, manifest });
 * if (report.verdict !== 'valid') throw new Error(report.findings[0]?.message);
 */
export function verifyDsse(envelope: Uint8Array, options: VerifyDsseOptions): AttestationReport {
  checkArguments({ envelope: BYTES }, { envelope });
  const settings = settingsOf(options, DSSE_OPTIONS);
  const { purpose = 'evidence', manifest, threshold = 1 } = options;
  const ledger = createLedger();
  const given = onlyEnvelope(envelope);
  const context = { subject: SUBJECT, settings, threshold };
  const result =
    purpose === 'evidence'
      ? verifyEnvelope(given, onBundle(ledger, manifest, settings.limits), context)
      : verifyEnvelope(given, onExport(ledger, manifest, settings.limits), context);
  ledger.include(result);
  return reportAlone(ledger, result, settings);
}

function onBundle(
  ledger: Ledger,
  bytes: Uint8Array | undefined,
  limits: EvidenceLimits,
): DsseAbout<Statement> {
  const alone: DsseAbout<Statement> = { purpose: 'evidence', read: readDsseStatement };
  return about(ledger, bytes, alone, (given) =>
    dsseOnBundle(SUBJECT, {
      manifest: parseBundleManifest(given, limits),
      manifestDigest: digestOf(given),
    }),
  );
}

function onExport(
  ledger: Ledger,
  bytes: Uint8Array | undefined,
  limits: EvidenceLimits,
): DsseAbout<ExportStatement> {
  const alone: DsseAbout<ExportStatement> = { purpose: 'export', read: readExportDsseStatement };
  return about(ledger, bytes, alone, (given) =>
    dsseOnExport(SUBJECT, parseExportManifest(given, limits), digestOf(given)),
  );
}

/** A manifest that cannot be read is a finding, and the envelope is judged without it. */
function about<A>(
  ledger: Ledger,
  manifest: Uint8Array | undefined,
  alone: A,
  on: (manifest: Uint8Array) => A,
): A {
  if (manifest === undefined) return alone;
  try {
    return on(manifest);
  } catch (error) {
    ledger.note(findingsOf(error, SUBJECT, 'manifest.json'));
    return alone;
  }
}
