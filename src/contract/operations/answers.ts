import * as z from 'zod/mini';
import { authoringSessionSchema, authoringTurnSchema } from '../resources/authoring.ts';
import { evidenceExportSchema, localReportItemSchema } from '../resources/evidence.ts';
import { operationResourceSchema } from '../resources/operation.ts';
import { hostedRunSchema } from '../resources/run.ts';
import { worldSessionSchema } from '../resources/session.ts';
import { textSchema } from '../scalars.ts';

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 50;

/** An opaque cursor from the previous answer. */
const cursorSchema = textSchema(1, 2048);

// Number() alone would also read "1e1", " 10", "+10" and "0x0a".
const limitSchema = z._default(
  z.pipe(
    z.pipe(z.string().check(z.regex(/^(?:0|[1-9][0-9]*)$/)), z.transform(Number)),
    z.int().check(z.gte(1), z.lte(MAX_PAGE_SIZE)),
  ),
  DEFAULT_PAGE_SIZE,
);

/** Query of a list: the place to continue, and the greatest number of items. */
export const pageQuerySchema = z.strictObject({ cursor: z.optional(cursorSchema), limit: limitSchema });

const pageOf = <Item extends z.ZodMiniType>(item: Item) =>
  z.strictObject({
    items: z.array(item).check(z.maxLength(MAX_PAGE_SIZE)),
    nextCursor: z.optional(cursorSchema),
  });

/** `nextCursor` is absent on the last page. */
export const localReportPageSchema = pageOf(localReportItemSchema);
export const evidenceExportPageSchema = pageOf(evidenceExportSchema);
export const authoringTurnPageSchema = pageOf(authoringTurnSchema);

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

export const authoringSessionChangeSchema = z.strictObject({
  session: authoringSessionSchema,
  operation: operationResourceSchema,
});

export const rerunSchema = z.strictObject({
  run: hostedRunSchema.check(
    z.refine((run) => run.rerunOfHostedRunId !== undefined, {
      error: 'a rerun names the run that it reproduces',
      path: ['rerunOfHostedRunId'],
    }),
  ),
  operation: operationResourceSchema,
});

/** Body of a change that needs none: an empty object. */
export const emptyRequestSchema = z.strictObject({});
