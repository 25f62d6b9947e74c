import { platform } from '#platform';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mapConcurrently } from '../../bytes/index.ts';
import {
  ANSWERS,
  type CaseResult,
  execCase,
  type ExecOptions,
  joined,
  JUDGES,
  plain,
  readCaseFolder,
  runCase,
  type SelftestCase,
  selftestReport,
  type SelftestReport,
  type VectorFile,
} from '../../selftest/index.ts';
import type { Cli } from '../cli.ts';
import { EXIT } from '../shared/output/exit.ts';
import { createProgress } from '../shared/output/progress.ts';
import { writeSelftest } from './output.ts';
import { portableSelftest } from './platform.ts';
import { readVectors, type Selection } from './vectors.ts';
import { ownVersion } from '../shared/output/version.ts';

export type SelftestOptions = Selection & {
  readonly platform: 'native' | 'portable' | 'both';
  readonly exec?: string;
  readonly timeout: number;
  readonly jobs: number;
};

type Row = { readonly kind: string; readonly one: SelftestCase };
const rowsOf = (files: readonly VectorFile[]): Row[] =>
  files.flatMap(({ kind, cases }) => cases.map((one) => ({ kind, one })));

/** Runs the vectors against this program, or against the command of `--exec`. */
export async function selftest(cli: Cli, options: SelftestOptions): Promise<void> {
  const rows = rowsOf(await readVectors(cli, options));
  const report =
    options.exec === undefined ? await ofThis(cli, rows, options) : await ofOther(cli, rows, options);
  await writeSelftest(cli, report);
}

async function ofThis(cli: Cli, rows: readonly Row[], options: SelftestOptions): Promise<SelftestReport> {
  const here = platform.name === 'node' ? 'native' : 'portable';
  const wanted = options.platform;
  if (wanted === here) return ownReport(cli, rows);
  const there = portableSelftest(argumentsOf(options), cli.signal);
  return wanted === 'both' ? joined(await ownReport(cli, rows), await there) : there;
}

const argumentsOf = ({ vectors, kind = [], case: ids = [] }: Selection): string[] => [
  ...(vectors === undefined ? [] : ['--vectors', vectors]),
  ...kind.flatMap((one) => ['--kind', one]),
  ...ids.flatMap((one) => ['--case', one]),
];

async function ownReport(cli: Cli, rows: readonly Row[]): Promise<SelftestReport> {
  const results: CaseResult[] = [];
  for (const { kind, one } of rows) {
    cli.signal.throwIfAborted();
    const judge = JUDGES[kind];
    if (judge === undefined) results.push({ kind, id: one.id, way: platform.name, state: 'unsupported' });
    else results.push(...(await runCase(kind, one, judge, platform.name)));
  }
  return selftestReport(`drillproof ${await ownVersion()}`, results);
}

async function ofOther(cli: Cli, rows: readonly Row[], options: SelftestOptions): Promise<SelftestReport> {
  const { exec: command = '', timeout, jobs } = options;
  const scratch = await mkdtemp(join(tmpdir(), 'drillproof-selftest-'));
  try {
    const how: ExecOptions = { command, timeoutMs: timeout * 1000, scratch, signal: cli.signal };
    const progress = createProgress(cli, 'tried', 'cases');
    let done = 0;
    const results = await mapConcurrently(rows, jobs, async ({ kind, one }) => {
      cli.signal.throwIfAborted();
      const result = await execCase(kind, one, how);
      progress.update({ done: ++done, of: rows.length });
      return result;
    });
    progress.end();
    return selftestReport(command, results);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The other side of `--exec`: judges one folder, and answers by the protocol of docs/selftest.md. */
export async function selftestCase(cli: Cli, folder: string): Promise<void> {
  const { kind, input } = await readCaseFolder(folder);
  const [outcome] = (await JUDGES[kind]?.outcomes(input, 1))?.values() ?? [];
  if (outcome === undefined) {
    cli.exitCode = ANSWERS.unsupported;
    return;
  }
  const { verdict, ...facts } = plain(outcome);
  cli.exitCode = verdict === 'valid' ? EXIT.pass : EXIT.bad;
  await cli.stdout.write(`${JSON.stringify(facts)}\n`);
}
