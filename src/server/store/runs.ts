import { type HostedRun, hostedRunSchema, terminalRunStates } from '../../contract/index.ts';
import type { Dialect, Sql } from './sql.ts';
import {
  findRow,
  inProject,
  type InProject,
  insertRow,
  json,
  listRows,
  table,
  text,
  updateRow,
} from './table.ts';

export type HostedRunRow = InProject & { readonly hostedRunId: string; readonly resource: HostedRun };

const runs = table<HostedRunRow>({
  name: 'hosted_runs',
  key: ['projectId', 'hostedRunId'],
  columns: { ...inProject, hostedRunId: text, resource: json(hostedRunSchema) },
  derived: ({ resource }) => ({ session_id: resource.sessionId, state: resource.state }),
});

const UNFINISHED = `SELECT * FROM hosted_runs WHERE project_id = ? AND session_id = ?
  AND state NOT IN (${terminalRunStates.map(() => '?').join(', ')}) ORDER BY hosted_run_id`;

export const runReads = (sql: Sql) => ({
  hostedRun: (projectId: string, hostedRunId: string) => findRow(sql, runs, { projectId, hostedRunId }),
});

export const runWrites = (sql: Sql, { forUpdate }: Dialect) => ({
  hostedRunForUpdate: (projectId: string, hostedRunId: string) =>
    findRow(sql, runs, { projectId, hostedRunId }, forUpdate),
  /** The runs of a session that have not ended, locked. */
  unfinishedRunsForUpdate: (projectId: string, sessionId: string) =>
    listRows(sql, runs, UNFINISHED + forUpdate, projectId, sessionId, ...terminalRunStates),
  insertHostedRun: (row: HostedRunRow) => insertRow(sql, runs, row),
  updateHostedRun: (row: HostedRunRow) => updateRow(sql, runs, row),
});
