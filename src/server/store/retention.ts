import * as z from 'zod/mini';
import { column, type Dialect, queryRows, type Sql, type SqlRow, type SqlValue } from './table.ts';
import { readValue, writeValue } from './meta.ts';

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
export const retentionRules = z.keyof(retentionRulesSchema).options;

/** Rows of a table, which alias `t` selects. */
type Target = {
  readonly table: string;
  /** The rule of an operator, or days that are always the same. */
  readonly rule: keyof RetentionRules | number;
  readonly key: readonly string[];
  /** When the row ended, as in its index; NULL while it lasts. */
  readonly ended: string;
  readonly when?: string;
  /** The rows that refer to it, as text after FROM. A `?` is the time before which rows end. */
  readonly heldBy?: readonly string[];
  /** The rows of other targets that it holds: a table and a key. */
  readonly holds?: readonly (readonly [table: string, ...key: string[]])[];
};

const hasOperation = (rest: string): string => `${rest} = (t.resource ->> 'resourceId')`;
const ofProject = (rest: string): string => `o.project_id = t.project_id AND ${rest}`;

/**
 * What is removed, in an order in which a row comes before what it holds. Operations, keys and tokens are records about
 * resources and hold none.
 */
export const retentionTargets = {
  runs: {
    table: 'hosted_runs',
    rule: 'runs',
    key: ['project_id', 'hosted_run_id'],
    ended: "(t.resource ->> 'updatedAtMs')",
    when: "t.state IN ('succeeded', 'failed', 'cancelled', 'expired')",
    heldBy: [
      `bundles o WHERE ${ofProject("(o.resource ->> 'hostedRunId') = t.hosted_run_id AND o.deleted_at_ms IS NULL")}`,
      `hosted_runs o WHERE ${ofProject("(o.resource ->> 'rerunOfHostedRunId') = t.hosted_run_id")}`,
    ],
    holds: [
      ['hosted_runs', 't.project_id', "(t.resource ->> 'rerunOfHostedRunId')"],
      ['sessions', 't.project_id', 't.session_id'],
    ],
  },
  sessions: {
    table: 'sessions',
    rule: 'sessions',
    key: ['project_id', 'session_id'],
    ended: "(t.resource ->> 'updatedAtMs')",
    when: "t.state IN ('expired', 'destroyed')",
    heldBy: [
      `hosted_runs o WHERE ${ofProject('o.session_id = t.session_id')}`,
      `sessions o WHERE ${ofProject("(o.resource ->> 'parentSessionId') = t.session_id")}`,
    ],
    holds: [['sessions', 't.project_id', "(t.resource ->> 'parentSessionId')"]],
  },
  authoringTurns: {
    table: 'authoring_turns',
    rule: 'authoring',
    key: ['project_id', 'authoring_turn_id'],
    ended: "(t.resource ->> 'finishedAtMs')",
    // The turns of a conversation stay together: a runner gets all of them, and clients list them.
    heldBy: [
      `authoring_sessions o WHERE ${ofProject('o.authoring_session_id = t.authoring_session_id')}
        AND coalesce((o.resource ->> 'closedAtMs') > ?, true)`,
    ],
    holds: [
      ['authoring_sessions', 't.project_id', 't.authoring_session_id'],
      ['operations', "(t.resource ->> 'operationId')"],
    ],
  },
  authoringSessions: {
    table: 'authoring_sessions',
    rule: 'authoring',
    key: ['project_id', 'authoring_session_id'],
    ended: "(t.resource ->> 'closedAtMs')",
    heldBy: [`authoring_turns o WHERE ${ofProject('o.authoring_session_id = t.authoring_session_id')}`],
  },
  buildAttempts: {
    table: 'build_attempts',
    rule: 'buildAttempts',
    key: ['project_id', 'build_attempt_id'],
    ended: 't.updated_at_ms',
    when: "t.state IN ('succeeded', 'failed', 'cancelled')",
  },
  operations: {
    table: 'operations',
    rule: 'operations',
    key: ['operation_id'],
    ended: "(t.resource ->> 'finishedAtMs')",
    heldBy: [
      'jobs o WHERE o.operation_id = t.operation_id',
      `authoring_turns o WHERE ${ofProject(hasOperation('o.authoring_turn_id'))}`,
      `exports o WHERE o.organization_id = t.organization_id AND ${hasOperation('o.evidence_export_id')}`,
    ],
  },
  tokens: {
    table: 'tokens',
    rule: 'tokens',
    key: ['token_id'],
    ended: 'coalesce(t.revoked_at_ms, t.expires_at_ms)',
  },
  idempotencyKeys: {
    table: 'idempotency',
    rule: 0,
    key: ['organization_id', 'project_id', 'operation', 'idempotency_key'],
    ended: 't.expires_at_ms',
  },
  // A worker that was not seen for a day, and a bucket that has long been full again.
  workers: { table: 'workers', rule: 1, key: ['worker'], ended: 't.seen_at_ms' },
  rates: { table: 'rates', rule: 1, key: ['bucket'], ended: 't.at_ms' },
} as const satisfies Readonly<Record<string, Target>>;
export type RetentionTarget = keyof typeof retentionTargets;

const targets: Readonly<Record<RetentionTarget, Target>> = retentionTargets;

/** An ended row: its name, how many rows hold it, and the names of the rows that it holds. */
export type EndedRow = {
  readonly name: string;
  /** Its time and key. The next page begins after it. */
  readonly at: readonly SqlValue[];
  readonly held: number;
  readonly holds: readonly string[];
};
export type EndedPage = {
  readonly beforeMs: number;
  /** `at` of the last row of the page before; absent for the first page. */
  readonly after?: readonly SqlValue[] | undefined;
  readonly limit: number;
};

const countHeld = ({ heldBy = [] }: Target): string =>
  ['0', ...heldBy.map((from) => `(SELECT count(*) FROM ${from})`)].join(' + ');
const bindHeld = ({ heldBy = [] }: Target, beforeMs: number): number[] =>
  heldBy.filter((from) => from.includes('?')).map(() => beforeMs);
const nameOf = (table: string, key: readonly string[]): string => [`'${table}'`, ...key].join(" || ' ' || ");

function selectEnded(target: Target): string {
  const { table, key, ended, when = 'true', holds = [] } = target;
  const keys = key.map((name) => `t.${name}`);
  const order = [ended, ...keys];
  const names = holds.map(([to, ...parts], n) => `${nameOf(to, parts)} AS hold_${n}`);
  return `SELECT ${[`${ended} AS ended_at_ms`, ...keys, `${countHeld(target)} AS held`, ...names].join(', ')}
    FROM ${table} t
    WHERE ${when} AND ${ended} <= ? AND (${order.join(', ')}) < (${order.map(() => '?').join(', ')})
    ORDER BY ${order.map((part) => `${part} DESC`).join(', ')} LIMIT ?`;
}

const list = (sql: Sql, name: RetentionTarget, page: EndedPage, lock = ''): Promise<EndedRow[]> => {
  const target = targets[name];
  const { table, key, holds = [] } = target;
  const { beforeMs, limit, after = [beforeMs + 1, ...key.map(() => '')] } = page;
  const toRow = (row: SqlRow): EndedRow => {
    const parts = key.map((part) => column.text.read(row, part));
    return {
      name: [table, ...parts].join(' '),
      at: [column.integer.read(row, 'ended_at_ms'), ...parts],
      held: column.integer.read(row, 'held'),
      holds: holds.flatMap((_, n) => column.optional(column.text).read(row, `hold_${n}`) ?? []),
    };
  };
  const values = [...bindHeld(target, beforeMs), beforeMs, ...after, limit];
  return queryRows(sql, toRow, selectEnded(target) + lock, values);
};

const rules = column.json<RetentionRules>(retentionRulesSchema);

export const createRetentionReads = (sql: Sql) => ({
  retention: {
    rules: async (): Promise<RetentionRules> => {
      const value = await readValue(sql, 'retention');
      return value === undefined ? {} : rules.read({ value }, 'value');
    },
    /** Rows that ended at `beforeMs` or earlier, the latest first, held or not. */
    list: (name: RetentionTarget, page: EndedPage) => list(sql, name, page),
  },
});

export const createRetentionWrites = (sql: Sql, { skipLocked }: Dialect) => ({
  retention: {
    setRules: (value: RetentionRules) => writeValue(sql, 'retention', JSON.stringify(value)),
    /** The same, and locks the rows. One that another transaction has locked is omitted. */
    list: (name: RetentionTarget, page: EndedPage) => list(sql, name, page, skipLocked),
    /** Removes a locked row unless another row holds it now; returns whether it did. */
    remove: async (name: RetentionTarget, { at: [, ...key] }: EndedRow, beforeMs: number) => {
      const target = targets[name];
      const where = target.key.map((part) => `t.${part} = ?`).join(' AND ');
      const statement = `DELETE FROM ${target.table} AS t WHERE ${where} AND ${countHeld(target)} = 0`;
      return (await sql.run(statement, ...key, ...bindHeld(target, beforeMs))) === 1;
    },
  },
});
