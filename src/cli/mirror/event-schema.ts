import * as z from 'zod';
import { codeSchema } from '../../verify/index.ts';

const count = z.int().min(0);
const ms = z.int().min(0);
const head = { schemaVersion: z.literal(1), kind: z.literal('mirror.event'), atMs: ms };
export const path = z.string().describe('of the file in the export');
export const fault = { code: codeSchema, message: z.string() };
export const action = z.string().describe('what to do');
export const figures = {
  files: count,
  fetched: count.describe('files'),
  resumed: count.describe('files that an earlier run had begun'),
  linked: count.describe('files taken from the store'),
  kept: count.describe('files that were here and proven'),
  failed: count.describe('files'),
  bytes: count.describe('of the files that are here and proven'),
  transferredBytes: count.describe('over the network, those of no use included'),
  retries: count,
};

export const event = <const T extends string, S extends z.core.$ZodLooseShape>(type: T, members: S) =>
  z.strictObject({ ...head, type: z.literal(type), ...members });
const ofExport = <const T extends string, S extends z.core.$ZodLooseShape>(type: T, members: S) =>
  event(type, { evidenceExportId: z.string(), ...members });

/** What `drillproof mirror` tells programs while it runs, one JSON object on each line. */
export const mirrorEventSchema = z.discriminatedUnion('type', [
  event('run-started', {
    tool: z.string(),
    source: z.string().describe('base address of the control plane'),
  }),
  event('exports', { exports: count.describe('that this run is about') }),
  ofExport('export-started', {}),
  ofExport('waiting', {
    state: z.string(),
    completed: count,
    of: count,
    delayMs: ms.describe('until the next look'),
  }),
  ofExport('source-deleted', {}),
  ofExport('listed', { files: count, bytes: count }),
  ofExport('looked', { path, bytes: count, found: z.enum(['proven', 'missing', 'damaged', 'unreadable']) }),
  ofExport('planned', { files: count, bytes: count, missingFiles: count, missingBytes: count }),
  ofExport('part-started', { path, bytes: count }),
  ofExport('resumed', { path, received: count, bytes: count }),
  ofExport('bytes', { path, received: count, bytes: count }),
  ofExport('progress', { done: count, of: count, bytes: count, totalBytes: count }),
  ofExport('part-done', { path, bytes: count, state: z.enum(['fetched', 'resumed', 'linked', 'kept']) }),
  event('retry', {
    evidenceExportId: z.string().exactOptional().describe('absent for the list of exports'),
    path: path.exactOptional(),
    code: codeSchema.exactOptional(),
    message: z.string(),
    delayMs: ms,
  }),
  ofExport('failed', { path, ...fault, action }),
  ofExport('receipt', { outcome: z.enum(['complete', 'incomplete']), path: z.string() }),
  ofExport('export-done', { ...figures, durationMs: ms }),
  ofExport('export-failed', { ...fault, action, ...figures, durationMs: ms }),
  event('run-ended', {
    exitCode: z.literal([0, 1, 2, 3, 130]),
    code: codeSchema.exactOptional(),
    message: z.string().exactOptional(),
    action: action.exactOptional(),
    ...figures,
    durationMs: ms,
  }),
]);

type Line = z.infer<typeof mirrorEventSchema>;
type Body<L> = L extends unknown ? Omit<L, keyof typeof head> : never;

/** An event without what all of them have. */
export type MirrorEventBody = Body<Line>;
