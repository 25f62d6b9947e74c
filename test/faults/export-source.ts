import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import type { EvidenceExport } from '../../src/contract/resources/evidence.ts';
import { parseExportManifest, selectionDigest, sumBytes } from '../../src/evidence/export/manifest.ts';
import { EXPORT_ID, idOf, ORGANIZATION, PROJECT } from '../support/evidence.ts';
import { envelope, faultServer, json, type Answer, type FaultServer, type Seen } from './server.ts';

export const exportRef = { projectId: PROJECT, evidenceExportId: EXPORT_ID };

const digest = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}` as const;

/** Makes bytes from a seed that do not repeat early. */
function makeBytes(seed: number, length: number): Uint8Array {
  let state = seed * 2_654_435_761 + 1;
  return new Uint8Array(length).map(() => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
}

export type TestExport = {
  /** The id under which it is served, whatever the resource states. */
  readonly id: string;
  /** Every listed file by its path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly manifest: Uint8Array;
  readonly manifestDigest: `sha256:${string}`;
  readonly resource: EvidenceExport;
  readonly attestation: Uint8Array;
};

/** Makes an export whose files are not archives, because a mirror does not open them. */
export function makeExport(
  options: { parts?: number; reports?: number; bytes?: number; seed?: number; id?: string } = {},
): TestExport {
  const { parts = 3, reports = 1, bytes = 5000, seed = 1, id = EXPORT_ID } = options;
  const files = new Map<string, Uint8Array>();
  const row = (ordinal: number, path: string) => {
    const content = makeBytes(seed * 1000 + files.size, bytes);
    files.set(path, content);
    return {
      ordinal,
      projectId: PROJECT,
      path,
      digest: digest(content),
      bytes: String(bytes),
      manifestDigest: digest(content.subarray(1)),
    };
  };
  const partRows = Array.from({ length: parts }, (_, i) => {
    const evidenceBundleId = idOf('evidence', i);
    return { ...row(i, `parts/${evidenceBundleId}.zip`), evidenceBundleId, signed: true };
  });
  const reportRows = Array.from({ length: reports }, (_, i) => {
    const localReportId = idOf('lrep', i);
    return { ...row(i, `local-reports/${localReportId}.zip`), localReportId, expandedBytes: '1' };
  });
  const head = {
    evidenceExportId: id,
    organizationId: ORGANIZATION,
    scope: { kind: 'project', projectId: PROJECT } as const,
    fromAtMs: 0,
    throughAtMs: 10,
    selectionDigest: selectionDigest(partRows, reportRows),
  };
  const manifest = canonicalBytes({
    schemaVersion: 1,
    kind: 'evidence.export',
    ...head,
    parts: partRows,
    localReports: reportRows,
  });
  parseExportManifest(manifest);
  const manifestDigest = digest(manifest);
  const resource: EvidenceExport = {
    schemaVersion: 1,
    ...head,
    operationId: 'op_000000000001',
    state: 'available',
    requestedBy: 'archivist',
    bundleCount: parts,
    completedBundleCount: parts,
    sourceBytes: '1',
    archiveBytes: sumBytes([...partRows, ...reportRows].map((entry) => entry.bytes)),
    createdAtMs: 1,
    updatedAtMs: 2,
    ...(reports > 0 && { localReportCount: reports, completedLocalReportCount: reports }),
    manifestDigest,
    manifestBytes: String(manifest.length),
  };
  return { id, files, manifest, manifestDigest, resource, attestation: makeAttestation(manifestDigest, id) };
}

const makeAttestation = (manifestDigest: string, id: string): Uint8Array =>
  canonicalBytes({
    schemaVersion: 1,
    algorithm: 'ecdsa-p256-sha256',
    encoding: 'der-base64url',
    signature: 'MAYCAQECAQE',
    statement: {
      schemaVersion: 1,
      predicateType: 'urn:drillproof:attestation:export:v1',
      issuer: 'test',
      keyId: 'key',
      issuedAtMs: 5,
      subject: { evidenceExportId: id, organizationId: ORGANIZATION, manifestDigest },
    },
  });

/** Answers a request wrongly, or returns `false` so that the source answers it. */
export type Fault = (request: {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly seen: Seen;
  readonly response: ServerResponse;
  /** The number of earlier requests for this path. */
  readonly n: number;
}) => boolean | void;

/** A fault in the answers to the first requests for a path, or for each path that matches: by default in all of them. */
export const answerAt =
  (paths: string | RegExp, answer: (request: Parameters<Fault>[0]) => unknown, times = Infinity): Fault =>
  (request) => {
    const { path, n } = request;
    if (n >= times || (typeof paths === 'string' ? path !== paths : !paths.test(path))) return false;
    answer(request);
    return true;
  };

/** A fault that answers requests for a path, or for the paths that match, with an error envelope. */
export const refuse = (paths: string | RegExp, status: number, code: string): Fault =>
  answerAt(paths, ({ response }) => envelope(response, status, code));

export type ExportSource = FaultServer & {
  /** Lists the requests for one file of the export. */
  requests(path: string): readonly Seen[];
};

const prefixOf = ({ id }: TestExport): string => `/v1/projects/${PROJECT}/evidence-exports/${id}`;

/** Serves an export as a control plane does, with an optional fault. */
export const serveExport = (sample: TestExport, fault?: Fault): Promise<ExportSource> =>
  serveExports([sample], fault);

/** Serves several exports. `requests` lists those for a path in any of them. */
export async function serveExports(
  all: readonly TestExport[],
  fault: Fault = () => false,
): Promise<ExportSource> {
  const answers = all.map((sample) => [prefixOf(sample), answerWith(sample, fault)] as const);
  const server = await faultServer((seen, response, n) => {
    const row = answers.find(([prefix]) => `${seen.url}/`.startsWith(`${prefix}/`));
    if (row === undefined) return envelope(response, 404, 'control.NOT_FOUND');
    return row[1](seen, response, n);
  });
  const names = (path: string, { url }: Seen): boolean =>
    all.some((sample) => pathOf(prefixOf(sample), url) === path);
  return { ...server, requests: (path) => server.seen.filter((seen) => names(path, seen)) };
}

function answerWith(sample: TestExport, fault: Fault): Answer {
  const documents = new Map<string, Uint8Array>([
    ...sample.files,
    ['manifest.json', sample.manifest],
    ['export-attestation.json', sample.attestation],
  ]);
  const counts = new Map<string, number>();
  return (seen, response) => {
    const path = pathOf(prefixOf(sample), seen.url);
    const n = counts.get(path) ?? 0;
    counts.set(path, n + 1);
    const bytes = documents.get(path) ?? new Uint8Array();
    if (fault({ path, bytes, seen, response, n }) === true) return;
    if (path === 'export.json') return json(response, 200, sample.resource);
    if (!documents.has(path)) return envelope(response, 404, 'control.NOT_FOUND');
    sendBytes(response, seen, bytes);
  };
}

/** The path in the export that belongs to an address of the API. */
function pathOf(prefix: string, url: string): string {
  const rest = url.startsWith(prefix) ? url.slice(prefix.length) : '?';
  const [, kind, id] = /^\/(parts|local-reports)\/([^/]+)/.exec(rest) ?? [];
  return kind === undefined ? (DOCUMENTS.get(rest) ?? 'unknown') : `${kind}/${id}.zip`;
}
const DOCUMENTS = new Map([
  ['', 'export.json'],
  ['/manifest', 'manifest.json'],
  ['/export-attestation', 'export-attestation.json'],
]);

export const etagOf = (bytes: Uint8Array): string => `"${digest(bytes).slice(7, 39)}"`;

/** Answers with bytes, or with the requested range if the entity tag matches. */
export function sendBytes(response: ServerResponse, { headers }: Seen, bytes: Uint8Array): void {
  const etag = etagOf(bytes);
  const common = { 'accept-ranges': 'bytes', etag, 'content-type': 'application/zip' };
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(from) || (headers['if-range'] ?? etag) !== etag) {
    response.writeHead(200, { ...common, 'content-length': bytes.length }).end(bytes);
  } else if (from >= bytes.length) {
    const range = `bytes */${bytes.length}`;
    envelope(response, 416, 'control.RANGE_NOT_SATISFIABLE', {}, { 'content-range': range });
  } else {
    const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    response.writeHead(206, { ...common, 'content-range': range, 'content-length': bytes.length - from });
    response.end(bytes.subarray(from));
  }
}
