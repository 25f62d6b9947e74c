import * as z from 'zod';
import { digestSchema, opaqueIdSchema } from '../identifiers.ts';
import { countSchema, openEnumeration, schemaVersionSchema, textSchema } from '../scalars.ts';

export const capturePolicies = ['never', 'on_failure', 'always'] as const;
export const captureKinds = ['log', 'screenshot', 'video', 'file'] as const;

const policySchema = openEnumeration(capturePolicies);
const kindSchema = openEnumeration(captureKinds);

const attachmentSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  kind: z.literal('file'),
  id: opaqueIdSchema,
  name: z.string(),
  mediaType: z.string(),
  bytes: countSchema,
  hash: digestSchema,
  redaction: z.strictObject({ status: textSchema(1, 64), note: z.string().optional() }).optional(),
});

const capturedSchema = z.strictObject({
  kind: kindSchema,
  policy: policySchema,
  attachment: attachmentSchema,
  interactionId: opaqueIdSchema.optional(),
});

const captureErrorSchema = z.strictObject({
  code: textSchema(1, 128),
  message: z.string(),
  kind: kindSchema,
  interactionId: opaqueIdSchema.optional(),
});

/** What was recorded of a run, and what was not (control API, Hosted run, capture). */
export const runCaptureSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  policies: z.strictObject({
    logs: policySchema,
    screenshots: policySchema,
    video: policySchema,
    files: policySchema,
  }),
  attachments: z.array(capturedSchema),
  errors: z.array(captureErrorSchema),
  discarded: z.strictObject({
    logs: countSchema,
    screenshots: countSchema,
    video: countSchema,
    files: countSchema,
  }),
});
