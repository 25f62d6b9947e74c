import { streamAccess } from '../bytes/random-access.ts';
import { DEFAULT_LIMITS } from '../evidence/document.ts';
import { type EvidenceSource, readFile } from '../evidence/source.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST, EXPORT_RESOURCE } from '../evidence/export/pack-export.ts';
import { localReportPath, parseExportResource, partPath } from '../evidence/export/manifest.ts';
import type { Code } from '../codes/catalogue.ts';
import type { EvidenceExport } from '../contract/resources/evidence.ts';
import type { Client } from '../client/client.ts';
import type { Download } from '../client/http/download.ts';
import { HttpStatusError } from '../client/http/errors.ts';
import { DrillproofError, hasCode } from '../errors.ts';

type Exports = Client['evidence']['exports'];

/** The methods of a client that a mirror needs. `createClient` and `replicaClient` return one. */
export type MirrorClient = Pick<Client, 'baseUrl' | 'download' | 'backOff'> & {
  readonly evidence: {
    readonly exports: Pick<Exports, 'read'> & {
      readonly parts: Pick<Exports['parts'], 'download'>;
      readonly localReports: Pick<Exports['localReports'], 'archive'>;
    };
  };
};

/** The paths of the documents of an export, by the operation that serves them. */
const DOCUMENTS: ReadonlyMap<string, string> = new Map([
  ['evidence.exports.manifest', EXPORT_MANIFEST],
  ['evidence.exports.attestation', EXPORT_ATTESTATION],
]);

/**
 * Uses another mirror of an export as the source of a mirror. The second mirror is not trusted; each of its files is
 * checked like a download. A missing file is `part.MISSING` or `local-report.MISSING`, and one that cannot be read
 * `scrub.REPLICA_UNREADABLE`, so that neither looks like a fault of the target.
 * @param address the name of the source in receipts: a URL without user and query
 */
export function replicaClient(source: EvidenceSource, address: string): MirrorClient {
  const openPart = (path: string, missing: Code) =>
    convertReadErrors(path, () => download(source, path, missing));
  return {
    baseUrl: address,
    backOff: (error) => Promise.reject(error), // reading again does not help
    download: (name) => openDocument(source, DOCUMENTS.get(name) ?? ''),
    evidence: {
      exports: {
        read: ({ evidenceExportId }) =>
          convertReadErrors(EXPORT_RESOURCE, () => readResource(source, evidenceExportId)),
        parts: { download: ({ evidenceBundleId }) => openPart(partPath(evidenceBundleId), 'part.MISSING') },
        localReports: {
          archive: ({ localReportId }) => openPart(localReportPath(localReportId), 'local-report.MISSING'),
        },
      },
    },
  };
}

async function readResource(source: EvidenceSource, evidenceExportId: string): Promise<EvidenceExport> {
  const resource = parseExportResource(await readFile(source, EXPORT_RESOURCE, DEFAULT_LIMITS.documentBytes));
  if (resource.evidenceExportId === evidenceExportId) return resource;
  throw new DrillproofError('scrub.REPLICA_FOREIGN', `the second mirror is of ${resource.evidenceExportId}`);
}

async function openDocument(source: EvidenceSource, path: string): Promise<Download> {
  const exists = (await source.files()).some((file) => file.path === path);
  if (!exists) throw new HttpStatusError(404, undefined); // the answer of a server without the document
  return convertReadErrors(path, () => download(source, path, 'export.MANIFEST_MISSING'));
}

async function download(source: EvidenceSource, path: string, missing: Code): Promise<Download> {
  const file = await source.open(path).catch((cause: unknown) => {
    if (!hasCode(cause, 'io.NOT_FOUND')) throw cause;
    throw new DrillproofError(missing, `the second mirror has no ${path}`, { path, cause });
  });
  const body = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* streamAccess(file);
    } catch (cause) {
      throw toReadError(path, cause);
    } finally {
      await file.close();
    }
  };
  return {
    status: 200,
    etag: undefined,
    range: undefined,
    totalBytes: file.size,
    reprDigest: undefined,
    body: body(),
    cancel: () => file.close(),
  };
}

/** Reports a failure to read a file of the second mirror as `scrub.REPLICA_UNREADABLE`. */
export async function convertReadErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw toReadError(path, cause);
  }
}

function toReadError(path: string, cause: unknown): unknown {
  if (!(cause instanceof DrillproofError) || !cause.code.startsWith('io.')) return cause;
  const message = `the second mirror: ${cause.message}`;
  return new DrillproofError('scrub.REPLICA_UNREADABLE', message, { path, cause });
}
