import { type Code, codeEntry } from '../../codes/catalogue.ts';
import { DrillproofError } from '../../errors.ts';
import type { MirrorEvent, OnProgress } from '../../mirror/run.ts';
import { printableJson } from '../../report/printable.ts';
import type { Cli } from '../cli.ts';
import type { ExitCode } from '../exit.ts';
import { describeFailure } from '../shared/output/failure.ts';
import { MirrorTally } from './progress.ts';

type Reason = { readonly code?: Code; readonly message: string };
type Fault = { readonly code: Code; readonly message: string; readonly action: string };
type Ended = ReturnType<typeof countFigures> & { readonly durationMs: number };

/** An event of one export. */
type ExportBody =
  | Exclude<MirrorEvent, { readonly type: 'retry' | 'failed' | 'done' }>
  | { readonly type: 'export-started' }
  | {
      readonly type: 'progress';
      readonly done: number;
      readonly of: number;
      readonly bytes: number;
      readonly totalBytes: number;
    }
  | (Fault & { readonly type: 'failed'; readonly path: string })
  | { readonly type: 'receipt'; readonly outcome: 'complete' | 'incomplete'; readonly path: string }
  | (Ended & { readonly type: 'export-done' })
  | (Fault & Ended & { readonly type: 'export-failed' });

/** What `drillproof mirror` reports to programs, one JSON object on each line, without the head of each line. */
export type MirrorEventBody =
  | (ExportBody & { readonly evidenceExportId: string })
  | { readonly type: 'run-started'; readonly tool: string; readonly source: string }
  | { readonly type: 'exports'; readonly exports: number }
  | (Reason & {
      readonly type: 'retry';
      /** Absent for the list of exports. */
      readonly evidenceExportId?: string;
      readonly path?: string;
      readonly delayMs: number;
    })
  | (Ended & Partial<Fault> & { readonly type: 'run-ended'; readonly exitCode: ExitCode });

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
      write({ type: 'run-ended', exitCode: exit, ...fault, ...figures });
    },
  };
}

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
