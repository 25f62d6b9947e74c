import * as z from 'zod/mini';
import { codeEntry } from '../../codes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { MirrorEvent, OnProgress } from '../../mirror/index.ts';
import { printableJson } from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import { EXIT, type ExitCode } from '../shared/output/exit.ts';
import { toFailure } from '../shared/output/failure.ts';
import { MirrorTally } from './progress.ts';
import { allow, countSchema as count } from '../../contract/index.ts';
import { codeSchema } from '../../verify/index.ts';

const head = { schemaVersion: z.literal(1), kind: z.literal('mirror.event'), atMs: count };
const pathSchema = z.string().check(z.describe('of the file in the export'));
const faultMembers = { code: codeSchema, message: z.string() };
const actionSchema = z.string().check(z.describe('what to do'));
const figuresMembers = {
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
  defineEvent('exports', { exports: count.check(z.describe('that this run is about')) }),
  defineExportEvent('export-started', {}),
  defineExportEvent('waiting', {
    state: z.string(),
    completed: count,
    of: count,
    delayMs: count.check(z.describe('until the next look')),
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
    evidenceExportId: allow(z.string(), 'absent for the list of exports'),
    path: allow(pathSchema),
    code: allow(codeSchema),
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
    code: allow(codeSchema),
    message: allow(z.string()),
    action: allow(actionSchema),
    ...figuresMembers,
    durationMs: count,
  }),
]);

type Line = z.infer<typeof mirrorEventSchema>;
type Body<L> = L extends unknown ? Omit<L, keyof typeof head> : never;

/** An event without what all of them have. */
export type MirrorEventBody = Body<Line>;

export type MirrorEvents = {
  readonly tell: (body: MirrorEventBody) => void;
  readonly follow: (evidenceExportId: string, next: OnProgress) => OnProgress;
  readonly listRetry: (error: unknown, delayMs: number) => void;
  readonly exportEnded: (evidenceExportId: string, tally: MirrorTally, error?: unknown) => void;
  readonly close: (totals: MirrorTally, error?: unknown) => void;
};

/** Progress of each file and each export is reported at most once in this time. */
const EVERY_MS = 1_000;

/** With `--format json` events replace the text for people on standard error; otherwise there are none. */
export function openEvents(cli: Cli): MirrorEvents {
  if (cli.format !== 'json' || cli.quiet) return NONE;
  cli.eventsOnStderr = true;
  return writeEvents(cli);
}

const NONE: MirrorEvents = {
  tell() {},
  follow: (_evidenceExportId, next) => next,
  listRetry() {},
  exportEnded() {},
  close() {},
};

function writeEvents(cli: Cli): MirrorEvents {
  const startedAtMs = cli.now();
  const startedExports = new Map<string, number>();
  const durationMs = (sinceMs: number): number => Math.max(0, cli.now() - sinceMs);
  const write = (body: MirrorEventBody): void =>
    void cli.stderr.write(formatEvent({ schemaVersion: 1, kind: 'mirror.event', atMs: cli.now(), ...body }));
  return {
    tell: write,
    follow(evidenceExportId, next) {
      startedExports.set(evidenceExportId, cli.now());
      write({ type: 'export-started', evidenceExportId });
      const teller = new ExportEvents(evidenceExportId, write);
      return (event) => {
        next(event);
        teller.take(event, cli.now());
      };
    },
    listRetry(error, delayMs) {
      write({ type: 'retry', delayMs: Math.round(delayMs), ...describeReason(error) });
    },
    exportEnded(evidenceExportId, tally, error) {
      const sinceMs = startedExports.get(evidenceExportId) ?? startedAtMs;
      startedExports.delete(evidenceExportId);
      const figures = { evidenceExportId, ...countFigures(tally), durationMs: durationMs(sinceMs) };
      if (error === undefined) write({ type: 'export-done', ...figures });
      else write({ type: 'export-failed', ...describeFault(cli, error), ...figures });
    },
    close(totals, error) {
      const { exitCode, ...fault } =
        error === undefined ? { exitCode: limitExit(cli.exitCode) } : describeEnd(cli, error);
      write({
        type: 'run-ended',
        exitCode,
        ...fault,
        ...countFigures(totals),
        durationMs: durationMs(startedAtMs),
      });
    },
  };
}

const formatEvent = (event: object): string => `${printableJson(JSON.stringify(event))}\n`;

function describeEnd(cli: Cli, error: unknown) {
  const { exit, code, message, action } = toFailure(error, cli.signal.aborted);
  return { exitCode: limitExit(exit), code, message, action };
}

// Only `selftest case` has another one.
const limitExit = (code: ExitCode) => (code === EXIT.unsupported ? EXIT.unchecked : code);

function describeFault(cli: Cli, error: unknown) {
  const { code, message, action } = toFailure(error, cli.signal.aborted);
  return { code, message, action };
}

function countFigures({ files, states, failed, provenBytes: bytes, moved, retries }: MirrorTally) {
  return { files, ...states, failed, bytes, transferredBytes: moved, retries };
}

/** Writes the events of one export, `bytes` not more often than a reader needs. */
class ExportEvents {
  private readonly evidenceExportId: string;
  private readonly tell: (body: MirrorEventBody) => void;
  private readonly tally = new MirrorTally();
  private readonly toldAtMs = new Map<string, number>();

  constructor(evidenceExportId: string, tell: (body: MirrorEventBody) => void) {
    this.evidenceExportId = evidenceExportId;
    this.tell = tell;
  }

  take(event: MirrorEvent, nowMs: number): void {
    this.tally.take(event, nowMs);
    if (event.type === 'part-done' || event.type === 'failed') this.toldAtMs.delete(event.path);
    if (event.type !== 'bytes' || this.isDue(event.path, nowMs)) this.tell(this.bodyOf(event));
    if (event.type === 'bytes' && this.isDue('', nowMs)) this.tellProgress();
  }

  private isDue(name: string, nowMs: number): boolean {
    if (nowMs - (this.toldAtMs.get(name) ?? -Infinity) < EVERY_MS) return false;
    this.toldAtMs.set(name, nowMs);
    return true;
  }

  private bodyOf(event: MirrorEvent): MirrorEventBody {
    const { evidenceExportId } = this;
    if (event.type === 'failed') return { ...event, evidenceExportId, action: codeEntry(event.code).action };
    if (event.type === 'done')
      return { type: 'receipt', evidenceExportId, outcome: event.outcome, path: event.receipt };
    if (event.type !== 'retry') return { ...event, evidenceExportId };
    const { type, path, delayMs, error } = event;
    return { type, evidenceExportId, path, delayMs: Math.round(delayMs), ...describeReason(error) };
  }

  private tellProgress(): void {
    const { done, files: of, bytes, totalBytes } = this.tally;
    this.tell({ type: 'progress', evidenceExportId: this.evidenceExportId, done, of, bytes, totalBytes });
  }
}

const describeReason = (error: unknown) =>
  error instanceof DrillproofError
    ? { code: error.code, message: error.message }
    : { message: 'the connection failed' };
