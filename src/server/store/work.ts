import type { Digest } from '../../bytes/hash.ts';
import type {
  AuthoringSession,
  AuthoringTurn,
  HostedRun,
  OperationResource,
  WorldSession,
} from '../../contract/index.ts';
import type { BuildAttemptRow, InProject } from './store.ts';

/** An environment: which build its worlds are made from. It has no resource of its own in the API. */
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
export type HostedRunRow = InProject & { readonly hostedRunId: string; readonly resource: HostedRun };
export type AuthoringSessionRow = InProject & {
  readonly authoringSessionId: string;
  readonly resource: AuthoringSession;
};
export type AuthoringTurnRow = InProject & {
  readonly authoringTurnId: string;
  readonly resource: AuthoringTurn;
};

/** An operation; without `projectId` it belongs to the whole organization. */
export type OperationRow = {
  readonly organizationId: string;
  readonly projectId?: string;
  readonly operationId: string;
  readonly resource: OperationResource;
};

/** Queued work, claimed by one worker at a time: the operation says what became of it, the job who is at it. */
export type Job = {
  readonly operationId: string;
  /** Kind of the operation. */
  readonly kind: string;
  readonly organizationId: string;
  readonly projectId?: string;
  readonly resourceId: string;
  /** How often it was claimed: 1 the first time. */
  readonly attempt: number;
  /** Rises with every claim; a holder of an older one can finish, renew and retry nothing. */
  readonly fence: number;
};
export type NewJob = Omit<Job, 'attempt' | 'fence'> & {
  readonly createdAtMs: number;
  /** It waits until then; default `createdAtMs`. */
  readonly notBeforeMs?: number;
};
export type JobClaim = {
  readonly kinds: readonly string[];
  /** A name for people: who holds it. */
  readonly worker: string;
  readonly nowMs: number;
  readonly leaseMs: number;
};
export type JobRenewal = Pick<Job, 'operationId' | 'fence'> & {
  readonly nowMs: number;
  readonly leaseMs: number;
};
/** How many jobs of a kind there are, claimed or not, and since when the oldest waits. */
export type JobCount = { readonly kind: string; readonly count: number; readonly oldestAtMs: number };

/** Within which a key means one request (control API, Idempotency). */
export type IdempotencyScope = InProject & {
  readonly principalId: string;
  /** Name in the table of operations. */
  readonly operation: string;
  readonly key: string;
};
/** `in_progress`: a holder is at it until its lease ends. `done`: the effect is committed, and this is its answer. */
export type IdempotencyRow = IdempotencyScope & {
  readonly requestHash: Digest;
  readonly status: 'in_progress' | 'done';
  readonly holder: string;
  readonly leaseUntilMs: number;
  /** JSON text; present when done. */
  readonly response?: string;
  readonly createdAtMs: number;
  /** From then on the key is free again. */
  readonly expiresAtMs: number;
};

export type WorkReads = {
  environment(projectId: string, environmentId: string): Promise<EnvironmentRow | undefined>;
  session(projectId: string, sessionId: string): Promise<SessionRow | undefined>;
  hostedRun(projectId: string, hostedRunId: string): Promise<HostedRunRow | undefined>;
  authoringSession(projectId: string, authoringSessionId: string): Promise<AuthoringSessionRow | undefined>;
  authoringTurn(projectId: string, authoringTurnId: string): Promise<AuthoringTurnRow | undefined>;
  operation(organizationId: string, operationId: string): Promise<OperationRow | undefined>;
  idempotency(scope: IdempotencyScope): Promise<IdempotencyRow | undefined>;
  /** Attempts whose address has ended and whose archive never came. */
  expiredUploads(nowMs: number, limit: number): Promise<BuildAttemptRow[]>;
  /** Attempts whose archive is here and which nobody has moved since. */
  stalledBuildAttempts(updatedBeforeMs: number, limit: number): Promise<BuildAttemptRow[]>;
  jobCounts(): Promise<JobCount[]>;
};

export type WorkWrites = {
  insertEnvironment(row: EnvironmentRow): Promise<void>;
  updateEnvironment(row: EnvironmentRow): Promise<void>;
  insertSession(row: SessionRow): Promise<void>;
  updateSession(row: SessionRow): Promise<void>;
  insertHostedRun(row: HostedRunRow): Promise<void>;
  updateHostedRun(row: HostedRunRow): Promise<void>;
  /** The runs of a session that have not ended, locked. */
  unfinishedRunsForUpdate(projectId: string, sessionId: string): Promise<HostedRunRow[]>;
  insertAuthoringSession(row: AuthoringSessionRow): Promise<void>;
  updateAuthoringSession(row: AuthoringSessionRow): Promise<void>;
  insertAuthoringTurn(row: AuthoringTurnRow): Promise<void>;
  updateAuthoringTurn(row: AuthoringTurnRow): Promise<void>;
  /** The highest sequence of a session's turns, 0 when it has none. Lock the session first. */
  lastTurnSequence(projectId: string, authoringSessionId: string): Promise<number>;
  insertOperation(row: OperationRow): Promise<void>;
  updateOperation(row: OperationRow): Promise<void>;
  /** Needs the operation to be there. */
  enqueueJob(job: NewJob): Promise<void>;
  /** Whether a claim still stands, with the job held until the transaction ends. */
  holdsJob(operationId: string, fence: number): Promise<boolean>;
  /** Ends a job with its outcome in the same transaction; `false`: it is another's now, so commit nothing. */
  finishJob(operationId: string, fence: number): Promise<boolean>;
  /** Lets a job wait until `notBeforeMs` and gives up the claim; `false` when it is another's now. */
  retryJob(operationId: string, fence: number, notBeforeMs: number): Promise<boolean>;
  /** Takes back a job that nobody holds; `false` when somebody does, or there is none. */
  removeWaitingJob(operationId: string, nowMs: number): Promise<boolean>;
  /**
   * Writes a claim where the key is free: never used, expired, or its holder's lease over. Gives the row that then
   * stands: the claim, when its `holder` is the caller's.
   */
  claimIdempotency(claim: IdempotencyRow): Promise<IdempotencyRow>;
  /** Writes the answer of a claim; `false` when the claim was lost meanwhile, so commit nothing. */
  completeIdempotency(
    scope: IdempotencyScope,
    holder: string,
    answer: { readonly response: string; readonly expiresAtMs: number },
  ): Promise<boolean>;
  /** Frees the key of a request that was rejected. */
  releaseIdempotency(scope: IdempotencyScope, holder: string): Promise<void>;
  /** Removes what has expired; how many rows. */
  purgeIdempotency(nowMs: number): Promise<number>;
};
