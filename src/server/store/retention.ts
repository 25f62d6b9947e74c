import * as z from 'zod/mini';
import { readValue, writeValue } from './meta.ts';
import { column, type Dialect, queryRows, type Sql, type SqlRow, type SqlValue } from './table.ts';

/** The shortest age of a rule. A replay of a request gets its operation for a day, and must find it. */
export const MIN_RETENTION_DAYS = 2;
const days = z.optional(z.int().check(z.gte(MIN_RETENTION_DAYS), z.lte(36_500)));

/** For each kind of rows the days from their end after which they are removed. Without a rule they stay. */
export const retentionRulesSchema = z.object({
  operations: days,
  authoring: days,
  runs: days,
  sessions: days,
  buildAttempts: days,
  tokens: days,
});
export type RetentionRules = z.infer<typeof retentionRulesSchema>;
export const retentionKinds = z.keyof(retentionRulesSchema).options;

/** Ended rows of a table, as SQL in which `t` is the row. */
type Target = {
  /** The rule of an operator, or days that are always the same. */
  readonly rule: keyof RetentionRules | number;
  readonly table: string;
  readonly key: readonly string[];
  /** The time of its end, as in its index; NULL while it lasts. */
  readonly ended: string;
  readonly when?: string;
  /** The rows of its project that it holds: a table, and their id. */
  readonly holds?: Readonly<Record<string, string>>;
  /** What else holds it: text after FROM, in which `?` is the time until which rows ended. */
  readonly heldBy?: readonly string[];
};

const member = (name: string): string => `(t.resource ->> '${name}')`;

/** @param names the table and the columns of its key */
function selectFrom(rule: Target['rule'], names: string, ended: string, more: Partial<Target> = {}): Target {
  const [table = '', ...key] = names.split(' ');
  return { rule, table, key, ended, ...more };
}

/**
 * What is removed, in an order in which a row comes before what it holds. Operations, keys and tokens are records about
 * resources and hold none. `|| ''` lets SQLite use the index on a member.
 */
const TARGETS = {
  runs: selectFrom('runs', 'hosted_runs project_id hosted_run_id', member('updatedAtMs'), {
    when: "t.state IN ('succeeded', 'failed', 'cancelled', 'expired')",
    holds: { hosted_runs: member('rerunOfHostedRunId'), sessions: 't.session_id' },
    heldBy: [
      `bundles b WHERE b.project_id = t.project_id AND b.deleted_at_ms IS NULL
        AND (b.resource ->> 'hostedRunId') = t.hosted_run_id || ''`,
    ],
  }),
  sessions: selectFrom('sessions', 'sessions project_id session_id', member('updatedAtMs'), {
    when: "t.state IN ('expired', 'destroyed')",
    holds: { sessions: member('parentSessionId') },
  }),
  // The turns of a conversation stay together: a runner gets all of them, and clients list them.
  turns: selectFrom('authoring', 'authoring_turns project_id authoring_turn_id', member('finishedAtMs'), {
    holds: { authoring_sessions: 't.authoring_session_id', operations: member('operationId') },
    heldBy: [
      `authoring_sessions s WHERE s.project_id = t.project_id
          AND s.authoring_session_id = t.authoring_session_id AND coalesce((s.resource ->> 'closedAtMs') > ?, true)`,
    ],
  }),
  authoring: selectFrom(
    'authoring',
    'authoring_sessions project_id authoring_session_id',
    member('closedAtMs'),
  ),
  buildAttempts: selectFrom(
    'buildAttempts',
    'build_attempts project_id build_attempt_id',
    't.updated_at_ms',
    {
      when: "t.state IN ('succeeded', 'failed', 'cancelled')",
    },
  ),
  operations: selectFrom('operations', 'operations operation_id', member('finishedAtMs'), {
    heldBy: [
      'jobs j WHERE j.operation_id = t.operation_id',
      `exports e WHERE e.organization_id = t.organization_id
        AND e.evidence_export_id = (t.resource ->> 'resourceId')`,
    ],
  }),
  tokens: selectFrom('tokens', 'tokens token_id', 'coalesce(t.revoked_at_ms, t.expires_at_ms)'),
  keys: selectFrom(0, 'idempotency organization_id project_id operation idempotency_key', 't.expires_at_ms'),
  // A worker that was not seen for a day, and a rate that has long been full again.
  workers: selectFrom(1, 'workers worker', 't.seen_at_ms'),
  rates: selectFrom(1, 'rates bucket', 't.at_ms'),
};
export type RetentionTarget = keyof typeof TARGETS;
export const retentionTargets: Readonly<Record<RetentionTarget, Target>> = TARGETS;

/** An ended row: its time and key, and how many rows hold it. */
type EndedRow = { readonly at: readonly SqlValue[]; readonly held: number };
/** `after` is `at` of the last row of the page before; absent for the first. */
export type EndedPage = {
  readonly beforeMs: number;
  readonly after?: EndedRow['at'] | undefined;
  readonly limit: number;
};

function countHolders({ table, key, heldBy = [] }: Target): string {
  const holders = Object.values(retentionTargets).flatMap(({ table: from, holds = {} }) => {
    const id = holds[table]?.replaceAll(/\bt\./g, 'o.');
    if (id === undefined) return [];
    return [`${from} o WHERE o.project_id = t.project_id AND ${id} = t.${key.at(-1)} || ''`];
  });
  return ['0', ...[...holders, ...heldBy].map((from) => `(SELECT count(*) FROM ${from})`)].join(' + ');
}

function selectEnded(target: Target): string {
  const { table, key, ended, when = 'true' } = target;
  const order = [ended, ...key.map((name) => `t.${name}`)];
  return `SELECT ${ended} AS ended_at_ms, ${key.join(', ')}, ${countHolders(target)} AS held FROM ${table} t
    WHERE ${when} AND ${ended} <= ? AND (${order.join(', ')}) < (${order.map(() => '?').join(', ')})
    ORDER BY ${order.map((part) => `${part} DESC`).join(', ')} LIMIT ?`;
}

const readEnded =
  ({ key }: Target) =>
  (row: SqlRow): EndedRow => ({
    at: [column.integer.read(row, 'ended_at_ms'), ...key.map((part) => column.text.read(row, part))],
    held: column.integer.read(row, 'held'),
  });

const bindUndue = ({ heldBy = [] }: Target, beforeMs: number) =>
  heldBy.filter((from) => from.includes('?')).map(() => beforeMs);

const rules = column.json<RetentionRules>(retentionRulesSchema);

export const createRetentionReads = (sql: Sql) => ({
  retention: {
    rules: async (): Promise<RetentionRules> =>
      rules.read({ value: (await readValue(sql, 'retention')) ?? '{}' }, 'value'),
  },
});

export const createRetentionWrites = (sql: Sql, { skipLocked, reclaim }: Dialect) => ({
  retention: {
    reclaim: async () => reclaim?.(sql) ?? false,
    setRules: (value: RetentionRules) => writeValue(sql, 'retention', JSON.stringify(value)),
    /**
     * Locks rows that ended at `beforeMs` or earlier, the latest first, held or not. One that another transaction has
     * locked is omitted.
     */
    list: (name: RetentionTarget, page: EndedPage): Promise<EndedRow[]> => {
      const target = retentionTargets[name];
      const { beforeMs, limit, after = [beforeMs + 1, ...target.key.map(() => '')] } = page;
      // SQLite seeks in the index by the first of them, and compares the others.
      const values = [...bindUndue(target, beforeMs), ...after.slice(0, 1), ...after, limit];
      return queryRows(sql, readEnded(target), selectEnded(target) + skipLocked, values);
    },
    /** Removes a locked row unless another row holds it now; returns whether it did. */
    remove: async (name: RetentionTarget, { at: [, ...key] }: EndedRow, beforeMs: number) => {
      const target = retentionTargets[name];
      const where = target.key.map((part) => `t.${part} = ?`).join(' AND ');
      const statement = `DELETE FROM ${target.table} AS t WHERE ${where} AND ${countHolders(target)} = 0`;
      return (await sql.run(statement, ...key, ...bindUndue(target, beforeMs))) === 1;
    },
  },
});
