import * as z from 'zod/mini';
import { typeDocument } from '../../evidence/document.ts';
import type { ServerContext } from '../model/context.ts';
import {
  type EndedPage,
  type EndedRow,
  type RetentionRules,
  retentionRulesSchema,
  retentionTargets,
  type RetentionTarget,
} from '../store/retention.ts';
import { waitFor } from './handler.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const SLICE = 50;

/** The number of removed rows of each kind. */
export type Pruned = Readonly<Record<RetentionTarget, number>>;

type Options = {
  readonly signal?: AbortSignal;
  /** Counts what would be removed, and removes nothing. */
  readonly dryRun?: boolean;
  /** Rows that one transaction looks at. */
  readonly slice?: number;
};

/** Remembers rows as removed, so that a dry run sees what they hold as free. */
function createTrial(): (row: EndedRow) => boolean {
  const removed = new Set<string>();
  const released = new Map<string, number>();
  return ({ name, held, holds }) => {
    if (removed.has(name) || held > (released.get(name) ?? 0)) return false;
    removed.add(name);
    for (const each of holds) released.set(each, (released.get(each) ?? 0) + 1);
    return true;
  };
}

/**
 * Removes ended rows by the rules of the store, and returns unused bytes of its file. It works in short transactions with
 * equally long pauses, so that servers keep answering, and may be interrupted at any time.
 * @returns the number of rows; a row that others hold stays, and is looked at again next time
 */
export async function prune(
  { store, now }: Pick<ServerContext, 'store' | 'now'>,
  { signal = new AbortController().signal, dryRun = false, slice = SLICE }: Options = {},
): Promise<Pruned> {
  const tryRemove = createTrial();
  const rules = await store.retention.rules();

  const look = async (kind: RetentionTarget, page: EndedPage) => {
    if (dryRun) {
      const rows = await store.retention.list(kind, page);
      return { last: rows.at(-1)?.at, removed: rows.filter(tryRemove).length };
    }
    return store.transaction(async ({ retention }) => {
      const rows = await retention.list(kind, page);
      const free = rows.filter(({ held }) => held === 0);
      const removed = await Promise.all(free.map((row) => retention.remove(kind, row, page.beforeMs)));
      return { last: rows.at(-1)?.at, removed: removed.filter(Boolean).length };
    });
  };
  const pause = async <T>(work: () => Promise<T>): Promise<T> => {
    const begunMs = performance.now();
    const result = await work();
    if (!dryRun) await waitFor(performance.now() - begunMs, signal);
    return result;
  };
  const pruneKind = async (kind: RetentionTarget): Promise<number> => {
    const { rule } = retentionTargets[kind];
    const days = typeof rule === 'number' ? rule : rules[rule];
    if (days === undefined) return 0;
    const beforeMs = now() - days * DAY_MS;
    let [total, before] = [0, 0];
    for (let after: EndedPage['after']; !signal.aborted;) {
      const { last, removed } = await pause(() => look(kind, { beforeMs, after, limit: slice }));
      total += removed;
      after = last;
      if (after !== undefined) continue;
      if (total === before) break;
      before = total; // what this pass removed may have held rows that it had already looked at
    }
    return total;
  };

  const pruned: Record<string, number> = {};
  for (const kind of Object.keys(retentionTargets) as RetentionTarget[]) pruned[kind] = await pruneKind(kind);
  const reclaim = () => store.transaction(({ retention }) => retention.reclaim());
  if (!dryRun) while (!signal.aborted && (await pause(reclaim)));
  return pruned as Pruned;
}

export const countPruned = (pruned: Pruned): number =>
  Object.values(pruned).reduce((total, rows) => total + rows, 0);

/**
 * Sets the rules of the retention: for each kind of rows the days from their end after which they are removed. Rows of a kind
 * without a rule stay.
 * @throws DrillproofError `server.ADMIN_REFUSED` for an unknown kind, or days that are not 2 to 36,500
 */
export async function setRetention(
  { store }: Pick<ServerContext, 'store'>,
  rules: RetentionRules,
): Promise<RetentionRules> {
  const schema = z.strictObject(retentionRulesSchema.shape);
  const valid = typeDocument(rules, { schema, code: 'server.ADMIN_REFUSED' });
  await store.transaction((tx) => tx.retention.setRules(valid));
  return valid;
}
