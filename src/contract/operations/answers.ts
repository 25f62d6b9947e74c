import * as z from 'zod/mini';
import {
  type AuthoringSession,
  authoringSessionSchema,
  type AuthoringTurn,
  authoringTurnSchema,
} from '../resources/authoring.ts';
import {
  type EvidenceExport,
  evidenceExportSchema,
  type LocalReportItem,
  localReportItemSchema,
} from '../resources/evidence.ts';
import { type OperationResource, operationResourceSchema } from '../resources/operation.ts';
import { type HostedRun, hostedRunSchema } from '../resources/run.ts';
import { type WorldSession, worldSessionSchema } from '../resources/session.ts';
import { textSchema } from '../scalars.ts';

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 50;

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

/** A page of a list. `nextCursor` is absent on the last page. */
export type PageOf<Item> = { items: Item[]; nextCursor?: string | undefined };
const pageOf = <Item>(item: z.ZodMiniType<Item>): z.ZodMiniType<PageOf<Item>> =>
  z.strictObject({
    items: z.array(item).check(z.maxLength(MAX_PAGE_SIZE)),
    nextCursor: z.optional(cursorSchema),
  });

export const localReportPageSchema = pageOf<LocalReportItem>(localReportItemSchema);
export const evidenceExportPageSchema = pageOf<EvidenceExport>(evidenceExportSchema);
export const authoringTurnPageSchema = pageOf<AuthoringTurn>(authoringTurnSchema);

// Answers that join a resource and the operation that changed it.

type Changed<Resources> = z.ZodMiniType<Resources & { operation: OperationResource }>;

export const sessionExtensionSchema: Changed<{ session: WorldSession }> = z.strictObject({
  session: worldSessionSchema,
  operation: operationResourceSchema,
});

export const authoringTurnCreationSchema: Changed<{ session: AuthoringSession; turn: AuthoringTurn }> =
  z.strictObject({
    session: authoringSessionSchema,
    turn: authoringTurnSchema,
    operation: operationResourceSchema,
  });

export const authoringSessionChangeSchema: Changed<{ session: AuthoringSession }> = z.strictObject({
  session: authoringSessionSchema,
  operation: operationResourceSchema,
});

export const rerunSchema: Changed<{ run: HostedRun }> = z.strictObject({
  run: hostedRunSchema.check(
    z.refine((run) => run.rerunOfHostedRunId !== undefined, {
      error: 'a rerun names the run that it reproduces',
      path: ['rerunOfHostedRunId'],
    }),
  ),
  operation: operationResourceSchema,
});

export const emptyRequestSchema = z.strictObject({});
