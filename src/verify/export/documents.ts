import { digestOf } from '../../bytes/hash.ts';
import { canonicalJson } from '../../bytes/json/canonical.ts';
import { fromUtf8, toUtf8 } from '../../bytes/text/encoding.ts';
import type { EvidenceExport } from '../../contract/resources/evidence.ts';
import { EXPORT_MANIFEST, EXPORT_RESOURCE } from '../../evidence/export/pack-export.ts';
import type { BrokenBinding } from '../../evidence/bundle/statement.ts';
import {
  type ExportManifest,
  parseExportManifest,
  parseExportResource,
  listResourceClaims,
  listResourceDifferences,
  selectionDigest,
} from '../../evidence/export/manifest.ts';
import { listWaitingChecks } from '../checks.ts';
import { finding, findingsOf } from '../finding.ts';
import type { Expectations } from '../options.ts';
import type { GivenEnvelope } from '../signature/dsse.ts';
import {
  endCheck,
  endRemaining,
  joinSteps,
  NOTHING,
  recordCheck,
  type ReadStep,
  type Step,
  type StepOf,
} from '../step.ts';
import { EXPORT, readDocument, type ExportContext, type ReadExportManifest } from './context.ts';
import { checkFiles } from './files.ts';
import { checkExportSigning, type ExportSigning } from './signing.ts';
import type { ExportClaim, Finding } from '../report.ts';

/** A valid `export.json`. The manifest does not fix its claims, so they are outside coverage (formats §4, Coverage). */
export type ReadResource = {
  readonly document: EvidenceExport;
  readonly claims: readonly ExportClaim[];
  readonly claimedBytes: number;
  readonly coveredBytes: number;
};

export type ExportDocuments = ExportSigning & { readonly resource?: ReadResource };

/** The steps after `export.manifest`, in order. They read no part and no report. */
export async function checkDocuments(
  tree: ExportContext,
  manifest: ReadExportManifest,
  envelopes: readonly GivenEnvelope[],
): Promise<StepOf<ExportDocuments>> {
  const expected = checkExportExpected(tree.settings.expect, manifest);
  const resource = await checkResource(tree, manifest);
  const selection = checkSelection(manifest.document);
  const signing = await checkExportSigning(tree, manifest, envelopes);
  const files = checkFiles(manifest.document, tree.files);
  const step = joinSteps([expected, resource, selection, signing, files]);
  const value = { ...signing.value, ...(resource.value && { resource: resource.value }) };
  if (manifest.document !== undefined) return { ...step, value };
  return { ...endWaiting(step, envelopes, 'the manifest could not be read'), value };
}

/** Leaves every check open that waits for the manifest and has no state yet. */
export const endWaiting = (step: Step, envelopes: readonly GivenEnvelope[], reason: string): Step =>
  endRemaining(
    step,
    listWaitingChecks('export.manifest', { envelopes: envelopes.length > 0 }),
    'not_checked',
    reason,
  );

/** `export.manifest`: everything else depends on this document. */
export async function checkExportManifest(tree: ExportContext): Promise<StepOf<ReadExportManifest>> {
  const { limits } = tree.settings;
  let value: ReadExportManifest = {};
  try {
    const bytes = await readDocument(tree, EXPORT_MANIFEST, limits.manifestBytes);
    if (bytes === undefined) {
      const message = 'the export has no manifest.json';
      const missing = finding('export.MANIFEST_MISSING', EXPORT, { message });
      return { ...recordCheck('export.manifest', [missing]), value };
    }
    value = { bytes: bytes.length, digest: digestOf(bytes) };
    const document = parseExportManifest(bytes, limits);
    return { ...recordCheck('export.manifest', warnIfEmpty(document)), value: { ...value, document } };
  } catch (error) {
    return { ...recordCheck('export.manifest', findingsOf(error, EXPORT, EXPORT_MANIFEST)), value };
  }
}

function warnIfEmpty({ parts }: ExportManifest): Finding[] {
  const message = 'the manifest lists no bundle';
  return parts.length > 0 ? [] : [finding('export.EMPTY', EXPORT, { path: EXPORT_MANIFEST, message })];
}

/** `export.expected`: compares the export with the facts that the caller expects. */
function checkExportExpected(expect: Expectations, { document, digest }: ReadExportManifest): Step {
  const rows = [
    ['expect.MANIFEST_MISMATCH', expect.manifestDigest, digest],
    ['expect.EXPORT_MISMATCH', expect.evidenceExportId, document?.evidenceExportId],
    ['expect.ORGANIZATION_MISMATCH', expect.organizationId, document?.organizationId],
    ['expect.PROJECT_MISMATCH', expect.projectId, document && findOtherProject(document, expect.projectId)],
    ['expect.BUNDLES_MISMATCH', expect.bundles, document?.parts.length],
  ] as const;
  const expectations = rows.filter(([, expected]) => expected !== undefined);
  if (expectations.length === 0)
    return endCheck('export.expected', 'not_applicable', 'the caller expects nothing in particular');
  const findings = expectations
    .filter(([, expected, actual]) => actual !== undefined && expected !== actual)
    .map(([code, expected, actual]) => {
      const message = 'the export is not what the caller expects';
      const values = { expected: String(expected), actual: String(actual) };
      return finding(code, EXPORT, { path: EXPORT_MANIFEST, message, ...values });
    });
  // Facts that could not be read do not differ, and leave the check open.
  const complete = expectations.every(([, , actual]) => actual !== undefined);
  return findings.length > 0 || complete ? recordCheck('export.expected', findings) : NOTHING;
}

/** The first project of the export that differs from `expected`, or `expected` itself. */
function findOtherProject(
  { scope, parts, localReports }: ExportManifest,
  expected?: string,
): string | undefined {
  const scoped = scope.kind === 'project' ? [scope] : [];
  const foreign = [...scoped, ...parts, ...localReports].find((row) => row.projectId !== expected);
  return foreign?.projectId ?? expected;
}

/** `export.resource`: the description of the export exists and agrees with its manifest. */
async function checkResource(
  tree: ExportContext,
  manifest: ReadExportManifest,
): Promise<ReadStep<ReadResource>> {
  const { limits, depth } = tree.settings;
  try {
    const bytes = await readDocument(tree, EXPORT_RESOURCE, limits.documentBytes);
    if (bytes === undefined) {
      const detail = { path: EXPORT_RESOURCE, message: 'the export has no export.json' };
      const missing = finding('export.RESOURCE_MISSING', EXPORT, detail);
      return recordCheck('export.resource', [missing]);
    }
    const resource = parseExportResource(bytes, limits);
    const { document, digest, bytes: size } = manifest;
    if (document === undefined || digest === undefined || size === undefined) return NOTHING;
    const facts = [resource, document, digest, size] as const;
    const claims = listResourceClaims(...facts);
    if (depth === 'full') claims.delete('sourceBytes'); // the parts fix it
    const step = recordCheck('export.resource', listResourceDifferences(...facts).map(describeDifference));
    return { ...step, value: { document: resource, ...measureResource(fromUtf8(bytes), claims) } };
  } catch (error) {
    return recordCheck('export.resource', findingsOf(error, EXPORT, EXPORT_RESOURCE));
  }
}

const describeDifference = ({ field, expected, actual }: BrokenBinding): Finding =>
  finding('export.RESOURCE_MISMATCH', EXPORT, {
    path: `${EXPORT_RESOURCE}#/${field}`,
    message: `${field} in export.json does not match the manifest`,
    expected,
    actual,
  });

const SPACE_OUTSIDE_STRINGS = /("(?:[^"\\]|\\.)*")|\s+/g;

/**
 * Counts the bytes of `export.json` that repeat the manifest, and those of its claims. White space beyond that of an
 * indented document is neither. A text with another form of a value, such as an escaped letter, is not covered at all.
 */
function measureResource(text: string, claims: ReadonlyMap<string, unknown>): Omit<ReadResource, 'document'> {
  const value = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const fixed = Object.fromEntries(Object.entries(value).filter(([name]) => !claims.has(name)));
  const [all, rest] = [value, fixed].map((members) => toUtf8(JSON.stringify(members)).length);
  const claimedBytes = all! - rest!;
  const isPlain = text.replace(SPACE_OUTSIDE_STRINGS, '$1') === JSON.stringify(value);
  const indented = toUtf8(`${JSON.stringify(value, null, 2)}\n`).length;
  return {
    claims: Array.from(claims, ([name, claim]) => ({
      name,
      value: typeof claim === 'string' ? claim : canonicalJson(claim),
    })),
    claimedBytes,
    coveredBytes: isPlain ? Math.min(toUtf8(text).length, indented) - claimedBytes : 0,
  };
}

/** `export.selection`: the digest over the selected bundles and reports, in their order. */
function checkSelection(manifest: ExportManifest | undefined): Step {
  if (manifest === undefined) return NOTHING;
  const expected = selectionDigest(manifest.parts, manifest.localReports);
  const actual = manifest.selectionDigest;
  const path = `${EXPORT_MANIFEST}#/selectionDigest`;
  const message = 'the selection digest does not cover the listed bundles and reports';
  const differs = finding('export.SELECTION_MISMATCH', EXPORT, { path, message, expected, actual });
  return recordCheck('export.selection', expected === actual ? [] : [differs]);
}
