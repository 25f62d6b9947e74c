import { randomUUID } from 'node:crypto';
import {
  operations,
  type JsonOperationName,
  type Result,
  type UploadOperationName,
} from '../../src/contract/operations/operations.ts';
import type { BuildUpload } from '../../src/contract/resources/build.ts';
import type { OperationResource } from '../../src/contract/resources/operation.ts';
import { ask, id, PROJECT, type BuildArchive, type Plane } from './make.ts';

export type Sender = { readonly server: Plane['server']; readonly token: string };

/** Sends a change. Default: a new key. */
export const post = (
  { server, token }: Sender,
  path: string,
  body: unknown,
  key: string = randomUUID(),
): Promise<Response> =>
  ask({ server }, path, {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });

export const inProject = (rest: string, projectId = PROJECT): string => `/v1/projects/${projectId}/${rest}`;

export const EXTEND = inProject(`sessions/${id('ses', 1)}/extend`);
export const TURNS = inProject(`authoring-sessions/${id('authsess', 1)}/turns`);
export const UPLOADS = inProject('build-uploads');
export const RERUNS = inProject(`runs/${id('hrun', 1)}/reruns`);

export const HOUR_MS = 3_600_000;

/** A good extension of the session of `importWorlds`, which expires in an hour. */
export const extension = (over: Record<string, unknown> = {}): Record<string, unknown> => ({
  expectedLeaseGeneration: 1,
  expectedVersion: 1,
  ttlMs: 2 * HOUR_MS,
  ...over,
});

/** Parses the document of a good answer with the schema of its row. */
export async function answerOf<N extends JsonOperationName | UploadOperationName>(
  name: N,
  answer: Response | Promise<Response>,
): Promise<Result<N>> {
  return operations[name].success.schema.parse(await (await answer).json()) as Result<N>;
}

/** Begins an upload of an archive. */
export const beginUpload = (sender: Sender, { announced }: BuildArchive): Promise<BuildUpload> =>
  answerOf('builds.uploads.create', post(sender, UPLOADS, announced));

/** Sends an archive to the address of its upload. */
export const sendArchive = (
  { server }: Pick<Sender, 'server'>,
  uploadUrl: string,
  { bytes }: BuildArchive,
): Promise<Response> =>
  ask({ server }, uploadUrl, {
    method: 'PUT',
    headers: { 'content-type': 'application/zip', 'content-length': String(bytes.length) },
    body: Uint8Array.from(bytes),
  });

/** Reads an operation over HTTP. */
export const readOperation = ({ server, token }: Sender, operationId: string): Promise<OperationResource> =>
  answerOf('operations.read', ask({ server }, inProject(`operations/${operationId}`), { token }));
