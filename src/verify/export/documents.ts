import type { Finding } from '../report.ts';
import { digestOf } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import {
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  type ExportManifest,
  parseExportAttestation,
  parseExportManifest,
  parseExportResource,
  readFile,
  resourceDifferences,
  selectionDigest,
} from '../../evidence/index.ts';
import { signedOf } from '../signature/attestation.ts';
import { verifySigned, type SignedResult } from '../signature/signed.ts';
import { dsseOnExport, exportScope, verifyGivenEnvelopes } from '../signature/dsse.ts';
import { EXPORT, type Export } from './state.ts';
import { exportSubjectFindings } from './subject.ts';
import { finding, findingsOf } from '../finding.ts';
import type { Files } from './files.ts';
import { foldInto } from '../fold.ts';
import { sortEnvelopes, type SortedEnvelopes } from '../signature/given-envelopes.ts';
import { irregular } from '../part/listed-part.ts';

/** The bytes of a document of the export, or `undefined` when it is not there. */
async function readDocument(
  state: Export,
  files: Files,
  path: string,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const file = files.byPath.get(path);
  if (file === undefined) return undefined;
  if (!file.regular) throw new DrillproofError('export.FILE_IRREGULAR', irregular(EXPORT, file).message);
  return readFile(state.source, path, maxBytes);
}

/** `export.manifest`: everything else hangs on this document. */
export async function checkManifest(state: Export, files: Files): Promise<void> {
  const { ledger, settings } = state;
  try {
    const bytes = await readDocument(state, files, EXPORT_MANIFEST, settings.limits.manifestBytes);
    if (bytes === undefined) {
      const message = 'the export holds no manifest.json';
      ledger.ran('export.manifest', [finding('export.MANIFEST_MISSING', EXPORT, { message })]);
      return;
    }
    state.manifestDigest = digestOf(bytes);
    state.manifestBytes = bytes.length;
    state.manifest = parseExportManifest(bytes, settings.limits);
    ledger.ran('export.manifest', emptyWarning(state.manifest));
  } catch (error) {
    ledger.ran('export.manifest', findingsOf(error, EXPORT, EXPORT_MANIFEST));
  }
}

function emptyWarning({ parts }: ExportManifest): Finding[] {
  const message = 'the manifest lists no bundle';
  return parts.length > 0 ? [] : [finding('export.EMPTY', EXPORT, { path: EXPORT_MANIFEST, message })];
}

/** `export.expected`: what the caller knows from elsewhere. */
export function checkExpected({ ledger, settings, manifest, manifestDigest }: Export): void {
  const { expect } = settings;
  const rows = [
    ['expect.MANIFEST_MISMATCH', expect.manifestDigest, manifestDigest],
    ['expect.EXPORT_MISMATCH', expect.evidenceExportId, manifest?.evidenceExportId],
    ['expect.ORGANIZATION_MISMATCH', expect.organizationId, manifest?.organizationId],
    ['expect.PROJECT_MISMATCH', expect.projectId, manifest && projectOf(manifest, expect.projectId)],
    ['expect.BUNDLES_MISMATCH', expect.bundles, manifest?.parts.length],
  ] as const;
  const asked = rows.filter(([, expected]) => expected !== undefined);
  if (asked.length === 0)
    return ledger.skipped('export.expected', 'not_applicable', 'the caller expects nothing in particular');
  const found = asked
    .filter(([, expected, actual]) => actual !== undefined && expected !== actual)
    .map(([code, expected, actual]) => {
      const message = 'the export is not what the caller expects';
      const values = { expected: String(expected), actual: String(actual) };
      return finding(code, EXPORT, { path: EXPORT_MANIFEST, message, ...values });
    });
  // What could not be read is not what differs.
  if (found.length > 0 || asked.every(([, , actual]) => actual !== undefined))
    ledger.ran('export.expected', found);
  else ledger.skipped('export.expected', 'not_checked', 'there is no manifest that could be read');
}

/** The first project of the export that is another than `expected`; `expected` when there is none. */
function projectOf({ scope, parts, localReports }: ExportManifest, expected?: string): string | undefined {
  const scoped = scope.kind === 'project' ? [scope] : [];
  const foreign = [...scoped, ...parts, ...localReports].find((row) => row.projectId !== expected);
  return foreign?.projectId ?? expected;
}

/** `export.resource`: the description of the export must be there and agree with its manifest. */
export async function checkResource(state: Export, files: Files): Promise<void> {
  const { ledger, settings, manifest, manifestDigest, manifestBytes } = state;
  try {
    const bytes = await readDocument(state, files, EXPORT_RESOURCE, settings.limits.documentBytes);
    if (bytes === undefined) {
      const message = 'the export holds no export.json';
      ledger.ran('export.resource', [
        finding('export.RESOURCE_MISSING', EXPORT, { path: EXPORT_RESOURCE, message }),
      ]);
      return;
    }
    state.resource = parseExportResource(bytes, settings.limits);
  } catch (error) {
    ledger.ran('export.resource', findingsOf(error, EXPORT, EXPORT_RESOURCE));
    return;
  }
  if (manifest === undefined || manifestDigest === undefined || manifestBytes === undefined) {
    ledger.skipped('export.resource', 'not_checked', 'there is no manifest that could be read');
    return;
  }
  const broken = resourceDifferences(state.resource, manifest, manifestDigest, manifestBytes);
  ledger.ran(
    'export.resource',
    broken.map(({ field, expected, actual }) => {
      const message = `export.json has another ${field} than the manifest gives`;
      return finding('export.RESOURCE_MISMATCH', EXPORT, {
        path: `${EXPORT_RESOURCE}#/${field}`,
        message,
        expected,
        actual,
      });
    }),
  );
}

/** `export.selection`: the digest over what was selected, and in which order. */
export function checkSelection({ ledger, manifest }: Export): void {
  if (manifest === undefined) {
    return ledger.skipped('export.selection', 'not_checked', 'there is no manifest that could be read');
  }
  const digest = selectionDigest(manifest.parts, manifest.localReports);
  const digests = { expected: digest, actual: manifest.selectionDigest };
  const path = `${EXPORT_MANIFEST}#/selectionDigest`;
  const message = 'the selection digest does not cover the listed bundles and reports';
  const differs = [finding('export.SELECTION_MISMATCH', EXPORT, { path, message, ...digests })];
  ledger.ran('export.selection', digest === manifest.selectionDigest ? [] : differs);
}

/** `export.attestation` and `dsse.attestation`: who vouches that the list is complete (formats §2, Export attestation). */
export async function checkExportAttestation(state: Export, files: Files): Promise<void> {
  const { ledger, settings, manifestDigest } = state;
  const pinned =
    settings.expect.manifestDigest !== undefined && settings.expect.manifestDigest === manifestDigest;
  if (pinned) state.completeness = 'pinned';
  try {
    const bytes = await readDocument(state, files, EXPORT_ATTESTATION, settings.limits.documentBytes);
    if (bytes === undefined)
      ledger.skipped('export.attestation', 'not_applicable', 'nobody signed the list of bundles');
    else verifyExportAttestation(state, bytes);
  } catch (error) {
    ledger.ran('export.attestation', findingsOf(error, EXPORT, EXPORT_ATTESTATION));
  }
  checkGivenEnvelopes(state);
  if (state.completeness !== 'claimed') return;
  const message = 'nobody vouches that the list of bundles is complete';
  ledger.note([finding('export.COMPLETENESS_CLAIMED', EXPORT, { message })]);
}

function verifyExportAttestation(state: Export, bytes: Uint8Array): void {
  const { ledger, settings, manifest, manifestDigest } = state;
  if (manifest === undefined) {
    return ledger.skipped('export.attestation', 'not_checked', 'there is no manifest that could be read');
  }
  const attestation = parseExportAttestation(bytes, settings.limits);
  const { organizationId, evidenceExportId } = manifest;
  const scope = exportScope(manifest);
  const context = { subject: EXPORT, path: EXPORT_ATTESTATION, settings };
  const result = verifySigned(signedOf(attestation), scope, context);
  const path = `${EXPORT_ATTESTATION}#/statement/subject`;
  const subject = { evidenceExportId, organizationId, manifestDigest };
  const differing = exportSubjectFindings(EXPORT, path, attestation.statement.subject, subject);
  // The steps of a signed statement are one check here.
  const findings = [...result.findings, ...differing];
  if (foldInto(ledger, 'export.attestation', { ...result, findings })) recordSigner(state, result);
}

/** `dsse.attestation`: what the caller gave beside the export vouches for the list as well, or for one of its bundles. */
function checkGivenEnvelopes(state: Export): void {
  const { ledger, settings, manifest, manifestDigest, envelopes } = state;
  if (envelopes.length === 0) return;
  if (manifest === undefined || manifestDigest === undefined)
    return ledger.skipped('dsse.attestation', 'not_checked', 'there is no manifest that could be read');
  const about = dsseOnExport(EXPORT, manifest, manifestDigest);
  const sorted = sortEnvelopes(envelopes, manifest, manifestDigest, settings);
  state.sorted = sorted;
  const { list, stray } = sorted;
  if (list.length === 0 && stray.length === 0) return;
  const context = { about, subject: EXPORT, settings };
  for (const result of verifyGivenEnvelopes(ledger, list, context, stray.map(aboutNothing)))
    recordSigner(state, result);
}

const aboutNothing = ({ path, digest }: SortedEnvelopes['stray'][number]): Finding =>
  finding('dsse.SUBJECT_UNKNOWN', EXPORT, {
    path: `${path}#/payload#/subject/0/digest/sha256`,
    message: 'the envelope is about a bundle that the export does not list',
    actual: digest,
  });

function recordSigner(state: Export, { signer }: SignedResult): void {
  if (signer === undefined) return;
  state.signer ??= signer;
  if (state.completeness === 'claimed') state.completeness = 'attested';
}
