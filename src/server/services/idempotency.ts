import { randomUUID } from 'node:crypto';
import type * as z from 'zod';
import { digestOf, type Digest } from '../../bytes/hash.ts';
import { canonicalBytes } from '../../bytes/json/canonical.ts';
import type { JsonValue } from '../../bytes/json/parse.ts';
import { operationRow, type OperationName } from '../../contract/index.ts';
import { ControlError } from '../control-error.ts';
import type { Principal } from '../http/tokens.ts';
import type { ServerLimits } from '../limits.ts';
import type { IdempotencyRow, Reads, Store, Writes } from '../store/store.ts';
import { assertProject } from './access.ts';

/** A request that changes something: whose it is, and what makes it the same request when it comes again. */
export type Change = {
  readonly principal: Principal;
  readonly projectId: string;
  readonly operation: OperationName;
  readonly key: string;
  readonly requestHash: Digest;
};

/** What a change came to; `replayed` when that was an earlier request with the same key. */
export type Outcome<T> = { readonly value: T; readonly replayed: boolean };

/** Runs a change in its project once: its effect and its record are committed together or not at all. */
export type RunOnce = <T>(
  change: Change,
  schema: z.ZodType<T>,
  effect: (tx: Reads & Writes) => Promise<T>,
) => Promise<Outcome<T>>;

/**
 * The hash by which a request is recognized: of its operation, its decoded path and its body as sent, before defaults
 * (control API, Idempotency).
 */
export function requestHashOf(
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

const RETRY_AFTER_MS = 1_000;

const inUse = (leaseMs: number): ControlError =>
  new ControlError('control.IDEMPOTENCY_KEY_IN_USE', 'a request with this key is in progress', {
    retryAfterMs: Math.max(1, Math.min(RETRY_AFTER_MS, leaseMs)),
  });

const reused = (): ControlError =>
  new ControlError('control.IDEMPOTENCY_KEY_REUSED', 'the key was used for another request');

/** The claim that a request makes of its key, for as long as it may take. */
function claimOf(change: Change, nowMs: number, limits: ServerLimits): IdempotencyRow {
  const { principal, projectId, operation, key, requestHash } = change;
  return {
    organizationId: principal.organizationId,
    projectId,
    principalId: principal.tokenId,
    operation,
    idempotencyKey: key,
    requestHash,
    status: 'in_progress',
    holder: randomUUID(),
    leaseUntilMs: nowMs + limits.idempotencyLeaseMs,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + limits.idempotencyMs,
  };
}

/**
 * Idempotency over a store (control API, Idempotency). A request claims its key in a transaction of its own, so that
 * others with the key are told to wait; then its effect and its answer are committed as one. A claim whose holder died
 * is free again when its lease ends, and a request that is rejected gives its claim back.
 */
export function createRunOnce(store: Store, now: () => number, limits: ServerLimits): RunOnce {
  const execute = <T>(claim: IdempotencyRow, effect: (tx: Reads & Writes) => Promise<T>): Promise<T> =>
    store.transaction(async (tx) => {
      const value = await effect(tx);
      const answer = { response: JSON.stringify(value), expiresAtMs: now() + limits.idempotencyMs };
      // The lease ended meanwhile and somebody else took the key: the effect is theirs to have.
      if (!(await tx.completeIdempotency(claim, claim.holder, answer))) throw inUse(RETRY_AFTER_MS);
      return value;
    });

  return async (change, schema, effect) => {
    await assertProject(store, change.principal, change.projectId);
    const nowMs = now();
    const claim = claimOf(change, nowMs, limits);
    const standing = await store.transaction((tx) => tx.claimIdempotency(claim));
    if (standing.holder !== claim.holder) {
      if (standing.requestHash !== change.requestHash) throw reused();
      if (standing.response === undefined) throw inUse(standing.leaseUntilMs - nowMs);
      return { value: schema.parse(JSON.parse(standing.response)), replayed: true };
    }
    try {
      return { value: await execute(claim, effect), replayed: false };
    } catch (error) {
      // Should this fail too, the lease ends by itself.
      await store.transaction((tx) => tx.releaseIdempotency(claim, claim.holder)).catch(() => undefined);
      throw error;
    }
  };
}
