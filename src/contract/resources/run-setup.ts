import * as z from 'zod';
import { digestSchema, opaqueIdSchema, slugSchema } from '../identifiers.ts';
import { integerSchema, openObjectSchema, schemaVersionSchema, textSchema, usSchema } from '../scalars.ts';

const openObjectsSchema = z.array(openObjectSchema);

const toolOverrideSchema = z.strictObject({
  id: opaqueIdSchema,
  operation: z.strictObject({ packageId: slugSchema, operationId: opaqueIdSchema }),
  outcome: z.strictObject({ kind: textSchema(1, 64), value: z.unknown().optional() }),
  when: z
    .strictObject({ arguments: openObjectSchema.optional(), actorId: opaqueIdSchema.optional() })
    .optional(),
  times: integerSchema.optional(),
});

const scenarioSchema = z.strictObject({
  actors: openObjectsSchema,
  state: openObjectsSchema,
  faults: openObjectsSchema,
  initialEvents: openObjectsSchema,
  virtualTimeUs: usSchema,
  toolOverrides: z.array(toolOverrideSchema),
});

/** The world as it stood when the run began (control API, Hosted run, setup). */
export const runSetupSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  drillId: slugSchema,
  setup: z.strictObject({
    tools: z.strictObject({ packages: openObjectsSchema, behaviorOverrides: openObjectsSchema }),
    bindings: z.strictObject({ environment: openObjectSchema }),
    scenario: scenarioSchema,
  }),
  setupHash: digestSchema,
});
