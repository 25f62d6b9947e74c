import { readFile } from 'node:fs/promises';
import { awaitOptional } from '../../../node/fs-errors.ts';
import { createNumbers, formatExposition } from '../../../server/telemetry/exposition.ts';
import type { Cli } from '../../cli.ts';
import { EXIT } from '../../exit.ts';
import { option } from '../options/option.ts';
import { describeFailure } from './failure.ts';
import { checkOutputFile, writeOutputFile } from './output-file.ts';

/** The option of a command whose runs Prometheus watches. */
export const textfileOption = () =>
  option(
    '--textfile <file>',
    'replace this file with numbers of the run for Prometheus, at its end (textfile collector of node_exporter)',
  );

/** The values of a gauge by the value of its label `state`, or the only one. */
export type Gauge = readonly [help: string, values: number | Readonly<Record<string, number>>];
/** Gauges by their name without its beginning, which is the command. */
export type Gauges = Readonly<Record<string, Gauge>>;

const SUCCESS = 'last_success_timestamp_seconds';

type Failed = {
  readonly file: string | undefined;
  readonly command: string;
  /** Gives the numbers of a run that ended with an error. */
  readonly gauges: () => Gauges;
};

/** Checks that the file can be written, and runs the command. Its work writes the file, unless it ends with an error. */
export async function watchFailure(
  cli: Cli,
  { file, command, gauges }: Failed,
  work: () => Promise<void>,
): Promise<void> {
  if (file !== undefined) await checkOutputFile(cli, file, true);
  try {
    await work();
  } catch (error) {
    const { exit: exitCode } = describeFailure(error, cli.signal.aborted);
    // The error of the command matters more than that of the file.
    await writeTextfile({ ...cli, exitCode }, file, command, gauges()).catch(() => undefined);
    throw error;
  }
}

/** Writes the numbers of a run that has set its exit code. A run that failed keeps the time of the last success. */
export async function writeTextfile(
  cli: Cli,
  file: string | undefined,
  command: string,
  gauges: Gauges,
): Promise<void> {
  if (file === undefined) return;
  const seconds = cli.now() / 1000;
  const success = cli.exitCode === EXIT.pass ? seconds : await readLastSuccess(file, command);
  const all: Gauges = {
    last_run_timestamp_seconds: ['End of the last run.', seconds],
    last_run_exit_code: ['Exit code of the last run.', cli.exitCode],
    ...(success !== undefined && { [SUCCESS]: ['End of the last run that ended with 0.', success] }),
    ...gauges,
  };
  const families = Object.entries(all).map(([name, [help, values]]) => {
    const family = createNumbers('gauge', `drillproof_${command}_${name}`, help);
    if (typeof values === 'number') family.set({}, values);
    else for (const [state, value] of Object.entries(values)) family.set({ state }, value);
    return family;
  });
  await writeOutputFile(cli, file, [Buffer.from(formatExposition(families))], { force: true, mode: 0o644 });
}

async function readLastSuccess(file: string, command: string): Promise<number | undefined> {
  const text = String((await awaitOptional(file, 'read', readFile(file))) ?? '');
  const [, value] = new RegExp(`^drillproof_${command}_${SUCCESS} ([0-9.]+)$`, 'm').exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
}
