import { defined } from '../../bytes/arguments.ts';
import { ControlError, httpStatusOf } from '../../client/http/errors.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import type { EvidenceExport } from '../../contract/resources/evidence.ts';
import { DrillproofError, LimitError, hasCode } from '../../errors.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST, EXPORT_RESOURCE } from '../../evidence/export/pack-export.ts';
import {
  type ExportManifest,
  parseExportManifest,
  parseExportResource,
  listResourceDifferences,
} from '../../evidence/export/manifest.ts';
import type { MirrorReceipt } from '../../evidence/export/receipt.ts';
import { parseExportAttestation } from '../../evidence/bundle/attestation.ts';
import { fetchDocument } from './document.ts';
import { callOptions, type MirrorRun } from '../run.ts';
import { type MirrorView, parseIfValid, readSmallFile } from '../sink.ts';

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 15_000;
/** States in which an export may still become available. */
const UNFINISHED: ReadonlySet<string> = new Set<EvidenceExport['state']>(['pending', 'generating']);

/** The documents of an export that determine everything else. */
export type Pinned = {
  readonly resource: EvidenceExport;
  readonly manifest: ExportManifest;
  readonly manifestBytes: Uint8Array;
  readonly manifestDigest: Digest;
  readonly manifestFrom: MirrorReceipt['manifestFrom'];
};

/**
 * Reads the documents that determine the rest from the source, or from the target if the source deletes the export. An
 * available export never changes, so files that match its manifest are still the export.
 * @throws DrillproofError `export.NOT_AVAILABLE`, `mirror.EXPORT_FAILED`, `mirror.WAIT_EXCEEDED`, `export.CHANGED`,
 *   what `readManifest` throws, and what the client throws
 */
export async function pin(run: MirrorRun, view: MirrorView | undefined): Promise<Pinned> {
  try {
    return await readManifest(run, await readAvailableExport(run));
  } catch (cause) {
    const pinned = view !== undefined && isDeleted(cause) ? await pinFromTarget(run, view, cause) : undefined;
    if (pinned === undefined) throw cause;
    run.report({ type: 'source-deleted' });
    return pinned;
  }
}

async function readAvailableExport(run: MirrorRun): Promise<EvidenceExport> {
  const resource = await waitUntilGenerated(run);
  const { state, deletion, failureCode = null, manifestDigest = null } = resource;
  const details = { state, manifestDigest };
  if (deletion !== undefined) {
    const message = 'the export is deleted or being deleted';
    throw new DrillproofError('control.EVIDENCE_DELETED', message, { details });
  }
  if (state === 'available') return resource;
  if (state !== 'failed')
    throw new DrillproofError('export.NOT_AVAILABLE', `the export is ${state}`, { details });
  const message = `the export failed: ${failureCode ?? 'no reason given'}`;
  throw new DrillproofError('mirror.EXPORT_FAILED', message, { details: { failureCode } });
}

/**
 * Reads the export resource until the export is generated, failed or deleted; once if the caller does not wait. The
 * interval grows, and a longer one that the control plane asks for is used.
 * @throws DrillproofError `mirror.WAIT_EXCEEDED`; what the client throws
 */
async function waitUntilGenerated(run: MirrorRun): Promise<EvidenceExport> {
  const untilMs = run.startedAtMs + run.waitMs;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    const answer = await readResource(run);
    if ('resource' in answer && (run.waitMs === 0 || !UNFINISHED.has(answer.resource.state)))
      return answer.resource;
    const pauseMs = Math.max(delayMs, 'askedMs' in answer ? answer.askedMs : 0);
    if (run.now() + pauseMs > untilMs)
      throw new DrillproofError('mirror.WAIT_EXCEEDED', `the export is not generated after ${run.waitMs} ms`);
    if ('resource' in answer) reportWaiting(run, answer.resource, pauseMs);
    await run.sleep(pauseMs, run.signal);
  }
}

type ResourceAnswer = { readonly resource: EvidenceExport } | { readonly askedMs: number };

async function readResource(run: MirrorRun): Promise<ResourceAnswer> {
  const { client, exportRef, pacer } = run;
  const options = callOptions(run, EXPORT_RESOURCE, pacer.attempts());
  try {
    return { resource: await client.evidence.exports.read(exportRef, options) };
  } catch (cause) {
    const asks = cause instanceof ControlError && cause.retryable && cause.retryAfterMs !== undefined;
    if (!asks || run.waitMs === 0) throw cause;
    return { askedMs: cause.retryAfterMs };
  }
}

function reportWaiting(run: MirrorRun, resource: EvidenceExport, delayMs: number): void {
  const { state, completedBundleCount, bundleCount } = resource;
  run.report({ type: 'waiting', state, completed: completedBundleCount, of: bundleCount, delayMs });
}

const isDeleted = (cause: unknown): cause is DrillproofError => hasCode(cause, 'control.EVIDENCE_DELETED');

/** Reads the documents that an earlier run wrote; `undefined` if they are not valid. */
async function pinFromTarget(
  run: MirrorRun,
  view: MirrorView,
  { details }: DrillproofError,
): Promise<Pinned | undefined> {
  const manifestBytes = await readSmallFile(view, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes);
  const resourceBytes = await readSmallFile(view, EXPORT_RESOURCE, DEFAULT_LIMITS.documentBytes);
  const pinned =
    manifestBytes && resourceBytes && parseIfValid(() => parsePair(manifestBytes, resourceBytes));
  if (pinned?.manifest.evidenceExportId !== run.exportRef.evidenceExportId) return undefined;
  const stated = details?.['manifestDigest'];
  if (typeof stated === 'string' && stated !== pinned.manifestDigest)
    throw new DrillproofError('export.CHANGED', 'the target contains this export with another manifest', {
      details: { here: pinned.manifestDigest, source: stated },
    });
  assertExpected(run, pinned.manifestDigest);
  return pinned;
}

function parsePair(manifestBytes: Uint8Array, resourceBytes: Uint8Array): Pinned | undefined {
  const manifest = parseExportManifest(manifestBytes);
  const resource = parseExportResource(resourceBytes);
  const manifestDigest = digestOf(manifestBytes);
  const differences = listResourceDifferences(resource, manifest, manifestDigest, manifestBytes.length);
  if (differences.length > 0) return undefined;
  return { resource, manifest, manifestBytes, manifestDigest, manifestFrom: 'target' };
}

/**
 * Reads the export manifest from the source or from the caller. Its digest must match the resource and the expectation
 * of the caller before it is parsed.
 * @throws DrillproofError `expect.MANIFEST_MISMATCH`, `mirror.SOURCE_INVALID`; `export.RESOURCE_MISMATCH` and
 *   `export.MANIFEST_INVALID` for the manifest of the caller
 */
async function readManifest(run: MirrorRun, resource: EvidenceExport): Promise<Pinned> {
  const { suppliedManifest } = run;
  assertExpected(run, resource.manifestDigest);
  if (suppliedManifest !== undefined) return parsePinned(suppliedManifest, resource, 'caller');
  try {
    return parsePinned(await fetchManifest(run, resource), resource, 'source');
  } catch (cause) {
    throw toSourceError(cause);
  }
}

function parsePinned(
  manifestBytes: Uint8Array,
  resource: EvidenceExport,
  manifestFrom: Pinned['manifestFrom'],
): Pinned {
  const manifestDigest = assertPinned(manifestBytes, resource);
  const manifest = parseExportManifest(manifestBytes);
  const [first] = listResourceDifferences(resource, manifest, manifestDigest, manifestBytes.length);
  if (first !== undefined) throw mismatch(first.field, first.actual, first.expected);
  return { resource, manifest, manifestBytes, manifestDigest, manifestFrom };
}

/** An invalid manifest of the source is not evidence: nothing was obtained. Other errors stay as they are. */
function toSourceError(cause: unknown): unknown {
  if (!(cause instanceof DrillproofError) || !/^(?:export|json|encoding)\./.test(cause.code)) return cause;
  const { code, message, details, path } = cause;
  return new DrillproofError('mirror.SOURCE_INVALID', `the manifest of the source: ${code}: ${message}`, {
    cause,
    details: { ...details, code },
    ...defined({ path }),
  });
}

function assertExpected({ expectManifest }: MirrorRun, actual: string | undefined): void {
  if (expectManifest === undefined || actual === expectManifest) return;
  const message = 'the manifest of the export does not match the expected digest';
  const details = { expected: expectManifest, actual: actual ?? null };
  throw new DrillproofError('expect.MANIFEST_MISMATCH', message, { details });
}

function assertPinned(manifestBytes: Uint8Array, { manifestDigest }: EvidenceExport): Digest {
  const digest = digestOf(manifestBytes);
  if (digest !== manifestDigest) throw mismatch('manifestDigest', String(manifestDigest), digest);
  return digest;
}

async function fetchManifest(run: MirrorRun, resource: EvidenceExport): Promise<Uint8Array> {
  const maxBytes = Number(resource.manifestBytes ?? '0');
  const limit = DEFAULT_LIMITS.manifestBytes;
  if (maxBytes > limit) throw new LimitError('json.TOO_LARGE', `the manifest has more than ${limit} bytes`);
  const wanted = { name: 'evidence.exports.manifest', path: EXPORT_MANIFEST, maxBytes } as const;
  return fetchDocument(run, wanted, (fetched) => assertPinned(fetched, resource));
}

const ATTESTATION = {
  name: 'evidence.exports.attestation',
  path: EXPORT_ATTESTATION,
  maxBytes: DEFAULT_LIMITS.documentBytes,
} as const;

/**
 * Fetches the export attestation, which must name this manifest; `undefined` if the source has none. Its signature is not
 * verified, because a mirror has no trust store. The digest in the answer detects bytes that were changed in transit.
 * @throws DrillproofError `attestation.INVALID`, `export.ATTESTATION_SUBJECT_MISMATCH`; TransportError
 *   `transport.DIGEST_MISMATCH`
 */
export async function fetchAttestation(run: MirrorRun, pinned: Pinned): Promise<Uint8Array | undefined> {
  try {
    return await fetchDocument(run, ATTESTATION, (bytes) => assertSubject(bytes, pinned));
  } catch (cause) {
    // Missing, or a control plane without the extension.
    if ([404, 405, 501].includes(httpStatusOf(cause) ?? 0)) return undefined;
    throw cause;
  }
}

/** @throws DrillproofError as `fetchAttestation` */
export function assertSubject(bytes: Uint8Array, { manifest, manifestDigest }: Pinned): void {
  const { subject } = parseExportAttestation(bytes).statement;
  if (
    subject.evidenceExportId === manifest.evidenceExportId &&
    subject.organizationId === manifest.organizationId &&
    subject.manifestDigest === manifestDigest
  )
    return;
  const message = 'the export attestation names another export or manifest';
  throw new DrillproofError('export.ATTESTATION_SUBJECT_MISMATCH', message);
}

function mismatch(field: string, stated: string, actual: string): DrillproofError {
  const message = `the export states ${field} ${stated}, its manifest ${actual}`;
  const details = { field, stated, found: actual };
  return new DrillproofError('export.RESOURCE_MISMATCH', message, { path: `/${field}`, details });
}
