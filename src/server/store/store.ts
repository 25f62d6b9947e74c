import type { Digest } from '../../bytes/hash.ts';
import type { BuildAttempt, EvidenceBundle, EvidenceExport, LocalReportItem } from '../../contract/index.ts';
import type { Permission } from '../../contract/index.ts';
import type { BlobRefReads } from './blob-refs.ts';
import type { RetentionReads, RetentionWrites } from './retention.ts';
import type { Job, JobClaim, JobRenewal, WorkReads, WorkWrites } from './work.ts';

/** Where bytes lie in the blob store. */
export type BlobRef = { readonly digest: Digest; readonly bytes: number };

export type OrganizationRow = {
  readonly organizationId: string;
  readonly name: string;
  readonly createdAtMs: number;
  /** Entitlement: the longest lifetime of its sessions, in milliseconds; the API's own limit unless it is set. */
  readonly maxSessionTtlMs?: number;
};

export type ProjectRow = {
  readonly projectId: string;
  readonly organizationId: string;
  readonly name: string;
  readonly createdAtMs: number;
};

/** A credential. The token itself is never stored: `tokenHash` is the hex SHA-256 of its text. */
export type TokenRow = {
  readonly tokenId: string;
  readonly tokenHash: string;
  readonly organizationId: string;
  readonly projects: readonly string[] | 'all';
  readonly permissions: readonly Permission[];
  readonly createdAtMs: number;
  readonly expiresAtMs?: number;
  readonly revokedAtMs?: number;
};

export type InProject = { readonly organizationId: string; readonly projectId: string };

export type BundleRow = InProject & {
  readonly evidenceBundleId: string;
  readonly archive: BlobRef;
  readonly resource: EvidenceBundle;
};

/** A build; without `archive` its bytes have not been taken in. */
export type BuildRow = InProject & { readonly buildHash: string; readonly archive?: BlobRef };

export type BuildAttemptRow = InProject & {
  readonly buildAttemptId: string;
  readonly resource: BuildAttempt;
  /** When the address to which its archive is sent ends; absent for an attempt without one. */
  readonly uploadExpiresAtMs?: number;
};

export type LocalReportRow = InProject & {
  readonly localReportId: string;
  readonly archive: BlobRef;
  /** As an export lists it, but for its position there. */
  readonly source: Omit<LocalReportItem['source'], 'ordinal'>;
};

export type ExportRow = {
  readonly organizationId: string;
  readonly evidenceExportId: string;
  /** Position in the list of the organization's exports: given by the store, rising, never reused. */
  readonly ordinal: number;
  /**
   * The projects through which it can be read: those of its parts and reports. Empty for an organization's export
   * that holds nothing, which any project shows to a token for all projects.
   */
  readonly projects: readonly string[];
  readonly resource: EvidenceExport;
  readonly manifest?: BlobRef;
  readonly attestation?: BlobRef;
};

export type ExportPartRow = {
  readonly ordinal: number;
  readonly evidenceBundleId: string;
  readonly projectId: string;
  readonly archive: BlobRef;
};

export type ExportReportRow = {
  readonly ordinal: number;
  readonly localReportId: string;
  readonly projectId: string;
  readonly archive: BlobRef;
  readonly item: LocalReportItem;
};

/** An export as it is taken in: once, with everything that it lists. */
export type NewExport = Omit<ExportRow, 'ordinal'> & {
  readonly parts: readonly ExportPartRow[];
  readonly reports: readonly ExportReportRow[];
};

/** Reads of tenants, evidence and builds. */
export type EvidenceReads = {
  organization(organizationId: string): Promise<OrganizationRow | undefined>;
  organizations(): Promise<OrganizationRow[]>;
  project(projectId: string): Promise<ProjectRow | undefined>;
  projects(organizationId: string): Promise<ProjectRow[]>;
  tokenByHash(tokenHash: string): Promise<TokenRow | undefined>;
  tokens(organizationId: string): Promise<TokenRow[]>;
  bundle(projectId: string, evidenceBundleId: string): Promise<BundleRow | undefined>;
  build(projectId: string, buildHash: string): Promise<BuildRow | undefined>;
  buildAttempt(projectId: string, buildAttemptId: string): Promise<BuildAttemptRow | undefined>;
  localReport(projectId: string, localReportId: string): Promise<LocalReportRow | undefined>;
  export(organizationId: string, evidenceExportId: string): Promise<ExportRow | undefined>;
  /** Exports of an organization in order, from the one after `afterOrdinal` (-1 for the first). */
  exports(organizationId: string, afterOrdinal: number, limit: number): Promise<ExportRow[]>;
  exportPart(
    organizationId: string,
    evidenceExportId: string,
    evidenceBundleId: string,
  ): Promise<ExportPartRow | undefined>;
  exportReport(
    organizationId: string,
    evidenceExportId: string,
    localReportId: string,
  ): Promise<ExportReportRow | undefined>;
  exportReports(
    organizationId: string,
    evidenceExportId: string,
    afterOrdinal: number,
    limit: number,
  ): Promise<ExportReportRow[]>;
};

/** All reads; those of sessions, runs and queued work are in work.ts, those of what is to go in retention.ts. */
export type Reads = EvidenceReads & WorkReads & RetentionReads & BlobRefReads;

/** Writes of tenants, evidence and builds. Every insert refuses a row that is there already: look first. */
export type EvidenceWrites = {
  insertOrganization(row: OrganizationRow): Promise<void>;
  /** Changes name and entitlement. */
  updateOrganization(row: OrganizationRow): Promise<void>;
  insertProject(row: ProjectRow): Promise<void>;
  insertToken(row: TokenRow): Promise<void>;
  /** Whether there was such a token, not revoked until now. */
  revokeToken(tokenId: string, revokedAtMs: number): Promise<boolean>;
  insertBundle(row: BundleRow): Promise<void>;
  updateBundle(row: BundleRow): Promise<void>;
  /** Inserts a build, or gives one that has none its archive: a build is immutable. */
  saveBuild(row: BuildRow): Promise<void>;
  insertBuildAttempt(row: BuildAttemptRow): Promise<void>;
  updateBuildAttempt(row: BuildAttemptRow): Promise<void>;
  insertLocalReport(row: LocalReportRow): Promise<void>;
  insertExport(row: NewExport): Promise<void>;
  /** Gives an export that lists nothing yet its documents and all that it lists. */
  fillExport(row: NewExport): Promise<void>;
  /** Changes the resource of an export, such as its deletion; what it lists never changes. */
  updateExport(row: ExportRow): Promise<void>;
};

/**
 * Reads of one row that nobody else can change until the transaction ends. Rows that are read without a lock may
 * change before they are written: read for update what you change.
 */
export type Locks = {
  bundleForUpdate: Reads['bundle'];
  buildAttemptForUpdate: Reads['buildAttempt'];
  exportForUpdate: Reads['export'];
  environmentForUpdate: Reads['environment'];
  sessionForUpdate: Reads['session'];
  hostedRunForUpdate: Reads['hostedRun'];
  authoringSessionForUpdate: Reads['authoringSession'];
  authoringTurnForUpdate: Reads['authoringTurn'];
  operationForUpdate: Reads['operation'];
};

export type Writes = EvidenceWrites & WorkWrites & RetentionWrites & Locks;

/** The schema as it is, which another process may have moved on meanwhile, and as this program knows it. */
export type SchemaState = { readonly version: number; readonly known: number };

/**
 * What the control plane remembers. Each read sees what is committed; a transaction sees its own writes, all of them
 * are kept when `work` resolves and none when it rejects. Two transactions never interleave on the rows that they
 * hold. One that lost a race against another is run again, so `work` has no effect outside the store.
 * @throws DrillproofError `control.UNAVAILABLE` when the store is busy, `io.DISK_FULL`, `io.UNREADABLE`
 */
export type Store = Reads & {
  transaction<T>(work: (transaction: Reads & Writes) => Promise<T>): Promise<T>;
  /** 32 random bytes of this installation under a name, made on first use. */
  secret(name: string): Promise<Uint8Array>;
  /** Asks the database: that it answers, and with which schema. */
  schema(): Promise<SchemaState>;
  /** The longest waiting job of these kinds, taken in a transaction of its own; one whose lease ran out waits again. */
  claimJob(claim: JobClaim): Promise<Job | undefined>;
  /** Moves the lease of a job on; `false` when the job is no longer its holder's. */
  renewJob(renewal: JobRenewal): Promise<boolean>;
  close(): Promise<void>;
};
