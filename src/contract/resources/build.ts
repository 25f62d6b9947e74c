import * as z from 'zod/mini';
import * as ids from '../scalars.ts';
import { countSchema, integerSchema, msSchema, schemaVersionSchema, textSchema } from '../scalars.ts';

export const buildAttemptStates = [
  'awaiting_upload',
  'queued',
  'fetching',
  'compiling',
  'verifying',
  'succeeded',
  'failed',
  'cancelled',
] as const;
export type BuildAttemptState = (typeof buildAttemptStates)[number];

export const MAX_BUILD_BYTES = 67_108_864;

const buildBytesSchema = z.int().check(z.positive(), z.lte(MAX_BUILD_BYTES));

/** Open: the control API gives diagnostics no shape. Ours have these members. */
const diagnosticSchema = z.looseObject({
  code: z.optional(z.string()),
  severity: z.optional(z.string()),
  message: z.optional(z.string()),
  path: z.optional(z.string()),
});

/** One attempt at a build, with the origin of its source (control API, Build attempt). */
export const buildAttemptSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  buildAttemptId: ids.buildAttemptIdSchema,
  organizationId: ids.organizationIdSchema,
  projectId: ids.projectIdSchema,
  sourceKind: z.enum(['upload', 'draft']),
  requestedBy: ids.principalSchema,
  state: z.enum(buildAttemptStates),
  diagnostics: z.array(diagnosticSchema),
  sourceClosure: z.array(textSchema(1, 1024)).check(z.maxLength(2000)),
  createdAtMs: msSchema,
  updatedAtMs: msSchema,
  sourceDraftId: z.optional(ids.sourceDraftIdSchema),
  sourceRevision: z.optional(z.literal(1)),
  sourceDigest: z.optional(ids.digestSchema),
  revision: z.optional(ids.revisionSchema),
  expectedBuildHash: z.optional(ids.digestSchema),
  expectedArtifactDigest: z.optional(ids.digestSchema),
  expectedBytes: z.optional(buildBytesSchema),
  advanceEnvironmentId: z.optional(ids.environmentIdSchema),
  expectedEnvironmentVersion: z.optional(integerSchema),
  buildHash: z.optional(ids.digestSchema),
  finishedAtMs: z.optional(msSchema),
});

/** Body of builds.uploads.create. The environment to advance and its expected version come together or not at all. */
export const buildUploadRequestSchema = z
  .strictObject({
    buildHash: ids.digestSchema,
    artifactDigest: ids.digestSchema,
    bytes: buildBytesSchema,
    advanceEnvironmentId: z.optional(ids.environmentIdSchema),
    expectedEnvironmentVersion: z.optional(integerSchema),
  })
  .check(
    z.refine(
      (body) => (body.advanceEnvironmentId === undefined) === (body.expectedEnvironmentVersion === undefined),
      {
        error: 'advanceEnvironmentId and expectedEnvironmentVersion go together',
        path: ['advanceEnvironmentId'],
      },
    ),
    z.meta({
      dependentRequired: {
        advanceEnvironmentId: ['expectedEnvironmentVersion'],
        expectedEnvironmentVersion: ['advanceEnvironmentId'],
      },
    }),
  );

/** The address for the archive of a new build, with its expiry and headers (control API, build-uploads). */
export const buildUploadSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  attempt: buildAttemptSchema,
  method: z.literal('PUT'),
  uploadUrl: textSchema(1, 4096),
  headers: z.record(z.string(), z.string()),
  expiresAtMs: msSchema,
});

export const buildUploadProgressSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  buildAttemptId: ids.buildAttemptIdSchema,
  state: z.enum(buildAttemptStates),
  bytes: buildBytesSchema,
  receivedBytes: countSchema.check(z.lte(MAX_BUILD_BYTES)),
});

const wholeNumberText = z.pipe(z.string().check(z.regex(/^[0-9]{1,16}$/)), z.transform(Number));

/** The query of an upload address; the signature covers all of it and the attempt. */
export const uploadAddressQuerySchema = z.strictObject({
  artifactDigest: ids.digestSchema,
  bytes: z.pipe(wholeNumberText, buildBytesSchema),
  expiresAtMs: z.pipe(wholeNumberText, msSchema),
  signature: z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/)),
});

export type UploadAddressQuery = z.infer<typeof uploadAddressQuerySchema>;
/** One attempt to store a build, and its state (control API, Build attempt). Times are milliseconds since 1970. */
export interface BuildAttempt extends z.infer<typeof buildAttemptSchema> {}
export type BuildUploadRequest = z.infer<typeof buildUploadRequestSchema>;
export type BuildUpload = z.infer<typeof buildUploadSchema>;

/** The largest tool source, in bytes of UTF-8: 1 MiB. Larger source is refused, never truncated. */
export const MAX_TOOL_SOURCE_BYTES = 1_048_576;

const encoder = new TextEncoder();
const fits = (source: string): boolean =>
  source.length <= MAX_TOOL_SOURCE_BYTES && encoder.encode(source).length <= MAX_TOOL_SOURCE_BYTES;

const implementationSchema = z.strictObject({
  kind: z.literal('javascript'),
  source: z
    .string()
    .check(
      z.refine(fits, { error: `must have at most ${MAX_TOOL_SOURCE_BYTES} bytes of UTF-8` }),
      z.meta({ maxLength: MAX_TOOL_SOURCE_BYTES }),
    ),
  bytes: countSchema.check(z.lte(MAX_TOOL_SOURCE_BYTES)),
});

const assetSchema = z.strictObject({
  path: z.string().check(z.minLength(1)),
  mediaType: z.string().check(z.minLength(1)),
  artifactHash: ids.digestSchema,
  bytes: countSchema,
});

/** The bundled behavior source of one locked tool package (control API, Tool source). */
export const toolSourceSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  organizationId: ids.organizationIdSchema,
  projectId: ids.projectIdSchema,
  buildHash: ids.digestSchema,
  packageId: ids.slugSchema,
  version: ids.semverSchema,
  manifestHash: ids.digestSchema,
  artifactHash: ids.digestSchema,
  implementation: implementationSchema,
  ui: z.optional(z.strictObject({ entry: z.string().check(z.minLength(1)), assets: z.array(assetSchema) })),
});

/** The source of one tool that a build locks, and its size in bytes (control API, Tool source). */
export interface ToolSource extends z.infer<typeof toolSourceSchema> {}
