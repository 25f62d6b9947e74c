import { codeEntry } from '../../codes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { MirrorEvent, OnProgress } from '../../mirror/index.ts';
import type { Cli } from '../cli.ts';
import { eventsInFile, eventsOnStderr, type EventSink } from './event-sink.ts';
import { EXIT, type ExitCode } from '../shared/output/exit.ts';
import { failureOf } from '../shared/output/failure.ts';
import type { MirrorEventBody } from './event-schema.ts';
import { MirrorTally } from './tally.ts';
import { Meter, type Figures } from '../shared/progress/meter.ts';
import { usageError } from '../shared/options/usage.ts';

/** What a mirror tells programs. */
export type MirrorEvents = {
  readonly tell: (body: MirrorEventBody) => void;
  /** Tells the events of one export, and hands them on. */
  readonly follow: (evidenceExportId: string, next: OnProgress) => OnProgress;
  /** Before a page of the list of exports is asked for again. */
  readonly listRetry: (error: unknown, delayMs: number) => void;
  readonly exportEnded: (evidenceExportId: string, tally: MirrorTally, error?: unknown) => void;
  readonly close: (totals: MirrorTally, error?: unknown) => Promise<void>;
};

/** What comes with every chunk is told of each file, and of each export, once in so much time. */
const EVERY_MS = 1_000;

/**
 * Where the events go: to the file that is named, else with `--format json` to standard error in place of what people
 * would see there, else nowhere.
 * @throws DrillproofError `usage.INVALID`, and what `eventsInFile` throws
 */
export async function openEvents(cli: Cli, file: string | undefined): Promise<MirrorEvents> {
  const sink = await sinkOf(cli, file);
  return sink === undefined ? NONE : toSink(cli, sink);
}

async function sinkOf(cli: Cli, file: string | undefined): Promise<EventSink | undefined> {
  if (file === '-')
    throw usageError(
      '--events names a file; standard output is for the product',
      'Name a file or a pipe, such as /dev/fd/3; with --format json the events are on standard error.',
    );
  if (file !== undefined) return eventsInFile(file);
  return cli.format === 'json' && !cli.quiet ? eventsOnStderr(cli) : undefined;
}

const NONE: MirrorEvents = {
  tell() {},
  follow: (_evidenceExportId, next) => next,
  listRetry() {},
  exportEnded() {},
  close: () => Promise.resolve(),
};

function toSink(cli: Cli, sink: EventSink): MirrorEvents {
  const startedAtMs = cli.now();
  const startedExports = new Map<string, number>();
  const durationMs = (sinceMs: number): number => Math.max(0, cli.now() - sinceMs);
  const tell = (body: MirrorEventBody): void =>
    sink.write({ schemaVersion: 1, kind: 'mirror.event', atMs: cli.now(), ...body });
  return {
    tell,
    follow(evidenceExportId, next) {
      startedExports.set(evidenceExportId, cli.now());
      tell({ type: 'export-started', evidenceExportId });
      const teller = new ExportTeller(evidenceExportId, tell, cli.now());
      return (event) => {
        next(event);
        teller.take(event, cli.now());
      };
    },
    listRetry(error, delayMs) {
      tell({ type: 'retry', delayMs: Math.round(delayMs), ...reasonOf(error) });
    },
    exportEnded(evidenceExportId, tally, error) {
      const sinceMs = startedExports.get(evidenceExportId) ?? startedAtMs;
      startedExports.delete(evidenceExportId);
      const figures = { evidenceExportId, ...figuresOf(tally), durationMs: durationMs(sinceMs) };
      if (error === undefined) tell({ type: 'export-done', ...figures });
      else tell({ type: 'export-failed', ...faultOf(cli, error), ...figures });
    },
    async close(totals, error) {
      const { exitCode, ...fault } =
        error === undefined ? { exitCode: exitOf(cli.exitCode) } : endOf(cli, error);
      tell({
        type: 'run-ended',
        exitCode,
        ...fault,
        ...figuresOf(totals),
        durationMs: durationMs(startedAtMs),
      });
      await sink.close();
    },
  };
}

function endOf(cli: Cli, error: unknown) {
  const { exit, code, message, action } = failureOf(error, cli.signal.aborted);
  return { exitCode: exitOf(exit), code, message, action };
}

// Only `selftest case` has another one.
const exitOf = (code: ExitCode) => (code === EXIT.unsupported ? EXIT.unchecked : code);

function faultOf(cli: Cli, error: unknown) {
  const { code, message, action } = failureOf(error, cli.signal.aborted);
  return { code, message, action };
}

function figuresOf({ files, states, failed, provenBytes: bytes, moved, retries }: MirrorTally) {
  return { files, ...states, failed, bytes, transferredBytes: moved, retries };
}

/** Tells the events of one export, with rates, and not more often than a reader needs. */
class ExportTeller {
  private readonly evidenceExportId: string;
  private readonly tell: (body: MirrorEventBody) => void;
  private readonly tally = new MirrorTally();
  private readonly meter: Meter;
  private readonly toldAtMs = new Map<string, number>();

  constructor(evidenceExportId: string, tell: (body: MirrorEventBody) => void, nowMs: number) {
    this.evidenceExportId = evidenceExportId;
    this.tell = tell;
    this.meter = new Meter('', '', nowMs);
  }

  take(event: MirrorEvent, nowMs: number): void {
    this.tally.take(event, nowMs);
    this.meter.whole(this.tally.whole, nowMs);
    if ('path' in event) this.meter.part(event.path, this.tally.part(event.path), nowMs);
    if (event.type === 'part-done' || event.type === 'failed') this.toldAtMs.delete(event.path);
    if (event.type !== 'bytes') this.tell(this.bodyOf(event));
    else if (this.isDue(event.path, nowMs))
      this.tell({ ...this.bodyOf(event), ...this.rateOf(event.path, nowMs) });
    if (event.type === 'bytes' && this.isDue('', nowMs)) this.tellProgress(nowMs);
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
    return { type, evidenceExportId, path, delayMs: Math.round(delayMs), ...reasonOf(error) };
  }

  private tellProgress(nowMs: number): void {
    const { done, files: of, bytes, totalBytes } = this.tally;
    const { whole } = this.meter.picture(nowMs);
    const { evidenceExportId } = this;
    this.tell({ type: 'progress', evidenceExportId, done, of, bytes, totalBytes, ...speedOf(whole) });
  }

  private rateOf(path: string, nowMs: number) {
    const part = this.meter.picture(nowMs).parts.find(({ name }) => name === path);
    return part === undefined ? {} : speedOf(part);
  }
}

function speedOf({ bytesPerSecond, leftMs }: Figures) {
  return {
    ...(bytesPerSecond !== undefined && { bytesPerSecond: Math.round(bytesPerSecond) }),
    ...(leftMs !== undefined && { leftMs: Math.round(leftMs) }),
  };
}

const reasonOf = (error: unknown) =>
  error instanceof DrillproofError
    ? { code: error.code, message: error.message }
    : { message: 'the connection failed' };
