import * as z from 'zod';
import {
  digestSchema,
  organizationIdSchema,
  projectIdSchema,
  semverSchema,
  slugSchema,
} from '../identifiers.ts';
import { countSchema, schemaVersionSchema } from '../scalars.ts';

/** The largest tool source, in bytes of UTF-8: 1 MiB. Larger source is refused, never truncated. */
export const MAX_TOOL_SOURCE_BYTES = 1_048_576;

const encoder = new TextEncoder();
const fits = (source: string): boolean =>
  source.length <= MAX_TOOL_SOURCE_BYTES && encoder.encode(source).length <= MAX_TOOL_SOURCE_BYTES;

const implementationSchema = z.strictObject({
  kind: z.literal('javascript'),
  source: z
    .string()
    .refine(fits, { error: `must have at most ${MAX_TOOL_SOURCE_BYTES} bytes of UTF-8` })
    .meta({ maxLength: MAX_TOOL_SOURCE_BYTES }),
  bytes: countSchema.max(MAX_TOOL_SOURCE_BYTES),
});

const assetSchema = z.strictObject({
  path: z.string().min(1),
  mediaType: z.string().min(1),
  artifactHash: digestSchema,
  bytes: countSchema,
});

/** The bundled behavior source of one locked tool package (control API, Tool source). */
export const toolSourceSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  organizationId: organizationIdSchema,
  projectId: projectIdSchema,
  buildHash: digestSchema,
  packageId: slugSchema,
  version: semverSchema,
  manifestHash: digestSchema,
  artifactHash: digestSchema,
  implementation: implementationSchema,
  ui: z.strictObject({ entry: z.string().min(1), assets: z.array(assetSchema) }).optional(),
});

/** The source of one tool that a build locks, and its size in bytes (control API, Tool source). */
export type ToolSource = z.infer<typeof toolSourceSchema>;
