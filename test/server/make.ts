import { ReadableStream } from 'node:stream/web';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { digestOf } from '../../src/bytes/hash.ts';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { permissions as everyPermission, type Permission } from '../../src/contract/operations/operations.ts';
import { memorySource } from '../../src/evidence/source.ts';
import { packBundle, type BundleInput } from '../../src/evidence/bundle/pack-bundle.ts';
import { packExport } from '../../src/evidence/export/pack-export.ts';
import { readPartFacts } from '../../src/evidence/bundle/part.ts';
import { createAdmin } from '../../src/server/admin/admin.ts';
import { createServer, type ServerOptions } from '../../src/server/server.ts';
import { openEmbedded, type Stores } from '../../src/server/open-stores.ts';
import type { ImportDocument } from '../../src/server/admin/import.ts';
import type { LocalReportMetadata } from '../../src/server/admin/local-report.ts';
import type { LogEntry } from '../../src/server/model/log.ts';
import type { ServerLimits } from '../../src/server/model/limits.ts';
import type { Signer } from '../../src/trust/key/signer.ts';
import {
  collect as whole,
  idOf as id,
  makeBundleInput,
  makeExportInput,
  makeObject,
  makeRunResult,
  makeSigner as signer,
  pack,
} from '../support/evidence.ts';

export const NOW_MS = Date.UTC(2026, 10, 21, 12);
export const HASH = `sha256:${'ab'.repeat(32)}` as const;

export { id, signer, whole };

export const ORG = id('org', 1);
export const OTHER_ORG = id('org', 2);
export const PROJECT = id('prj', 1);
export const SECOND_PROJECT = id('prj', 2);
export const FOREIGN_PROJECT = id('prj', 3);
export const EXPORT = id('evexp', 1);

/** Rates without a limit in practice: while the clock of a test stands still, no credit is earned. */
export const UNHURRIED: Partial<ServerLimits> = {
  requestsPerSecond: 1e6,
  requestBurst: 1e6,
  downloadsPerSecond: 1e6,
  downloadBurst: 1e6,
};

/**
 * A control plane on a folder of its own, with a clock that the test moves. `log` has what was logged except for the
 * requests, which are in `requests`. `stored` reads resources of the first project.
 */
export async function makePlane(
  limits: Partial<ServerLimits> = {},
  open: (folder: string) => Promise<Pick<Stores, 'store' | 'blobs'>> = openEmbedded,
) {
  const folder = await mkdtemp(join(tmpdir(), 'drillproof-server-'));
  const clock = { nowMs: NOW_MS };
  const now = (): number => clock.nowMs;
  const [log, requests]: [LogEntry[], LogEntry[]] = [[], []];
  const { store, blobs } = await open(folder);
  const server = createServer({
    store,
    blobs,
    now,
    limits: { ...UNHURRIED, ...limits },
    log: (entry) => void (entry.event === 'request' ? requests : log).push(entry),
  });
  const close = async (): Promise<void> => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  };
  const admin = createAdmin({ store, blobs, now });
  const stored = {
    operation: async (operationId: string) => (await store.operations.find(ORG, operationId))!.resource,
    run: async (runId: string) => (await store.runs.find(PROJECT, runId))!.resource,
    session: async (sessionId: string) => (await store.sessions.find(PROJECT, sessionId))!.resource,
    turn: async (turnId: string) => (await store.turns.find(PROJECT, turnId))!.resource,
  };
  return { server, store, blobs, admin, stored, folder, log, requests, clock, close };
}
export type Plane = Awaited<ReturnType<typeof makePlane>>;

/** A second server on the stores and the clock of a control plane. */
export const serverOn = (
  { store, blobs, clock }: Pick<Plane, 'store' | 'blobs' | 'clock'>,
  options: Partial<ServerOptions> = {},
) => createServer({ store, blobs, now: () => clock.nowMs, ...options });

/** Two organizations; the first has two projects, the second one. */
export async function createTenants({ admin }: Pick<Plane, 'admin'>): Promise<void> {
  await admin.createOrganization({ organizationId: ORG, name: 'first' });
  await admin.createOrganization({ organizationId: OTHER_ORG, name: 'second' });
  await admin.createProject({ organizationId: ORG, projectId: PROJECT, name: 'one' });
  await admin.createProject({ organizationId: ORG, projectId: SECOND_PROJECT, name: 'two' });
  await admin.createProject({ organizationId: OTHER_ORG, projectId: FOREIGN_PROJECT, name: 'three' });
}

export async function token(
  { admin }: Pick<Plane, 'admin'>,
  over: {
    organizationId?: string;
    projects?: readonly string[] | 'all';
    permissions?: readonly Permission[];
  } = {},
): Promise<string> {
  const { organizationId = ORG, projects = 'all', permissions = everyPermission } = over;
  return (await admin.createToken({ organizationId, projects, permissions })).token;
}

export const ENVIRONMENT = id('env', 1);
const HOUR_MS = 3_600_000;
const inProject = { organizationId: ORG, projectId: PROJECT };
type Imported<K extends 'environments' | 'sessions' | 'runs' | 'authoringSessions'> = NonNullable<
  ImportDocument[K]
>[number];

/** An environment with a build. */
export const makeEnvironment = (over: Partial<Imported<'environments'>> = {}): Imported<'environments'> => ({
  ...inProject,
  environmentId: ENVIRONMENT,
  name: 'staging',
  buildHash: HASH,
  version: 1,
  createdAtMs: NOW_MS,
  updatedAtMs: NOW_MS,
  ...over,
});

/** Session `n` of the environment, which is ready for an hour. */
export const makeSession = (n: number, over: Partial<Imported<'sessions'>> = {}): Imported<'sessions'> => {
  const { createdAtMs = NOW_MS } = over;
  return {
    schemaVersion: 1,
    ...inProject,
    environmentId: ENVIRONMENT,
    sessionId: id('ses', n),
    buildHash: HASH,
    drillId: 'restore',
    seed: '1',
    state: 'ready',
    leaseGeneration: 1,
    createdAtMs,
    updatedAtMs: createdAtMs,
    expiresAtMs: createdAtMs + HOUR_MS,
    version: 1,
    ...over,
  };
};

/** Run `n` in session 1, which has not begun. */
export const makeRun = (n: number, over: Partial<Imported<'runs'>> = {}): Imported<'runs'> => {
  const { createdAtMs = NOW_MS } = over;
  return {
    schemaVersion: 1,
    hostedRunId: id('hrun', n),
    evidenceBundleId: id('evidence', n),
    ...inProject,
    environmentId: ENVIRONMENT,
    sessionId: id('ses', 1),
    buildHash: HASH,
    request: {
      runId: `run_number-${n}`,
      drillId: 'restore',
      seed: '1',
      trial: 1,
      trialCount: 1,
      attempt: 1,
      attemptLimit: 1,
    },
    leaseGeneration: 1,
    revision: 1,
    state: 'created',
    deadlineAtMs: createdAtMs + HOUR_MS,
    evidenceRetentionMs: 720 * HOUR_MS,
    createdAtMs,
    updatedAtMs: createdAtMs,
    ...over,
  };
};

/** Authoring session `n`, which is active. */
export const makeAuthoringSession = (
  n: number,
  over: Partial<Imported<'authoringSessions'>> = {},
): Imported<'authoringSessions'> => ({
  schemaVersion: 1,
  authoringSessionId: id('authsess', n),
  ...inProject,
  repositoryBindingId: id('repo', 1),
  createdBy: 'admin',
  branch: 'main',
  baseRevision: 'a1b2c3',
  state: 'active',
  version: 1,
  createdAtMs: NOW_MS,
  updatedAtMs: NOW_MS,
  ...over,
});

/**
 * An environment with a build, a session of it that is ready for an hour, a run of it that failed and one that has not
 * begun, and two authoring sessions. Without a clock of the test, the hour begins now.
 */
export async function importWorlds(
  { admin, clock }: Pick<Plane, 'admin'> & Partial<Pick<Plane, 'clock'>>,
  buildHash: string = HASH,
): Promise<void> {
  const createdAtMs = clock?.nowMs ?? Date.now();
  const over = { buildHash, createdAtMs };
  const { request, ...failed } = makeRun(1, { ...over, state: 'failed', finishedAtMs: createdAtMs });
  const counters = { trial: 2, trialCount: 3, attempt: 4, attemptLimit: 5 };
  await admin.importResources({
    schemaVersion: 1,
    environments: [makeEnvironment({ buildHash })],
    sessions: [makeSession(1, over)],
    runs: [{ ...failed, request: { ...request, ...counters } }, makeRun(2, over)],
    authoringSessions: [makeAuthoringSession(1), makeAuthoringSession(2)],
  });
}

/** A body that arrives in pieces, without a Content-Length. Each piece is made when it is read. */
export const bodyFrom = (pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): BodyInit =>
  ReadableStream.from(pieces) as BodyInit;

export async function* stream(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** The part archive of bundle `n`; `padding` bytes of zeros make it large. */
export async function part(
  n: number,
  over: Partial<BundleInput> & { key?: Signer; padding?: number } = {},
): Promise<Uint8Array> {
  const { key, padding = 0, ...facts } = over;
  const runId = `run_number-${n}`;
  const input = makeBundleInput(n, {
    runId,
    createdAtMs: NOW_MS - 10_000 + n,
    runResult: makeRunResult(n, {
      identity: { runId, drillId: 'restore', targetId: 'target', buildHash: HASH },
    }),
    objects: [
      makeObject('journal.txt', `journal ${n}`, { role: 'evidence' }),
      makeObject('state.txt', `state ${n}`, { role: 'state' }),
      makeObject('trajectory.txt', `trajectory ${n}`, { role: 'trajectory' }),
      makeObject('padding.bin', '', { open: () => stream(new Uint8Array(padding)) }),
    ],
    ...facts,
  });
  const signing = key && { signer: key, issuer: 'acme', issuedAtMs: NOW_MS - 5_000 };
  const packed = await packBundle(input, signing);
  return whole(packed.archive({ compression: 'store' }));
}

type LocalReport = ReturnType<typeof localReport>;

/** A local report with the claims of its uploader. */
export function localReport(n: number) {
  const bytes = toUtf8(`archive of local report ${n}`);
  const common = { localReportId: id('lrep', n), manifestDigest: HASH, createdAtMs: NOW_MS - 9_000 + n };
  const metadata: LocalReportMetadata = {
    ...common,
    uploadedBy: 'a person',
    summary: {
      runId: `run_local-${n}`,
      drillId: 'restore',
      targetId: 'target',
      reportedBuildHash: HASH,
      reportedPackageLockHash: HASH,
      seed: '1',
      reportedStatus: 'completed',
      artifactCount: 1,
      expandedBytes: 10,
      redacted: false,
    },
  };
  const listing = { projectId: PROJECT, digest: digestOf(bytes), bytes: bytes.length, expandedBytes: '10' };
  return { bytes, metadata, facts: { ...common, ...listing } };
}

export type ExportMake = {
  readonly evidenceExportId?: string;
  readonly parts?: readonly Uint8Array[];
  readonly reports?: readonly number[];
  readonly scope?: { kind: 'organization' } | { kind: 'project'; projectId: string };
  readonly key?: Signer;
};

/** The files of a packed export, by path, and its local reports. */
export async function exportFiles(make: ExportMake = {}) {
  const { evidenceExportId = EXPORT, parts = [await part(1)], key } = make;
  const { scope = { kind: 'project', projectId: PROJECT } } = make;
  const reports = (make.reports ?? []).map(localReport);
  const facts = await Promise.all(parts.map((bytes) => readPartFacts(memoryAccess(bytes))));
  const window = { fromAtMs: NOW_MS - 100_000, throughAtMs: NOW_MS };
  const times = { createdAtMs: NOW_MS - 2_000, completedAtMs: NOW_MS - 1_000 };
  const listed = { localReports: reports.map((report) => report.facts) };
  const packed = await packExport(
    { ...makeExportInput(facts), evidenceExportId, scope, ...window, ...times, ...listed },
    key && { signer: key, issuer: 'acme', issuedAtMs: NOW_MS - 500 },
  );
  const files: Record<string, Uint8Array> = {};
  for (const { path, bytes } of packed.documents) files[path] = bytes;
  for (const [i, { manifest }] of facts.entries())
    files[`parts/${manifest.evidenceBundleId}.zip`] = parts[i]!;
  for (const { bytes, metadata } of reports) files[`local-reports/${metadata.localReportId}.zip`] = bytes;
  return { files, reports, facts };
}

/** Stores the local reports of an export, as an operator does before the export. */
export async function ingestReports({ admin }: Pick<Plane, 'admin'>, reports: readonly LocalReport[]) {
  for (const { bytes, metadata } of reports)
    await admin.ingestLocalReport(PROJECT, memoryAccess(bytes), metadata);
}

/** Packs an export and ingests it. */
export async function ingestExport({ admin }: Pick<Plane, 'admin'>, make: ExportMake = {}) {
  const { files, reports, facts } = await exportFiles(make);
  await ingestReports({ admin }, reports);
  const { resource } = await admin.ingestExport(memorySource(files));
  return { files, resource, facts };
}

export const SOURCE = 'export const greet = (name) => `hello ${name} ✓`;\n';

/** A build archive with one package, and what announces it; entries and lock may be changed before it is packed. */
export async function buildArchive(
  source: string | Uint8Array = SOURCE,
  change: {
    lock?: (lock: Record<string, unknown>) => unknown;
    extra?: Record<string, Uint8Array>;
    drop?: string;
  } = {},
) {
  const sourceBytes = typeof source === 'string' ? toUtf8(source) : source;
  const manifest = toUtf8('{"name":"greeter"}');
  const asset = toUtf8('<p>hello</p>');
  const page = { path: 'greeter/ui.html', mediaType: 'text/html' };
  const lock = {
    schemaVersion: 1,
    kind: 'build',
    packages: [
      {
        packageId: 'greeter',
        version: '1.2.3',
        manifestHash: digestOf(manifest),
        artifactHash: digestOf(sourceBytes),
        manifest: 'greeter/package.json',
        source: 'greeter/index.js',
        ui: {
          entry: page.path,
          assets: [{ ...page, artifactHash: digestOf(asset), bytes: asset.length }],
        },
      },
    ],
  };
  const lockBytes = canonicalBytes(change.lock?.(lock) ?? lock);
  const files: Record<string, Uint8Array> = {
    'build.json': lockBytes,
    'greeter/package.json': manifest,
    'greeter/index.js': sourceBytes,
    [page.path]: asset,
    ...change.extra,
  };
  const entries = Object.entries(files).filter(([name]) => name !== change.drop);
  const [bytes, buildHash] = [await pack(entries), digestOf(lockBytes)];
  return { bytes, buildHash, announced: { buildHash, artifactDigest: digestOf(bytes), bytes: bytes.length } };
}

export type BuildArchive = Awaited<ReturnType<typeof buildArchive>>;

/** A request to a control plane without a socket. */
export async function ask(
  { server }: Pick<Plane, 'server'>,
  path: string,
  options: { token?: string; method?: string; headers?: Record<string, string>; body?: BodyInit } = {},
): Promise<Response> {
  const { token: bearer, method = 'GET', headers = {}, body } = options;
  const authorization = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  return server.fetch(
    new Request(`http://control.test${path}`, {
      method,
      headers: { ...authorization, ...headers },
      ...(body !== undefined && { body, duplex: 'half' }),
    }),
  );
}
