/** The schema of the events that `drillproof mirror` writes; `src/cli/mirror/events.ts` has their types. */
import * as z from 'zod/mini';
import { optionalMember, countSchema as count } from '../../src/contract/scalars.ts';
import { codeSchema } from '../../src/verify/report-schema.ts';

const head = { schemaVersion: z.literal(1), kind: z.literal('mirror.event'), atMs: count };
const pathSchema = z.string().check(z.describe('of the file in the export'));
const faultMembers = { code: codeSchema, message: z.string() };
const actionSchema = z.string().check(z.describe('what to do'));
const figuresMembers = {
  files: count,
  fetched: count.check(z.describe('files')),
  resumed: count.check(z.describe('files that an earlier run had started')),
  linked: count.check(z.describe('files taken from the store')),
  kept: count.check(z.describe('files that were already complete and verified')),
  failed: count.check(z.describe('files')),
  bytes: count.check(z.describe('of all verified files')),
  transferredBytes: count.check(z.describe('over the network, including discarded bytes')),
  retries: count,
};

const defineEvent = <const T extends string, S extends z.core.$ZodLooseShape>(type: T, members: S) =>
  z.strictObject({ ...head, type: z.literal(type), ...members });
const defineExportEvent = <const T extends string, S extends z.core.$ZodLooseShape>(type: T, members: S) =>
  defineEvent(type, { evidenceExportId: z.string(), ...members });

/** The events that `drillproof mirror` reports to programs, one JSON object on each line. */
export const mirrorEventSchema = z.discriminatedUnion('type', [
  defineEvent('run-started', {
    tool: z.string(),
    source: z.string().check(z.describe('base address of the control plane')),
  }),
  defineEvent('exports', { exports: count.check(z.describe('in this run')) }),
  defineExportEvent('export-started', {}),
  defineExportEvent('waiting', {
    state: z.string(),
    completed: count,
    of: count,
    delayMs: count.check(z.describe('until the state is read again')),
  }),
  defineExportEvent('source-deleted', {}),
  defineExportEvent('listed', { files: count, bytes: count }),
  defineExportEvent('looked', {
    path: pathSchema,
    bytes: count,
    found: z.enum(['proven', 'missing', 'damaged', 'unreadable']),
  }),
  defineExportEvent('planned', { files: count, bytes: count, missingFiles: count, missingBytes: count }),
  defineExportEvent('part-started', { path: pathSchema, bytes: count }),
  defineExportEvent('resumed', { path: pathSchema, received: count, bytes: count }),
  defineExportEvent('bytes', { path: pathSchema, received: count, bytes: count }),
  defineExportEvent('progress', { done: count, of: count, bytes: count, totalBytes: count }),
  defineExportEvent('part-done', {
    path: pathSchema,
    bytes: count,
    state: z.enum(['fetched', 'resumed', 'linked', 'kept']),
  }),
  defineEvent('retry', {
    evidenceExportId: optionalMember(z.string(), 'absent for the list of exports'),
    path: optionalMember(pathSchema),
    code: optionalMember(codeSchema),
    message: z.string(),
    delayMs: count,
  }),
  defineExportEvent('failed', { path: pathSchema, ...faultMembers, action: actionSchema }),
  defineExportEvent('receipt', { outcome: z.enum(['complete', 'incomplete']), path: z.string() }),
  defineExportEvent('export-done', { ...figuresMembers, durationMs: count }),
  defineExportEvent('export-failed', {
    ...faultMembers,
    action: actionSchema,
    ...figuresMembers,
    durationMs: count,
  }),
  defineEvent('run-ended', {
    exitCode: z.literal([0, 1, 2, 3, 130]),
    code: optionalMember(codeSchema),
    message: optionalMember(z.string()),
    action: optionalMember(actionSchema),
    ...figuresMembers,
    durationMs: count,
  }),
]);
