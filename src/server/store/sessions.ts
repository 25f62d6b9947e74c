import { type WorldSession, worldSessionSchema } from '../../contract/index.ts';
import type { Dialect, Sql } from './sql.ts';
import {
  findRow,
  inProject,
  type InProject,
  insertRow,
  integer,
  json,
  optional,
  table,
  text,
  updateRow,
} from './table.ts';

/** An environment: which build its worlds are made from. The API has no resource for it. */
export type EnvironmentRow = InProject & {
  readonly environmentId: string;
  readonly name: string;
  readonly buildHash?: string;
  /** Rises by one whenever the build changes. */
  readonly version: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

export type SessionRow = InProject & { readonly sessionId: string; readonly resource: WorldSession };

const environments = table<EnvironmentRow>({
  name: 'environments',
  key: ['projectId', 'environmentId'],
  columns: {
    ...inProject,
    environmentId: text,
    name: text,
    buildHash: optional(text),
    version: integer,
    createdAtMs: integer,
    updatedAtMs: integer,
  },
});

const sessions = table<SessionRow>({
  name: 'sessions',
  key: ['projectId', 'sessionId'],
  columns: { ...inProject, sessionId: text, resource: json(worldSessionSchema) },
  derived: ({ resource }) => ({
    environment_id: resource.environmentId,
    state: resource.state,
    expires_at_ms: resource.expiresAtMs,
  }),
});

export const sessionReads = (sql: Sql) => ({
  environment: (projectId: string, environmentId: string) =>
    findRow(sql, environments, { projectId, environmentId }),
  session: (projectId: string, sessionId: string) => findRow(sql, sessions, { projectId, sessionId }),
});

export const sessionWrites = (sql: Sql, { forUpdate }: Dialect) => ({
  environmentForUpdate: (projectId: string, environmentId: string) =>
    findRow(sql, environments, { projectId, environmentId }, forUpdate),
  insertEnvironment: (row: EnvironmentRow) => insertRow(sql, environments, row),
  updateEnvironment: (row: EnvironmentRow) => updateRow(sql, environments, row),
  sessionForUpdate: (projectId: string, sessionId: string) =>
    findRow(sql, sessions, { projectId, sessionId }, forUpdate),
  insertSession: (row: SessionRow) => insertRow(sql, sessions, row),
  updateSession: (row: SessionRow) => updateRow(sql, sessions, row),
});
