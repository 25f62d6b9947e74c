import { nextTick } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import type { Sql } from './table.ts';

const MAX_REMEMBERED = 2_000;

/** The version of the tables of tenants, which change seldom, and of all tables. `undefined` differs from every version. */
export type Versions = { readonly tenants?: unknown; readonly all?: unknown };

const TENANTS: ReadonlySet<string> = new Set(['organizations', 'projects', 'tokens']);

/**
 * Remembers what was read from each table while its version stays the same. The versions are read once for all requests
 * that have arrived, and are valid for what these read without a pause.
 */
export function createMemory(readVersions: () => Versions | Promise<Versions>): {
  readonly remember: NonNullable<Sql['remember']>;
  readonly forget: (table: string) => void;
} {
  const tables = new Map<string, Map<string, Promise<unknown>>>();
  let current: Versions = {};
  let isCurrent = false;
  let checking: Promise<void> | undefined;
  let reading: Promise<unknown> | undefined;
  const readNext = async (): Promise<Versions> => {
    try {
      return await readVersions();
    } finally {
      reading = undefined;
    }
  };
  const check = async (): Promise<void> => {
    // Requests that arrive at the same time, while an earlier version is read, or right after it wait for the same version.
    await reading?.catch(() => undefined);
    await setImmediate();
    checking = undefined;
    const seen = await (reading = readNext());
    for (const table of tables.keys()) {
      const which = TENANTS.has(table) ? 'tenants' : 'all';
      if (seen[which] === undefined || seen[which] !== current[which]) tables.delete(table);
    }
    current = seen;
    isCurrent = true;
    // The tick of a microtask comes after all microtasks, and before anything else can arrive.
    queueMicrotask(() => nextTick(() => void (isCurrent = false)));
  };
  const resultsOf = (table: string): Map<string, Promise<unknown>> => {
    const results = tables.get(table) ?? new Map<string, Promise<unknown>>();
    tables.set(table, results);
    if (results.size >= MAX_REMEMBERED) results.clear();
    return results;
  };
  const recall = <T>(table: string, key: string, read: () => Promise<T>): Promise<T> => {
    const results = resultsOf(table);
    const earlier = results.get(key);
    if (earlier !== undefined) return earlier as Promise<T>;
    const result = read(); // it reads this version of the data, or a later one
    results.set(key, result);
    result.catch(() => results.delete(key));
    return result;
  };
  return {
    remember: (table, key, read) =>
      isCurrent ? recall(table, key, read) : (checking ??= check()).then(() => recall(table, key, read)),
    forget: (table) => void tables.delete(table),
  };
}
