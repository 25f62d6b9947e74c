import { randomUUID } from 'node:crypto';
import {
  operations,
  type JsonOperationName,
  type OperationResource,
  type Result,
  type UploadOperationName,
} from '../../src/contract/index.ts';
import { ask, id, PROJECT, type Plane } from './make.ts';

export type Sender = { readonly server: Plane['server']; readonly token: string };

/** Sends a change: with a key of its own unless one is given. */
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

/** A good extension of the session of `worlds`, which expires in an hour. */
export const extension = (over: Record<string, unknown> = {}): Record<string, unknown> => ({
  expectedLeaseGeneration: 1,
  expectedVersion: 1,
  ttlMs: 2 * HOUR_MS,
  ...over,
});

/** The document of a good answer, as its row of the table has it. */
export async function answerOf<N extends JsonOperationName | UploadOperationName>(
  name: N,
  answer: Response | Promise<Response>,
): Promise<Result<N>> {
  return operations[name].success.schema.parse(await (await answer).json()) as Result<N>;
}

/** An operation as its extension reads it. */
export const readOperation = ({ server, token }: Sender, operationId: string): Promise<OperationResource> =>
  answerOf('operations.read', ask({ server }, inProject(`operations/${operationId}`), { token }));
