/**
 * The schema as numbered steps, each run once, in order, in its own transaction; `schema_version` in `meta` is the
 * number of the last one. A step that was released is never edited: a change is a new step.
 *
 * Rows of a project are keyed by it, so that one tenant's id never meets another's. Resources are kept as the JSON
 * that is served; what queries need stands beside it in columns.
 */
export const sqliteMigrations: readonly string[] = [
  `
  CREATE TABLE organizations (
    organization_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE projects (
    project_id TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations,
    name TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    UNIQUE (organization_id, project_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE tokens (
    token_id TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL REFERENCES organizations,
    projects TEXT NOT NULL,
    permissions TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    revoked_at_ms INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE bundles (
    project_id TEXT NOT NULL,
    evidence_bundle_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    archive_digest TEXT NOT NULL,
    archive_bytes INTEGER NOT NULL,
    resource TEXT NOT NULL,
    PRIMARY KEY (project_id, evidence_bundle_id),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE builds (
    project_id TEXT NOT NULL,
    build_hash TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    archive_digest TEXT,
    archive_bytes INTEGER,
    PRIMARY KEY (project_id, build_hash),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE build_attempts (
    project_id TEXT NOT NULL,
    build_attempt_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    resource TEXT NOT NULL,
    PRIMARY KEY (project_id, build_attempt_id),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE local_reports (
    project_id TEXT NOT NULL,
    local_report_id TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    archive_digest TEXT NOT NULL,
    archive_bytes INTEGER NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (project_id, local_report_id),
    FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, project_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE exports (
    organization_id TEXT NOT NULL REFERENCES organizations,
    evidence_export_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    projects TEXT NOT NULL,
    resource TEXT NOT NULL,
    manifest_digest TEXT,
    manifest_bytes INTEGER,
    attestation_digest TEXT,
    attestation_bytes INTEGER,
    PRIMARY KEY (organization_id, evidence_export_id),
    UNIQUE (organization_id, ordinal)
  ) STRICT, WITHOUT ROWID;

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
  ) STRICT, WITHOUT ROWID;

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
  ) STRICT, WITHOUT ROWID;
  `,
];
