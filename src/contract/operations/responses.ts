import * as z from 'zod';
import { authoringSessionSchema, authoringTurnSchema } from '../resources/authoring.ts';
import { hostedRunSchema } from '../resources/hosted-run.ts';
import { operationResourceSchema } from './resource.ts';
import { worldSessionSchema } from '../resources/session.ts';

// Answers that join a resource and the operation that changed it.

export const sessionExtensionSchema = z.strictObject({
  session: worldSessionSchema,
  operation: operationResourceSchema,
});

export const authoringTurnCreationSchema = z.strictObject({
  session: authoringSessionSchema,
  turn: authoringTurnSchema,
  operation: operationResourceSchema,
});

export const rerunSchema = z.strictObject({ run: hostedRunSchema, operation: operationResourceSchema });

/** Body of runs.reruns.create: an empty object. */
export const rerunRequestSchema = z.strictObject({});
