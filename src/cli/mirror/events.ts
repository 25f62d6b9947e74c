import * as z from 'zod/mini';
import { codeEntry } from '../../codes/catalogue.ts';
import { DrillproofError } from '../../errors.ts';
import type { MirrorEvent, OnProgress } from '../../mirror/run.ts';
import { printableJson } from '../../report/printable.ts';
import type { Cli } from '../cli.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { describeFailure } from '../shared/output/failure.ts';
import { MirrorTally } from './progress.ts';
import { optionalMember, countSchema as count } from '../../contract/scalars.ts';
import { codeSchema } from '../../verify/report-schema.ts';

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

type Line = z.infer<typeof mirrorEventSchema>;
type Body<L> = L extends unknown ? Omit<L, keyof typeof head> : never;

export type MirrorEventBody = Body<Line>;

export type MirrorEvents = ReturnType<typeof openEvents>;

const EVERY_MS = 1_000;

/** Opens the events of `--format json`, which replace the notes on standard error. Other formats have none. */
export function openEvents(cli: Cli) {
  const isActive = cli.format === 'json' && !cli.quiet;
  if (isActive) cli.eventsOnStderr = true;
  const startedAtMs = cli.now();
  const startedExports = new Map<string, number>();
  const durationMs = (sinceMs: number): number => Math.max(0, cli.now() - sinceMs);
  const write = (body: MirrorEventBody): void => {
    if (!isActive) return;
    const event = { schemaVersion: 1, kind: 'mirror.event', atMs: cli.now(), ...body };
    void cli.stderr.write(`${printableJson(JSON.stringify(event))}\n`);
  };
  return {
    write,
    follow(evidenceExportId: string, next: OnProgress): OnProgress {
      if (!isActive) return next;
      startedExports.set(evidenceExportId, cli.now());
      write({ type: 'export-started', evidenceExportId });
      const writeEvent = writeExportEvents(evidenceExportId, write);
      return (event) => {
        next(event);
        writeEvent(event, cli.now());
      };
    },
    listRetry(error: unknown, delayMs: number): void {
      write({ type: 'retry', delayMs: Math.round(delayMs), ...describeReason(error) });
    },
    exportEnded(evidenceExportId: string, tally: MirrorTally, error?: unknown): void {
      const sinceMs = startedExports.get(evidenceExportId) ?? startedAtMs;
      startedExports.delete(evidenceExportId);
      const figures = { evidenceExportId, ...countFigures(tally), durationMs: durationMs(sinceMs) };
      if (error === undefined) write({ type: 'export-done', ...figures });
      else write({ type: 'export-failed', ...describeFault(cli, error), ...figures });
    },
    close(totals: MirrorTally, error?: unknown): void {
      const figures = { ...countFigures(totals), durationMs: durationMs(startedAtMs) };
      const exit = error === undefined ? cli.exitCode : describeFailure(error, cli.signal.aborted).exit;
      const fault = error === undefined ? {} : describeFault(cli, error);
      write({ type: 'run-ended', exitCode: limitExit(exit), ...fault, ...figures });
    },
  };
}

// Only `selftest case` ends with this code.
const limitExit = (code: ExitCode) => (code === EXIT.unsupported ? EXIT.unchecked : code);

function describeFault(cli: Cli, error: unknown) {
  const { code, message, action } = describeFailure(error, cli.signal.aborted);
  return { code, message, action };
}

function countFigures({ files, states, failed, provenBytes: bytes, moved, retries }: MirrorTally) {
  return { files, ...states, failed, bytes, transferredBytes: moved, retries };
}

/** Writes the events of one export, but `bytes` and `progress` at most once in `EVERY_MS`. */
function writeExportEvents(evidenceExportId: string, write: (body: MirrorEventBody) => void) {
  const tally = new MirrorTally();
  const writtenAtMs = new Map<string, number>();
  const isDue = (name: string, nowMs: number): boolean => {
    if (nowMs - (writtenAtMs.get(name) ?? -Infinity) < EVERY_MS) return false;
    writtenAtMs.set(name, nowMs);
    return true;
  };
  return (event: MirrorEvent, nowMs: number): void => {
    tally.take(event, nowMs);
    if (event.type === 'part-done' || event.type === 'failed') writtenAtMs.delete(event.path);
    if (event.type !== 'bytes' || isDue(event.path, nowMs)) write(buildBody(evidenceExportId, event));
    if (event.type !== 'bytes' || !isDue('', nowMs)) return;
    const { done, files, bytes, totalBytes } = tally;
    write({ type: 'progress', evidenceExportId, done, of: files, bytes, totalBytes });
  };
}

function buildBody(evidenceExportId: string, event: MirrorEvent): MirrorEventBody {
  if (event.type === 'failed') return { ...event, evidenceExportId, action: codeEntry(event.code).action };
  if (event.type === 'done')
    return { type: 'receipt', evidenceExportId, outcome: event.outcome, path: event.receipt };
  if (event.type !== 'retry') return { ...event, evidenceExportId };
  const { type, path, delayMs, error } = event;
  return { type, evidenceExportId, path, delayMs: Math.round(delayMs), ...describeReason(error) };
}

const describeReason = (error: unknown) =>
  error instanceof DrillproofError
    ? { code: error.code, message: error.message }
    : { message: 'the connection failed' };
