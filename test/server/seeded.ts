import { memoryAccess } from '../../src/bytes/random-access.ts';
import type { OperationName } from '../../src/contract/operations/operations.ts';
import { answerOf, extension, post, TURNS, type Sender } from './change.ts';
import {
  buildArchive,
  ENVIRONMENT,
  EXPORT,
  HASH,
  id,
  ingestExport,
  makeAuthoringSession,
  part,
  PROJECT,
  signer,
  token,
  importWorlds,
  type BuildArchive,
  type Plane,
} from './make.ts';

/** One of each resource that the operations read or change, and a token for everything. */
export type Seeded = Sender & {
  /** The ids of the resources, by the name of the parameter in a path. */
  readonly params: Readonly<Record<string, string>>;
  /** A build archive that no upload has sent yet. */
  readonly archive: BuildArchive;
};

/** Stores a `Seeded` in a control plane with tenants. */
export async function seed(plane: Plane): Promise<Seeded> {
  const key = signer();
  await ingestExport(plane, { parts: [await part(1, { key })], reports: [1, 2], key });
  const { bytes, buildHash } = await buildArchive();
  const { buildAttemptId } = await plane.admin.ingestBuild(PROJECT, memoryAccess(bytes));
  await importWorlds(plane, buildHash);
  await plane.admin.importResources({ schemaVersion: 1, authoringSessions: [makeAuthoringSession(3)] });
  const sender = { server: plane.server, token: await token(plane) };
  const other = TURNS.replace(id('authsess', 1), id('authsess', 2));
  const { turn } = await answerOf('authoring.turns.create', post(sender, other, { prompt: 'continue' }));
  return {
    ...sender,
    params: {
      projectId: PROJECT,
      evidenceExportId: EXPORT,
      evidenceBundleId: id('evidence', 1),
      localReportId: id('lrep', 1),
      buildHash,
      buildAttemptId,
      sessionId: id('ses', 1),
      authoringSessionId: id('authsess', 2),
      authoringTurnId: turn.authoringTurnId,
      operationId: turn.operationId,
      hostedRunId: id('hrun', 1),
      environmentId: ENVIRONMENT,
      packageId: 'greeter',
    },
    archive: await buildArchive('export const other = 1;\n'),
  };
}

/** The parts of a good request for an operation that differ from those of the others. */
export const REQUESTS: Partial<
  Record<OperationName, { params?: Record<string, string>; query?: Record<string, string>; body?: object }>
> = {
  'sessions.extend': { body: extension() },
  'authoring.turns.create': {
    params: { authoringSessionId: id('authsess', 1) },
    body: { prompt: 'continue' },
  },
  'authoring.sessions.close': { params: { authoringSessionId: id('authsess', 3) }, body: {} },
  'builds.uploads.create': { body: { buildHash: HASH, artifactDigest: HASH, bytes: 1 } },
  'builds.tools.source': { query: { packageId: 'greeter' } },
  'runs.reruns.create': { body: {} },
  'operations.cancel': { body: {} },
};
