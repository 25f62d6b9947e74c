import * as z from 'zod/mini';
import {
  type AuthoringSession,
  authoringSessionSchema,
  type AuthoringTurn,
  authoringTurnSchema,
  turnRequestSchema,
} from '../resources/authoring.ts';
import * as build from '../resources/build.ts';
import type { ControlCode } from './errors.ts';
import {
  type EvidenceBundle,
  evidenceBundleSchema,
  type EvidenceExport,
  evidenceExportSchema,
} from '../resources/evidence.ts';
import { type HostedRun, hostedRunSchema } from '../resources/run.ts';
import * as ids from '../scalars.ts';
import { type OperationResource, operationResourceSchema } from '../resources/operation.ts';
import * as answers from './answers.ts';
import {
  environmentSchema,
  sessionExtendRequestSchema,
  type WorldSession,
  worldSessionSchema,
} from '../resources/session.ts';

/** The permissions of a token (control API, Authentication). */
export const permissions = [
  'session.control',
  'build.read',
  'build.write',
  'authoring.write',
  'run.write',
  'evidence.read',
] as const;
export type Permission = (typeof permissions)[number];

/** One operation: everything that client, server and OpenAPI need to know about it. */
export type Operation = {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** A template, such as `/v1/projects/{projectId}/runs/{hostedRunId}`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly area: string;
  /** The operation is not in the specification. */
  readonly extension: boolean;
  readonly security: 'bearer' | 'none';
  readonly permission?: Permission;
  /** Other permissions that suffice, such as the permission to start the work that is read. */
  readonly alsoPermitted?: readonly Permission[];
  /** The header Idempotency-Key is required. */
  readonly idempotent: boolean;
  readonly params: z.ZodMiniObject;
  /** Query parameters; they arrive as text, and the schema turns them into values. */
  readonly query?: z.ZodMiniObject;
  readonly body?: z.ZodMiniType;
  /** A body of bytes instead of JSON. */
  readonly content?: { readonly mediaType: string; readonly maxBytes: number };
  readonly success: JsonSuccess | BytesSuccess;
  /** Where a resource of the answer repeats members of the request, if not under their own names. */
  readonly repeats?: Readonly<Record<string, string>>;
  /** Codes that it may answer with, beyond those that `errorsOf` adds for every operation of its kind. */
  readonly errors?: readonly ControlCode[];
};
export type JsonSuccess = {
  readonly status: 200 | 201 | 202;
  readonly kind: 'json';
  readonly schema: z.ZodMiniType;
};
export type BytesSuccess = {
  readonly status: 200;
  readonly kind: 'bytes';
  readonly mediaType: string;
  /** Range and If-Range are supported. */
  readonly ranges: boolean;
};

const inProject = { projectId: ids.projectIdSchema };
const inExport = { ...inProject, evidenceExportId: ids.evidenceExportIdSchema };
const project = '/v1/projects/{projectId}';
const conversation = `${project}/authoring-sessions/{authoringSessionId}` as const;
const inConversation = { ...inProject, authoringSessionId: ids.authoringSessionIdSchema };
const exported = `${project}/evidence-exports/{evidenceExportId}` as const;

const write = { method: 'POST', security: 'bearer', idempotent: true, extension: false } as const;
const read = { method: 'GET', security: 'bearer', idempotent: false, extension: false } as const;
const readEvidence = { ...read, area: 'runs and evidence', permission: 'evidence.read' } as const;

// Extensions, which are not operations of the specification.
const extendWrite = { ...write, extension: true } as const;
const extendRead = { ...read, extension: true } as const;
const extendEvidence = { ...readEvidence, extension: true } as const;

const readConversation = {
  ...extendRead,
  area: 'source drafts',
  permission: 'evidence.read',
  alsoPermitted: ['authoring.write'],
} as const;

/** The signed address is the credential. */
const upload = {
  path: `${project}/build-uploads/{buildAttemptId}`,
  area: 'builds and source',
  extension: true,
  security: 'none',
  idempotent: false,
  params: z.strictObject({ ...inProject, buildAttemptId: ids.buildAttemptIdSchema }),
  query: build.uploadAddressQuerySchema,
} as const;
const uploadErrors = ['control.NOT_FOUND', 'control.UPLOAD_EXPIRED'] as const;

/** Reasons why the content of an export may be unreadable. */
const exportErrors = [
  'control.EXPORT_NOT_READY',
  'control.EXPORT_FAILED',
  'control.EVIDENCE_DELETED',
] as const;
const bytesErrors = [...exportErrors, 'control.STORED_BYTES_CORRUPT'] as const;

/** An answer with status 200. Rows of a resource name its type, so that editors show the name and not all members. */
const json = <T>(
  schema: z.ZodMiniType<T>,
): JsonSuccess & { readonly status: 200; readonly schema: z.ZodMiniType<T> } => ({
  status: 200,
  kind: 'json',
  schema,
});

/**
 * The table of operations (control API, Endpoints): the ten of the specification, then the extensions. The routes of
 * the server, the methods of the client and the OpenAPI document are made from it.
 */
export const operations = {
  'sessions.extend': {
    ...write,
    path: `${project}/sessions/{sessionId}/extend`,
    summary: 'Set a new, later lifetime for a ready, unexpired world session.',
    description: 'ttlMs counts from the admission of the request; it is not added to the old deadline.',
    area: 'environments and sessions',
    permission: 'session.control',
    params: z.strictObject({ ...inProject, sessionId: ids.sessionIdSchema }),
    body: sessionExtendRequestSchema,
    success: json(answers.sessionExtensionSchema),
    errors: [
      'control.SESSION_EXPIRED',
      'control.SESSION_NOT_READY',
      'control.LEASE_GENERATION_MISMATCH',
      'control.VERSION_MISMATCH',
      'control.LIFETIME_NOT_LATER',
      'control.ENTITLEMENT_EXCEEDED',
    ],
  },
  'authoring.turns.create': {
    ...write,
    path: `${conversation}/turns`,
    summary: 'Send the next prompt of a repository authoring conversation.',
    area: 'source drafts',
    permission: 'authoring.write',
    params: z.strictObject(inConversation),
    body: turnRequestSchema,
    success: { status: 202, kind: 'json', schema: answers.authoringTurnCreationSchema },
    errors: [
      'control.AUTHORING_SESSION_NOT_ACTIVE',
      'control.AUTHORING_TURN_ACTIVE',
      'control.ENTITLEMENT_EXCEEDED',
    ],
  },
  'builds.uploads.create': {
    ...write,
    path: `${project}/build-uploads`,
    summary: 'Start an immutable build upload and obtain a target to upload to.',
    description: 'The archive is then sent to uploadUrl with the given method and headers.',
    area: 'builds and source',
    permission: 'build.write',
    params: z.strictObject(inProject),
    body: build.buildUploadRequestSchema,
    success: { status: 201, kind: 'json', schema: build.buildUploadSchema },
    repeats: {
      buildHash: 'expectedBuildHash',
      artifactDigest: 'expectedArtifactDigest',
      bytes: 'expectedBytes',
    },
    errors: ['control.ENTITLEMENT_EXCEEDED'],
  },
  'runs.reruns.create': {
    ...write,
    path: `${project}/runs/{hostedRunId}/reruns`,
    summary: 'Reproduce a terminal drill run from its pinned inputs.',
    area: 'runs and evidence',
    permission: 'run.write',
    params: z.strictObject({ ...inProject, hostedRunId: ids.hostedRunIdSchema }),
    body: answers.emptyRequestSchema,
    success: { status: 202, kind: 'json', schema: answers.rerunSchema },
    repeats: { hostedRunId: 'rerunOfHostedRunId' },
    errors: ['control.RUN_NOT_TERMINAL', 'control.BUILD_NOT_AVAILABLE', 'control.ENTITLEMENT_EXCEEDED'],
  },
  'builds.tools.source': {
    ...read,
    path: `${project}/builds/{buildHash}/tools/source`,
    summary: 'Read the bundled behavior source of one locked tool package in a build.',
    description:
      'Exact and immutable, at most 1 MiB of UTF-8, never truncated; nothing of it is ever executed.',
    area: 'tool library',
    permission: 'build.read',
    params: z.strictObject({ ...inProject, buildHash: ids.digestSchema }),
    query: z.strictObject({ packageId: ids.slugSchema }),
    success: json<build.ToolSource>(build.toolSourceSchema),
    errors: ['control.BUILD_NOT_AVAILABLE', 'control.TOOL_SOURCE_TOO_LARGE', 'control.STORED_BYTES_CORRUPT'],
  },
  'evidence.exports.read': {
    ...readEvidence,
    path: exported,
    summary: 'Read the state of one evidence export.',
    params: z.strictObject(inExport),
    success: json<EvidenceExport>(evidenceExportSchema),
    repeats: { projectId: 'scope.projectId' },
  },
  'evidence.exports.localReports': {
    ...readEvidence,
    path: `${exported}/local-reports`,
    summary: 'List original local-report archives in a completed export.',
    description: 'In immutable ordinal order. The reports are user-produced and unattested.',
    params: z.strictObject(inExport),
    query: answers.pageQuerySchema,
    success: json(answers.localReportPageSchema),
    errors: ['control.CURSOR_INVALID', ...exportErrors],
  },
  'evidence.bundles.read': {
    ...readEvidence,
    path: `${project}/evidence/{evidenceBundleId}`,
    summary: 'Read safe metadata of a hosted evidence bundle, including its signed attestation.',
    params: z.strictObject({ ...inProject, evidenceBundleId: ids.evidenceBundleIdSchema }),
    success: json<EvidenceBundle>(evidenceBundleSchema),
  },
  'builds.attempts.read': {
    ...read,
    path: `${project}/build-attempts/{buildAttemptId}`,
    summary: 'Read one build attempt with its source provenance.',
    area: 'builds and source',
    permission: 'build.read',
    alsoPermitted: ['build.write'],
    params: z.strictObject({ ...inProject, buildAttemptId: ids.buildAttemptIdSchema }),
    success: json<build.BuildAttempt>(build.buildAttemptSchema),
  },
  'evidence.exports.parts.download': {
    ...readEvidence,
    path: `${exported}/parts/{evidenceBundleId}`,
    summary: 'Download one archive part of a completed export.',
    params: z.strictObject({ ...inExport, evidenceBundleId: ids.evidenceBundleIdSchema }),
    success: { status: 200, kind: 'bytes', mediaType: 'application/zip', ranges: true },
    errors: bytesErrors,
  },
  'evidence.exports.list': {
    ...extendEvidence,
    path: `${project}/evidence-exports`,
    summary: 'List the evidence exports that can be read through a project.',
    params: z.strictObject(inProject),
    query: answers.pageQuerySchema,
    success: json(answers.evidenceExportPageSchema),
    repeats: { projectId: 'scope.projectId' },
    errors: ['control.CURSOR_INVALID'],
  },
  'evidence.exports.manifest': {
    ...extendEvidence,
    path: `${exported}/manifest`,
    summary: 'Download the manifest of a completed export: the bytes of manifestDigest.',
    params: z.strictObject(inExport),
    success: { status: 200, kind: 'bytes', mediaType: 'application/json', ranges: false },
    errors: bytesErrors,
  },
  'evidence.exports.attestation': {
    ...extendEvidence,
    path: `${exported}/export-attestation`,
    summary: 'Download the attestation of a completed export; not found when the export is unsigned.',
    params: z.strictObject(inExport),
    success: { status: 200, kind: 'bytes', mediaType: 'application/json', ranges: false },
    errors: bytesErrors,
  },
  'evidence.exports.localReports.archive': {
    ...extendEvidence,
    path: `${exported}/local-reports/{localReportId}/archive`,
    summary: 'Download the original archive of one local report of a completed export.',
    params: z.strictObject({ ...inExport, localReportId: ids.localReportIdSchema }),
    success: { status: 200, kind: 'bytes', mediaType: 'application/zip', ranges: true },
    errors: bytesErrors,
  },
  'operations.read': {
    ...extendRead,
    path: `${project}/operations/{operationId}`,
    summary: 'Read one operation: the state and the result of long-running work.',
    area: 'runs and evidence',
    permission: 'evidence.read',
    alsoPermitted: ['session.control', 'authoring.write', 'run.write', 'build.write'],
    params: z.strictObject({ ...inProject, operationId: ids.operationIdSchema }),
    success: json<OperationResource>(operationResourceSchema),
  },
  'operations.cancel': {
    ...extendWrite,
    path: `${project}/operations/{operationId}/cancel`,
    summary: 'Ask for the end of an operation that has not ended.',
    description:
      'Waiting work is cancelled at once; the worker of running work stops it. An operation that has ended is returned unchanged.',
    area: 'runs and evidence',
    permission: 'authoring.write',
    alsoPermitted: ['run.write', 'session.control'],
    params: z.strictObject({ ...inProject, operationId: ids.operationIdSchema }),
    body: answers.emptyRequestSchema,
    success: json<OperationResource>(operationResourceSchema),
  },
  'runs.read': {
    ...extendEvidence,
    path: `${project}/runs/{hostedRunId}`,
    summary: 'Read one drill run.',
    alsoPermitted: ['run.write'],
    params: z.strictObject({ ...inProject, hostedRunId: ids.hostedRunIdSchema }),
    success: json<HostedRun>(hostedRunSchema),
  },
  'environments.read': {
    ...extendRead,
    path: `${project}/environments/{environmentId}`,
    summary: 'Read one environment: its build, and the version that an upload must expect to advance it.',
    area: 'environments and sessions',
    permission: 'build.read',
    alsoPermitted: ['build.write'],
    params: z.strictObject({ ...inProject, environmentId: ids.environmentIdSchema }),
    success: json(environmentSchema),
  },
  'sessions.read': {
    ...extendRead,
    path: `${project}/sessions/{sessionId}`,
    summary: 'Read one world session.',
    area: 'environments and sessions',
    permission: 'evidence.read',
    alsoPermitted: ['session.control', 'run.write'],
    params: z.strictObject({ ...inProject, sessionId: ids.sessionIdSchema }),
    success: json<WorldSession>(worldSessionSchema),
  },
  'authoring.sessions.read': {
    ...readConversation,
    path: conversation,
    summary: 'Read one repository authoring conversation.',
    params: z.strictObject(inConversation),
    success: json<AuthoringSession>(authoringSessionSchema),
  },
  'authoring.sessions.close': {
    ...extendWrite,
    path: `${conversation}/close`,
    summary: 'End a repository authoring conversation: it takes no further turns.',
    area: 'source drafts',
    permission: 'authoring.write',
    params: z.strictObject(inConversation),
    body: answers.emptyRequestSchema,
    success: json(answers.authoringSessionChangeSchema),
    errors: ['control.AUTHORING_SESSION_NOT_ACTIVE', 'control.AUTHORING_TURN_ACTIVE'],
  },
  'authoring.turns.list': {
    ...readConversation,
    path: `${conversation}/turns`,
    summary: 'List the turns of a repository authoring conversation, first to last.',
    params: z.strictObject(inConversation),
    query: answers.pageQuerySchema,
    success: json(answers.authoringTurnPageSchema),
    errors: ['control.CURSOR_INVALID'],
  },
  'authoring.turns.read': {
    ...readConversation,
    path: `${conversation}/turns/{authoringTurnId}`,
    summary: 'Read one turn of a repository authoring conversation.',
    params: z.strictObject({ ...inConversation, authoringTurnId: ids.opaqueIdSchema }),
    success: json<AuthoringTurn>(authoringTurnSchema),
  },
  'builds.uploads.read': {
    ...upload,
    method: 'GET',
    summary: 'Read how much of an upload is stored.',
    description: 'An interrupted upload continues at receivedBytes, with Content-Range.',
    success: json(build.buildUploadProgressSchema),
    errors: uploadErrors,
  },
  'builds.uploads.put': {
    ...upload,
    method: 'PUT',
    summary: 'Send the archive of a build to the address that its upload gave.',
    description:
      'The signed address is the credential, so that no token is sent. The digest makes it idempotent: the same ' +
      'bytes again are answered with the attempt as it stands.',
    content: { mediaType: 'application/zip', maxBytes: build.MAX_BUILD_BYTES },
    success: json<build.BuildAttempt>(build.buildAttemptSchema),
    errors: [
      ...uploadErrors,
      'control.UPLOAD_OFFSET_MISMATCH',
      'control.UPLOAD_MISMATCH',
      'control.UNSUPPORTED_MEDIA_TYPE',
    ],
  },
} as const satisfies Readonly<Record<string, Operation>>;

type Rows = typeof operations;
/** The name of an operation of the control API, such as `evidence.exports.read`. */
export type OperationName = keyof Rows;

export const operationNames = Object.keys(operations) as readonly OperationName[];

/**
 * The row of an operation (control API, Endpoints): its method, path, schemas, permission and errors.
 * @example
 * const { method, path } = operationRow('evidence.exports.read');
 */
export const operationRow = (name: OperationName): Operation => operations[name];

export type UploadOperationName = {
  [N in OperationName]: Rows[N] extends { security: 'none' } ? N : never;
}[OperationName];
export type CallableName = Exclude<OperationName, UploadOperationName>;
export const callableNames = operationNames.filter(
  (name): name is CallableName => operationRow(name).security !== 'none',
);

export type JsonOperationName = {
  [N in OperationName]: Rows[N]['success'] extends JsonSuccess ? N : never;
}[OperationName];
export type BytesOperationName = Exclude<OperationName, JsonOperationName>;

/** The parameters in the path of an operation, such as `projectId` (control API, Endpoints). */
export type Params<N extends OperationName> = z.infer<Rows[N]['params']>;
/** The query as the schema gives it, defaults filled in; an empty object where there is none. */
export type Query<N extends OperationName> = Rows[N] extends { query: infer Q extends z.ZodMiniType }
  ? z.infer<Q>
  : Record<string, never>;
/** The body as it is sent; `undefined` where there is none. */
export type Body<N extends OperationName> = Rows[N] extends { body: infer B extends z.ZodMiniType }
  ? z.infer<B>
  : undefined;
/** The JSON document that an operation returns (control API, Endpoints); `never` if it returns bytes. */
export type Result<N extends OperationName> = Rows[N]['success'] extends {
  schema: infer S extends z.ZodMiniType;
}
  ? z.infer<S>
  : never;
