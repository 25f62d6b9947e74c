/**
 * The schema as numbered steps, each run once, in order, in its own transaction; `schema_version` in `meta` is the
 * number of the last one. A step that was released is never edited; a change is a new step. A step only adds what
 * older programs can ignore, because they continue to serve while an update rolls.
 *
 * Rows of a project are keyed by it, so that ids of two tenants never collide. Resources are stored as the JSON that is
 * served, next to the columns that queries need; the tables have row ids, because without them SQLite moves all but a part
 * of a row of over 1,002 bytes to a page of its own.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE organizations (
    organization_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    max_session_ttl_ms INTEGER
  ) STRICT;

  CREATE TABLE projects (
    project_id TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations,
    name TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    UNIQUE (organization_id, project_id)
  ) STRICT;

  CREATE TABLE tokens (
    token_id TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL REFERENCES organizations,
    projects TEXT NOT NULL,
    permissions TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    revoked_at_ms INTEGER
  ) STRICT;

  CREATE TABLE bundles (
    project_id TEXT NOT NULL,
    evidence_bundle_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    archive_digest TEXT NOT NULL,
    archive_bytes INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    delete_at_ms INTEGER,
    deleted_at_ms INTEGER,
    resource TEXT NOT NULL,
    PRIMARY KEY (project_id, evidence_bundle_id),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id)
  ) STRICT;
  CREATE INDEX bundles_in_order ON bundles (organization_id, created_at_ms, evidence_bundle_id);
  CREATE INDEX bundles_to_delete ON bundles (delete_at_ms) WHERE deleted_at_ms IS NULL;
  CREATE INDEX bundles_by_blob ON bundles (archive_digest);

  CREATE TABLE builds (
    project_id TEXT NOT NULL,
    build_hash TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    archive_digest TEXT,
    archive_bytes INTEGER,
    PRIMARY KEY (project_id, build_hash),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id)
  ) STRICT;
  CREATE INDEX builds_by_blob ON builds (archive_digest);

  CREATE TABLE build_attempts (
    project_id TEXT NOT NULL,
    build_attempt_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    state TEXT NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    upload_expires_at_ms INTEGER,
    resource TEXT NOT NULL,
    PRIMARY KEY (project_id, build_attempt_id),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id)
  ) STRICT;
  CREATE INDEX build_attempts_unfinished ON build_attempts (state, updated_at_ms)
    WHERE state NOT IN ('succeeded', 'failed', 'cancelled');

  CREATE TABLE local_reports (
    project_id TEXT NOT NULL,
    local_report_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    archive_digest TEXT NOT NULL,
    archive_bytes INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (project_id, local_report_id),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id)
  ) STRICT;
  CREATE INDEX local_reports_in_order ON local_reports (organization_id, created_at_ms, local_report_id);
  CREATE INDEX local_reports_by_blob ON local_reports (archive_digest);

  CREATE TABLE exports (
    organization_id TEXT NOT NULL REFERENCES organizations,
    evidence_export_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    resource TEXT NOT NULL,
    manifest_digest TEXT,
    manifest_bytes INTEGER,
    attestation_digest TEXT,
    attestation_bytes INTEGER,
    PRIMARY KEY (organization_id, evidence_export_id),
    UNIQUE (organization_id, ordinal)
  ) STRICT;
  CREATE INDEX exports_by_manifest ON exports (manifest_digest);
  CREATE INDEX exports_by_attestation ON exports (attestation_digest);

  CREATE TABLE export_parts (
    organization_id TEXT NOT NULL,
    evidence_export_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    evidence_bundle_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    archive_digest TEXT NOT NULL,
    archive_bytes INTEGER NOT NULL,
    PRIMARY KEY (organization_id, evidence_export_id, evidence_bundle_id),
    UNIQUE (organization_id, evidence_export_id, ordinal),
    FOREIGN KEY (organization_id, evidence_export_id) REFERENCES exports,
    FOREIGN KEY (project_id, evidence_bundle_id) REFERENCES bundles
  ) STRICT;
  CREATE INDEX export_parts_by_blob ON export_parts (archive_digest);
  CREATE INDEX export_parts_by_bundle ON export_parts (project_id, evidence_bundle_id);

  CREATE TABLE export_reports (
    organization_id TEXT NOT NULL,
    evidence_export_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    local_report_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    archive_digest TEXT NOT NULL,
    archive_bytes INTEGER NOT NULL,
    item TEXT NOT NULL,
    PRIMARY KEY (organization_id, evidence_export_id, ordinal),
    UNIQUE (organization_id, evidence_export_id, local_report_id),
    FOREIGN KEY (organization_id, evidence_export_id) REFERENCES exports,
    FOREIGN KEY (project_id, local_report_id) REFERENCES local_reports
  ) STRICT;
  CREATE INDEX export_reports_by_blob ON export_reports (archive_digest);

  CREATE TABLE environments (
    project_id TEXT NOT NULL,
    environment_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    name TEXT NOT NULL,
    build_hash TEXT,
    version INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (project_id, environment_id),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id)
  ) STRICT;

  CREATE TABLE sessions (
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    environment_id TEXT NOT NULL,
    state TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    resource TEXT NOT NULL,
    PRIMARY KEY (project_id, session_id),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id),
    FOREIGN KEY (project_id, environment_id) REFERENCES environments (project_id, environment_id)
  ) STRICT;
  CREATE INDEX sessions_due ON sessions (expires_at_ms)
    WHERE state IN ('creating', 'warming', 'ready', 'resetting', 'degraded');

  CREATE TABLE hosted_runs (
    project_id TEXT NOT NULL,
    hosted_run_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    state TEXT NOT NULL,
    deadline_at_ms INTEGER NOT NULL,
    resource TEXT NOT NULL,
    PRIMARY KEY (project_id, hosted_run_id),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id),
    FOREIGN KEY (project_id, session_id) REFERENCES sessions (project_id, session_id)
  ) STRICT;
  CREATE INDEX hosted_runs_of_session ON hosted_runs (project_id, session_id);
  CREATE INDEX hosted_runs_due ON hosted_runs (deadline_at_ms) WHERE state IN ('created', 'running');

  CREATE TABLE authoring_sessions (
    project_id TEXT NOT NULL,
    authoring_session_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    resource TEXT NOT NULL,
    PRIMARY KEY (project_id, authoring_session_id),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id)
  ) STRICT;

  CREATE TABLE authoring_turns (
    project_id TEXT NOT NULL,
    authoring_turn_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    authoring_session_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    deadline_at_ms INTEGER,
    resource TEXT NOT NULL,
    PRIMARY KEY (project_id, authoring_turn_id),
    UNIQUE (project_id, authoring_session_id, sequence),
    FOREIGN KEY (project_id, authoring_session_id)
      REFERENCES authoring_sessions (project_id, authoring_session_id)
  ) STRICT;
  CREATE INDEX authoring_turns_due ON authoring_turns (deadline_at_ms) WHERE deadline_at_ms IS NOT NULL;

  CREATE TABLE operations (
    operation_id TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations,
    project_id TEXT,
    resource TEXT NOT NULL,
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id)
  ) STRICT;

  CREATE TABLE jobs (
    operation_id TEXT PRIMARY KEY REFERENCES operations,
    organization_id TEXT NOT NULL,
    project_id TEXT,
    kind TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    not_before_ms INTEGER NOT NULL,
    lease_until_ms INTEGER,
    worker TEXT
  ) STRICT;
  CREATE INDEX jobs_in_order ON jobs (not_before_ms, operation_id);
  CREATE INDEX jobs_of_resource ON jobs (resource_id);

  CREATE TABLE idempotency (
    organization_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    response TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (organization_id, project_id, operation, idempotency_key)
  ) STRICT;
  CREATE INDEX idempotency_by_expiry ON idempotency (expires_at_ms);

  CREATE TABLE blob_removals (
    digest TEXT PRIMARY KEY
  ) STRICT;

  CREATE TABLE workers (
    worker TEXT PRIMARY KEY,
    kinds TEXT NOT NULL,
    seen_at_ms INTEGER NOT NULL
  ) STRICT;

  -- Received bytes of uploads that were interrupted.
  CREATE TABLE upload_pieces (
    organization_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    build_attempt_id TEXT NOT NULL,
    first_byte INTEGER NOT NULL,
    archive_digest TEXT NOT NULL,
    archive_bytes INTEGER NOT NULL,
    PRIMARY KEY (project_id, build_attempt_id, first_byte)
  ) STRICT;
  CREATE INDEX upload_pieces_by_blob ON upload_pieces (archive_digest);

  -- Remaining rates of tokens, which several servers share; a crash may lose them.
  CREATE TABLE rates (
    bucket TEXT PRIMARY KEY,
    credit_us INTEGER NOT NULL,
    granted INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE organizations ADD COLUMN max_stored_bytes INTEGER;
  ALTER TABLE organizations ADD COLUMN max_operations INTEGER;
  ALTER TABLE organizations ADD COLUMN max_uploads INTEGER;
  ALTER TABLE tokens ADD COLUMN name TEXT;
  ALTER TABLE tokens ADD COLUMN last_used_at_ms INTEGER;
  ALTER TABLE build_attempts ADD COLUMN expected_bytes INTEGER;
  ALTER TABLE jobs ADD COLUMN traceparent TEXT;
  CREATE INDEX bundles_stored ON bundles (organization_id, archive_bytes) WHERE deleted_at_ms IS NULL;
  CREATE INDEX builds_stored ON builds (organization_id, archive_bytes);
  CREATE INDEX build_attempts_of_organization ON build_attempts (organization_id, expected_bytes)
    WHERE state NOT IN ('succeeded', 'failed', 'cancelled');
  CREATE INDEX jobs_of_organization ON jobs (organization_id);
  `,
  `
  -- What a worker must be able to do, such as "environment=env_0123456789ab".
  ALTER TABLE jobs ADD COLUMN labels TEXT;

  -- The end of the output of the program that did the last attempt.
  CREATE TABLE runner_logs (
    operation_id TEXT PRIMARY KEY REFERENCES operations ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    log TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- For the retention: rows by the time of their end, and what refers to them. Indexes on members of the resource are right
  -- for rows of older programs too.
  CREATE INDEX hosted_runs_ended ON hosted_runs ((resource ->> 'updatedAtMs'), project_id, hosted_run_id)
    WHERE state IN ('succeeded', 'failed', 'cancelled', 'expired');
  CREATE INDEX hosted_runs_of_original ON hosted_runs (project_id, (resource ->> 'rerunOfHostedRunId'));
  CREATE INDEX bundles_of_run ON bundles (project_id, (resource ->> 'hostedRunId')) WHERE deleted_at_ms IS NULL;
  CREATE INDEX sessions_ended ON sessions ((resource ->> 'updatedAtMs'), project_id, session_id)
    WHERE state IN ('expired', 'destroyed');
  CREATE INDEX sessions_of_parent ON sessions (project_id, (resource ->> 'parentSessionId'));
  CREATE INDEX authoring_sessions_ended
    ON authoring_sessions ((resource ->> 'closedAtMs'), project_id, authoring_session_id);
  CREATE INDEX authoring_turns_ended
    ON authoring_turns ((resource ->> 'finishedAtMs'), project_id, authoring_turn_id);
  CREATE INDEX authoring_turns_of_operation ON authoring_turns (project_id, (resource ->> 'operationId'));
  CREATE INDEX build_attempts_ended ON build_attempts (updated_at_ms, project_id, build_attempt_id)
    WHERE state IN ('succeeded', 'failed', 'cancelled');
  CREATE INDEX operations_ended ON operations ((resource ->> 'finishedAtMs'), operation_id);
  CREATE INDEX tokens_ended ON tokens ((coalesce(revoked_at_ms, expires_at_ms)), token_id);
  `,
];

type Words = readonly (readonly [RegExp, string])[];
const replaceWords = (words: Words, text: string): string =>
  words.reduce((replaced, [word, instead]) => replaced.replaceAll(word, instead), text);

// The differences of PostgreSQL's DDL from SQLite's. The collation "C" sorts text by its UTF-8 bytes.
const DDL_WORDS: Words = [
  [/CREATE TABLE rates/g, 'CREATE UNLOGGED TABLE rates'],
  [/\bTEXT\b/g, 'TEXT COLLATE "C"'],
  [/\bINTEGER\b/g, 'BIGINT'],
  [/\) STRICT;/g, ');'],
];

// JSON without the escapes that PostgreSQL refuses, such as a zero byte. No id and no time has an escape.
const PLAIN_JSON = String.raw`CAST(replace(replace($1, '\\', ''), '\u', 'u') AS JSON)`;
const MEMBERS: Words = [
  [/\(([\w.]*resource) ->> '(\w+Ms)'\)/g, `(CAST(${PLAIN_JSON} ->> '$2' AS BIGINT))`],
  [/\(([\w.]*resource) ->> '(\w+)'\)/g, `((${PLAIN_JSON} ->> '$2') COLLATE "C")`],
];

/** Translates members of a resource, such as `(resource ->> 'updatedAtMs')`, for PostgreSQL. */
export const translateMembers = (statement: string): string => replaceWords(MEMBERS, statement);

export const translateDdl = (step: string): string => replaceWords(DDL_WORDS, translateMembers(step));
