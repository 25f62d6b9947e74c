import * as z from 'zod/mini';
import { typeDocument } from '../../evidence/document.ts';
import type { ServerContext } from '../model/context.ts';
import {
  type EndedPage,
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
  /** Counts the rows that nothing holds now, and removes nothing. */
  readonly dryRun?: boolean;
  /** Rows that one transaction looks at. */
  readonly slice?: number;
};

/**
 * Removes ended rows by the rules of the store, and returns unused bytes of its file. It works in short transactions with
 * equally long pauses, so that servers keep answering, and may be interrupted at any time.
 * @returns the number of rows; a row that others hold stays, and is looked at again next time
 */
export async function prune(
  { store, now }: Pick<ServerContext, 'store' | 'now'>,
  { signal = new AbortController().signal, dryRun = false, slice = SLICE }: Options = {},
): Promise<Pruned> {
  const rules = await store.retention.rules();

  const look = (kind: RetentionTarget, page: EndedPage) =>
    store.transaction(async ({ retention }) => {
      const rows = await retention.list(kind, page);
      const free = rows.filter(({ held }) => held === 0);
      const removing = dryRun ? [] : free.map((row) => retention.remove(kind, row, page.beforeMs));
      const kept = (await Promise.all(removing)).filter((isRemoved) => !isRemoved);
      return { last: rows.at(-1)?.at, removed: free.length - kept.length };
    });
  const pause = async <T>(work: () => Promise<T>): Promise<T> => {
    const begunMs = performance.now();
    const result = await work();
    await waitFor(performance.now() - begunMs, signal);
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
      if (dryRun || total === before) break;
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
