import { collect } from '../client/body.ts';
import { statusOf } from '../client/index.ts';
import { digestOf, type Digest } from '../bytes/hash.ts';
import type { EvidenceExport } from '../contract/index.ts';
import { DrillproofError, LimitError, TransportError } from '../errors.ts';
import {
  DEFAULT_LIMITS,
  parseExportAttestation,
  parseExportManifest,
  resourceDifferences,
  type ExportManifest,
} from '../evidence/index.ts';
import { signalOf, type Run } from './run.ts';

/** The documents of an export that pin everything else. */
export type Pinned = {
  readonly resource: EvidenceExport;
  readonly manifest: ExportManifest;
  readonly manifestBytes: Uint8Array;
  readonly manifestDigest: Digest;
};

/** @throws DrillproofError `export.NOT_AVAILABLE`, and what the client throws */
export async function readAvailableExport({ client, exportRef, signal }: Run): Promise<EvidenceExport> {
  const resource = await client.evidence.exports.read(exportRef, signalOf({ signal }));
  if (resource.evidenceExportId !== exportRef.evidenceExportId) {
    throw new TransportError('transport.RESPONSE_INVALID', 'the answer describes another export');
  }
  if (resource.state === 'available' && resource.deletion === undefined) return resource;
  const why = resource.deletion === undefined ? resource.state : 'being deleted, or deleted';
  throw new DrillproofError('export.NOT_AVAILABLE', `the export is ${why}`, {
    details: { state: resource.state, failureCode: resource.failureCode ?? null },
  });
}

/**
 * The export manifest, from the source or from the caller: what the resource says it is, what the caller expects it
 * to be, and then of its format.
 * @throws DrillproofError `expect.MANIFEST_MISMATCH`, `export.RESOURCE_MISMATCH`, `export.MANIFEST_INVALID`
 * @throws LimitError `json.TOO_LARGE`
 */
export async function readManifest(run: Run, resource: EvidenceExport): Promise<Pinned> {
  const { expectManifest, suppliedManifest } = run;
  if (expectManifest !== undefined && resource.manifestDigest !== expectManifest) {
    throw new DrillproofError('expect.MANIFEST_MISMATCH', 'the export has another manifest than expected', {
      details: { expected: expectManifest, actual: resource.manifestDigest ?? null },
    });
  }
  const manifestBytes = suppliedManifest ?? (await fetchManifest(run, resource));
  const manifestDigest = digestOf(manifestBytes);
  if (manifestDigest !== resource.manifestDigest) {
    throw mismatch('manifestDigest', String(resource.manifestDigest), manifestDigest);
  }
  const manifest = parseExportManifest(manifestBytes);
  const [first] = resourceDifferences(resource, manifest, manifestDigest, manifestBytes.length);
  if (first !== undefined) throw mismatch(first.field, first.actual, first.expected);
  return { resource, manifest, manifestBytes, manifestDigest };
}

async function fetchManifest(run: Run, { manifestBytes = '0' }: EvidenceExport): Promise<Uint8Array> {
  const bytes = Number(manifestBytes);
  if (bytes > DEFAULT_LIMITS.manifestBytes) {
    throw new LimitError(
      'json.TOO_LARGE',
      `the manifest has more than ${DEFAULT_LIMITS.manifestBytes} bytes`,
    );
  }
  return fetchDocument(run, 'evidence.exports.manifest', bytes);
}

/**
 * The bytes of the export attestation, which speak of this manifest; `undefined` when the source has none.
 * Whether its signature holds is for who verifies: a mirror has no trust store.
 * @throws DrillproofError `attestation.INVALID`, `export.ATTESTATION_SUBJECT_MISMATCH`
 */
export async function fetchAttestation(run: Run, pinned: Pinned): Promise<Uint8Array | undefined> {
  try {
    const bytes = await fetchDocument(run, 'evidence.exports.attestation', DEFAULT_LIMITS.documentBytes);
    assertSubject(bytes, pinned);
    return bytes;
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

type DocumentName = 'evidence.exports.manifest' | 'evidence.exports.attestation';

// A document is small: what breaks off is fetched again from its beginning.
async function fetchDocument(run: Run, name: DocumentName, maxBytes: number): Promise<Uint8Array> {
  const { client, exportRef } = run;
  for (let retries = 0; ; retries++) {
    const download = await client.download(name, exportRef, signalOf(run));
    try {
      return await collect(download.body, maxBytes);
    } catch (cause) {
      if (cause instanceof LimitError) {
        throw new TransportError('transport.BODY_TOO_LONG', `the document goes on past ${maxBytes} bytes`);
      }
      await client.backOff(cause, retries, signalOf(run));
    }
  }
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
