import type * as z from 'zod/mini';
import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { defined } from '../../bytes/arguments.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import type { JsonValue } from '../../bytes/json/parse.ts';
import {
  type Body,
  type JsonOperationName,
  type OperationName,
  operationRow,
  type Params,
  type Permission,
  type Query,
  type Result,
  type UploadOperationName,
} from '../../contract/operations/operations.ts';
import { Refusal, notFound } from '../http/envelope.ts';
import { assertMatch, digestDocument, formatEtag } from '../http/validate.ts';
import type { Principal } from '../http/tokens.ts';
import type { ExportRow, IdempotencyRow, Reads, Store, Tx } from '../store/store.ts';
import type { Cursors, CursorScope } from '../http/sealed.ts';
import type { StoredFile } from '../http/download.ts';
import type { Content } from '../http/body.ts';

export function assertPermission(
  { permissions }: Principal,
  permission: Permission,
  alsoPermitted: readonly Permission[] = [],
): void {
  if ([permission, ...alsoPermitted].some((sufficient) => permissions.includes(sufficient))) return;
  throw new Refusal('control.PERMISSION_DENIED', `the token lacks the permission ${permission}`, {
    details: { permission },
  });
}

/**
 * Requires a project of the principal. The store is read because a token names projects without their organization.
 * @throws Refusal `control.NOT_FOUND` for a project that is missing, foreign or outside the token
 */
export async function assertProject(store: Reads, principal: Principal, projectId: string): Promise<void> {
  await readVisible(principal, projectId, () => store.projects.find(projectId));
}

/** Reads a row of a project that the token has. The organization of the row is that of its project. */
export async function readVisible<R extends { readonly organizationId: string }>(
  { organizationId, projects }: Principal,
  projectId: string,
  read: () => Promise<R | undefined>,
): Promise<R> {
  if (projects !== 'all' && !projects.includes(projectId)) throw notFound();
  const row = await read();
  if (row?.organizationId !== organizationId) throw notFound();
  return row;
}

/** Returns whether a token has every project of its organization, by `all` or by name. */
export async function hasEveryProject(
  reads: Reads,
  { organizationId, projects }: Principal,
): Promise<boolean> {
  if (projects === 'all') return true;
  const all = await reads.projects.list(organizationId);
  return all.every(({ projectId }) => projects.includes(projectId));
}

/**
 * Returns whether an export is visible through a project: an export of a project through that project, an export of an
 * organization through each project, to a token that has every project.
 */
export const showsThrough = (
  { resource: { scope } }: ExportRow,
  projectId: string,
  hasEvery: boolean,
): boolean => (scope.kind === 'project' ? scope.projectId === projectId : hasEvery);

/** A request for a change: its principal, and the identity by which a replay is recognized, also of another token. */
export type Change = {
  readonly principal: Principal;
  readonly projectId: string;
  readonly operation: OperationName;
  readonly key: string;
  readonly requestHash: Digest;
  /** The header If-Match. A replay needs none: it changes nothing. */
  readonly ifMatch?: string;
  /** The trace of the request (W3C Trace Context), which queued work continues. */
  readonly traceparent?: string;
};

/** Refuses a change of a resource that differs from the one that the caller read. Pass the locked resource. */
export const assertCurrent = ({ ifMatch }: Change, resource: object): void => {
  if (ifMatch !== undefined) assertMatch(ifMatch, formatEtag(digestDocument(JSON.stringify(resource))));
};

/** The result of a change; `replayed` if an earlier request with the same key made the change. */
export type ChangeOutcome<T> = { readonly value: T; readonly replayed: boolean };

/**
 * Runs a change in its project once: its effect and its record are committed together or not at all. `prepare` locks
 * and reads, while it is not yet known whether the change is a replay, and returns the effect.
 */
export type RunOnce = <T>(
  change: Change,
  schema: z.ZodMiniType<T>,
  prepare: (tx: Tx) => Promise<() => Promise<T>>,
) => Promise<ChangeOutcome<T>>;

/**
 * Hashes the identity of a request: its operation, its decoded path, and its body before defaults (control API,
 * Idempotency).
 */
export function hashRequest(
  operation: OperationName,
  params: Readonly<Record<string, string>>,
  body: JsonValue,
): Digest {
  const path = operationRow(operation).path.replaceAll(
    /\{([A-Za-z]+)\}/g,
    (_, name: string) => params[name] ?? '',
  );
  return digestOf(canonicalBytes({ operation, path, body }));
}

const REPLAYED_MS = 24 * 60 * 60 * 1000;

function parseEarlierAnswer({ requestHash, response }: IdempotencyRow, change: Change): unknown {
  if (requestHash === change.requestHash) return JSON.parse(response);
  throw new Refusal('control.IDEMPOTENCY_KEY_REUSED', 'the key was used for another request');
}

/**
 * Idempotency over a store (control API, Idempotency). A replay answers any token that may make the change: what its row
 * and project do not check is checked before. The claim on the key, the effect and the answer are committed
 * together: a request with the same key waits for the transaction, and finds its answer, or nothing if it failed.
 */
export function createRunOnce(store: Store, now: () => number): RunOnce {
  return async (change, schema, prepare) => {
    const { principal, projectId, operation, key, requestHash } = change;
    const { organizationId } = principal;
    await assertProject(store, principal, projectId);
    const createdAtMs = now();
    const scope = { organizationId, projectId, operation, idempotencyKey: key };
    const expiresAtMs = createdAtMs + REPLAYED_MS;
    const claim: IdempotencyRow = { ...scope, requestHash, response: '', createdAtMs, expiresAtMs };
    return store.transaction(async (tx) => {
      const [claimed, prepared] = [tx.idempotency.claim(claim), prepare(tx)];
      await Promise.allSettled([claimed, prepared]);
      const stored = await claimed;
      if (stored !== undefined)
        return { value: schema.parse(parseEarlierAnswer(stored, change)), replayed: true };
      // The schema orders the members, so that the first answer and its replays are the same bytes.
      const value = schema.parse(await (await prepared)());
      await tx.idempotency.complete({
        ...claim,
        response: JSON.stringify(value),
        expiresAtMs: now() + REPLAYED_MS,
      });
      return { value, replayed: false };
    });
  };
}

type At<N extends OperationName> = { readonly params: Params<N>; readonly query: Query<N> };

type Read<N extends OperationName> = (
  call: At<N> & { readonly principal: Principal },
) => Promise<N extends JsonOperationName ? Result<N> : StoredFile>;

/** A change that was authenticated, validated and permitted; its outcome records whether it was replayed. */
type Write<N extends OperationName> = (
  call: At<N> & { readonly change: Change; readonly body: Body<N> },
) => Promise<ChangeOutcome<Result<N>>>;

/** An upload to a signed address, which the handler checks itself because the request has no token. */
type Upload<N extends OperationName> = (call: At<N> & { readonly content: Content }) => Promise<Result<N>>;

export type Handlers = {
  readonly [N in OperationName]: N extends UploadOperationName
    ? Upload<N>
    : Body<N> extends undefined
      ? Read<N>
      : Write<N>;
};

type PageQuery = { readonly cursor?: string | undefined; readonly limit: number };

/** Creates a reader of pages of `limit` rows. It reads one more row to see whether another page follows. */
export const createPager =
  (cursors: () => Promise<Cursors>) =>
  async <R extends { readonly ordinal: number }>(
    scope: CursorScope,
    { cursor, limit }: PageQuery,
    read: (after: number, limit: number) => Promise<readonly R[]>,
  ): Promise<{ readonly rows: readonly R[]; readonly next: { readonly nextCursor?: string } }> => {
    const codec = await cursors();
    const rows = await read(codec.decode(scope, cursor), limit + 1);
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return { rows: shown, next: defined({ nextCursor: last && codec.encode(scope, last.ordinal) }) };
  };
