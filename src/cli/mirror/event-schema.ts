import * as z from 'zod/mini';
import { allow } from '../../contract/index.ts';
import { codeSchema } from '../../verify/index.ts';

const count = z.int().check(z.gte(0));
const ms = z.int().check(z.gte(0));
const head = { schemaVersion: z.literal(1), kind: z.literal('mirror.event'), atMs: ms };
export const path = z.string().check(z.describe('of the file in the export'));
export const fault = { code: codeSchema, message: z.string() };
export const action = z.string().check(z.describe('what to do'));
export const figures = {
  files: count,
  fetched: count.check(z.describe('files')),
  resumed: count.check(z.describe('files that an earlier run had begun')),
  linked: count.check(z.describe('files taken from the store')),
  kept: count.check(z.describe('files that were here and proven')),
  failed: count.check(z.describe('files')),
  bytes: count.check(z.describe('of the files that are here and proven')),
  transferredBytes: count.check(z.describe('over the network, those of no use included')),
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
    source: z.string().check(z.describe('base address of the control plane')),
  }),
  event('exports', { exports: count.check(z.describe('that this run is about')) }),
  ofExport('export-started', {}),
  ofExport('waiting', {
    state: z.string(),
    completed: count,
    of: count,
    delayMs: ms.check(z.describe('until the next look')),
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
    evidenceExportId: allow(z.string(), 'absent for the list of exports'),
    path: allow(path),
    code: allow(codeSchema),
    message: z.string(),
    delayMs: ms,
  }),
  ofExport('failed', { path, ...fault, action }),
  ofExport('receipt', { outcome: z.enum(['complete', 'incomplete']), path: z.string() }),
  ofExport('export-done', { ...figures, durationMs: ms }),
  ofExport('export-failed', { ...fault, action, ...figures, durationMs: ms }),
  event('run-ended', {
    exitCode: z.literal([0, 1, 2, 3, 130]),
    code: allow(codeSchema),
    message: allow(z.string()),
    action: allow(action),
    ...figures,
    durationMs: ms,
  }),
]);

type Line = z.infer<typeof mirrorEventSchema>;
type Body<L> = L extends unknown ? Omit<L, keyof typeof head> : never;

/** An event without what all of them have. */
export type MirrorEventBody = Body<Line>;
