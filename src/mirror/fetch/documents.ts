import { statusOf } from '../../client/index.ts';
import { type Digest, digestOf } from '../../bytes/index.ts';
import type { EvidenceExport } from '../../contract/index.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import {
  DEFAULT_LIMITS,
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  type ExportManifest,
  type MirrorReceipt,
  parseExportAttestation,
  parseExportManifest,
  parseExportResource,
  resourceDifferences,
} from '../../evidence/index.ts';
import { readSmallFile } from '../sink.ts';
import { fetchDocument } from './document.ts';
import type { Run } from '../run.ts';
import type { MirrorView } from '../sink.ts';
import { waitUntilGenerated } from '../wait.ts';

/** The documents of an export that pin everything else. */
export type Pinned = {
  readonly resource: EvidenceExport;
  readonly manifest: ExportManifest;
  readonly manifestBytes: Uint8Array;
  readonly manifestDigest: Digest;
  readonly manifestFrom: MirrorReceipt['manifestFrom'];
};

/**
 * The documents that pin the rest: from the source, or, when the source deletes the export, those that are here. An
 * available export never changes, so what was proven under its manifest still is the export.
 * @throws DrillproofError `export.NOT_AVAILABLE`, `mirror.EXPORT_FAILED`, `mirror.WAIT_EXCEEDED`, `export.CHANGED`,
 *   what `readManifest` throws, and what the client throws
 */
export async function pin(run: Run, view: MirrorView | undefined): Promise<Pinned> {
  try {
    return await readManifest(run, await readAvailableExport(run));
  } catch (cause) {
    const here = view !== undefined && isDeleted(cause) ? await pinnedHere(run, view, cause) : undefined;
    if (here === undefined) throw cause;
    run.tell({ type: 'source-deleted' });
    return here;
  }
}

async function readAvailableExport(run: Run): Promise<EvidenceExport> {
  const resource = await waitUntilGenerated(run);
  if (resource.state === 'available' && resource.deletion === undefined) return resource;
  const { state, deletion, failureCode, manifestDigest } = resource;
  if (state === 'failed' && deletion === undefined)
    throw new DrillproofError(
      'mirror.EXPORT_FAILED',
      `the export failed: ${failureCode ?? 'no reason given'}`,
      {
        details: { failureCode: failureCode ?? null },
      },
    );
  const details = { state, manifestDigest: manifestDigest ?? null };
  if (deletion === undefined)
    throw new DrillproofError('export.NOT_AVAILABLE', `the export is ${state}`, { details });
  throw new DrillproofError('control.EVIDENCE_DELETED', 'the export is being deleted, or deleted', {
    details,
  });
}

const isDeleted = (cause: unknown): cause is DrillproofError =>
  cause instanceof DrillproofError && cause.code === 'control.EVIDENCE_DELETED';

/** The documents of this export as an earlier run brought them; `undefined` when they are not sound. */
async function pinnedHere(
  run: Run,
  view: MirrorView,
  { details }: DrillproofError,
): Promise<Pinned | undefined> {
  const manifestBytes = await readSmallFile(view, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes);
  const resourceBytes = await readSmallFile(view, EXPORT_RESOURCE, DEFAULT_LIMITS.documentBytes);
  const held = soundPair(manifestBytes, resourceBytes);
  if (held?.manifest.evidenceExportId !== run.exportRef.evidenceExportId) return undefined;
  const stated = details?.['manifestDigest'];
  if (typeof stated === 'string' && stated !== held.manifestDigest)
    throw new DrillproofError('export.CHANGED', 'the target holds this export with another manifest', {
      details: { here: held.manifestDigest, source: stated },
    });
  assertExpected(run, held.manifestDigest);
  return held;
}

function soundPair(
  manifestBytes: Uint8Array | undefined,
  resourceBytes: Uint8Array | undefined,
): Pinned | undefined {
  if (manifestBytes === undefined || resourceBytes === undefined) return undefined;
  try {
    const manifest = parseExportManifest(manifestBytes);
    const resource = parseExportResource(resourceBytes);
    const manifestDigest = digestOf(manifestBytes);
    const differences = resourceDifferences(resource, manifest, manifestDigest, manifestBytes.length);
    if (differences.length > 0) return undefined;
    return { resource, manifest, manifestBytes, manifestDigest, manifestFrom: 'target' };
  } catch {
    return undefined; // damaged documents pin nothing
  }
}

/**
 * The export manifest, from the source or from the caller: what the resource says it is, what the caller expects it
 * to be, and then of its format.
 * @throws DrillproofError `expect.MANIFEST_MISMATCH`, `export.RESOURCE_MISMATCH`, `export.MANIFEST_INVALID`
 * @throws LimitError `json.TOO_LARGE`
 */
async function readManifest(run: Run, resource: EvidenceExport): Promise<Pinned> {
  const { suppliedManifest } = run;
  assertExpected(run, resource.manifestDigest);
  const manifestBytes = suppliedManifest ?? (await fetchManifest(run, resource));
  const manifestDigest = assertPinned(manifestBytes, resource);
  const manifest = parseExportManifest(manifestBytes);
  const [first] = resourceDifferences(resource, manifest, manifestDigest, manifestBytes.length);
  if (first !== undefined) throw mismatch(first.field, first.actual, first.expected);
  const manifestFrom = suppliedManifest === undefined ? 'source' : 'caller';
  return { resource, manifest, manifestBytes, manifestDigest, manifestFrom };
}

function assertExpected({ expectManifest }: Run, actual: string | undefined): void {
  if (expectManifest === undefined || actual === expectManifest) return;
  throw new DrillproofError('expect.MANIFEST_MISMATCH', 'the export has another manifest than expected', {
    details: { expected: expectManifest, actual: actual ?? null },
  });
}

function assertPinned(manifestBytes: Uint8Array, { manifestDigest }: EvidenceExport): Digest {
  const digest = digestOf(manifestBytes);
  if (digest !== manifestDigest) throw mismatch('manifestDigest', String(manifestDigest), digest);
  return digest;
}

async function fetchManifest(run: Run, resource: EvidenceExport): Promise<Uint8Array> {
  const bytes = Number(resource.manifestBytes ?? '0');
  if (bytes > DEFAULT_LIMITS.manifestBytes) {
    throw new LimitError(
      'json.TOO_LARGE',
      `the manifest has more than ${DEFAULT_LIMITS.manifestBytes} bytes`,
    );
  }
  const wanted = { name: 'evidence.exports.manifest', path: EXPORT_MANIFEST, maxBytes: bytes } as const;
  return fetchDocument(run, wanted, (found) => assertPinned(found, resource));
}

const ATTESTATION = {
  name: 'evidence.exports.attestation',
  path: EXPORT_ATTESTATION,
  maxBytes: DEFAULT_LIMITS.documentBytes,
} as const;

/**
 * The bytes of the export attestation, which speak of this manifest; `undefined` when the source has none.
 * Whether its signature holds is for who verifies: a mirror has no trust store. A byte of it that was changed on the
 * way is found by the digest that the answer declares.
 * @throws DrillproofError `attestation.INVALID`, `export.ATTESTATION_SUBJECT_MISMATCH`; TransportError
 *   `transport.DIGEST_MISMATCH`
 */
export async function fetchAttestation(run: Run, pinned: Pinned): Promise<Uint8Array | undefined> {
  try {
    return await fetchDocument(run, ATTESTATION, (bytes) => assertSubject(bytes, pinned));
  } catch (cause) {
    // Absent, or an implementation without the extension.
    if ([404, 405, 501].includes(statusOf(cause) ?? 0)) return undefined;
    throw cause;
  }
}

/** @throws DrillproofError as `fetchAttestation` */
export function assertSubject(bytes: Uint8Array, { manifest, manifestDigest }: Pinned): void {
  const { subject } = parseExportAttestation(bytes).statement;
  const { evidenceExportId, organizationId } = manifest;
  if (
    subject.evidenceExportId === evidenceExportId &&
    subject.organizationId === organizationId &&
    subject.manifestDigest === manifestDigest
  ) {
    return;
  }
  throw new DrillproofError(
    'export.ATTESTATION_SUBJECT_MISMATCH',
    'the export attestation speaks of another export or manifest',
  );
}

const mismatch = (field: string, stated: string, found: string): DrillproofError =>
  new DrillproofError(
    'export.RESOURCE_MISMATCH',
    `the export says ${field} ${stated}, its manifest ${found}`,
    {
      path: `/${field}`,
      details: { field, stated, found },
    },
  );
