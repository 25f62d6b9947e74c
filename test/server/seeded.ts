import { digestOf, memoryAccess } from '../../src/bytes/index.ts';
import { answerOf, post, TURNS, UPLOADS, type Sender } from './change.ts';
import {
  buildArchive,
  ENVIRONMENT,
  EXPORT,
  id,
  ingestedExport,
  makeAuthoringSession,
  part,
  PROJECT,
  signer,
  tenants,
  token,
  worlds,
  type World,
} from './make.ts';

/** One of everything that the operations read or change, and the ids that lead to it. */
export type Seeded = Sender & {
  /** Of every path, by the name of the parameter. */
  readonly params: Readonly<Record<string, string>>;
  /** A build archive that no upload has sent yet. */
  readonly archive: {
    readonly bytes: Uint8Array;
    readonly buildHash: string;
    readonly artifactDigest: string;
  };
};

export async function seed(plane: World): Promise<Seeded> {
  await tenants(plane);
  const key = signer();
  await ingestedExport(plane, { parts: [await part(1, { key })], reports: [1, 2], key });
  const { bytes, buildHash } = await buildArchive();
  const { buildAttemptId } = await plane.admin.ingestBuild(PROJECT, memoryAccess(bytes));
  await worlds(plane, buildHash);
  await plane.admin.importResources({ schemaVersion: 1, authoringSessions: [makeAuthoringSession(3)] });
  const sender = { server: plane.server, token: await token(plane) };
  const other = TURNS.replace(id('authsess', 1), id('authsess', 2));
  const { turn } = await answerOf('authoring.turns.create', await post(sender, other, { prompt: 'go on' }));
  const another = await buildArchive('export const other = 1;\n');
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
    archive: { ...another, artifactDigest: digestOf(another.bytes) },
  };
}

/** Begins an upload of the archive and gives the path and query of its address. */
export async function uploadAddress({ archive, ...sender }: Seeded): Promise<string> {
  const { buildHash, artifactDigest, bytes } = archive;
  const response = await post(sender, UPLOADS, { buildHash, artifactDigest, bytes: bytes.length });
  return (await answerOf('builds.uploads.create', response)).uploadUrl;
}
