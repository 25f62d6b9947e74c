/** The runner: contenders take turns, and each figure is the median of its runs. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missing, type Peer } from './peers.ts';

/** One program in a race. */
export type Contender = {
  readonly name: string;
  /** The timed command. A line with "… per second", or the output of wrk, replaces its time. */
  readonly command: readonly [string, ...string[]];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The peers that it needs. */
  readonly needs?: readonly Peer[];
  /** Runs before each run, and is not timed. */
  readonly before?: (round: number) => void;
  /** The server whose CPU time and memory are measured instead of those of the command. */
  readonly pid?: number;
  /** The number of parts of one run. If contenders differ in it, the race compares the time of one part. */
  readonly parts?: number;
  /** The number of runs, if it differs from that of the others. */
  readonly rounds?: number;
};

type Sample = { readonly speed: number; readonly cpuS?: number; readonly rssBytes?: number };

/** The measurements of one contender: medians, and the lowest and highest speed. */
export type Measured = {
  readonly name: string;
  readonly isRate: boolean;
  readonly parts: number;
  /** Parts or answers per second, or runs per second. */
  readonly speed: number;
  readonly lowest: number;
  readonly highest: number;
  readonly runs: number;
  readonly cpuS: number | undefined;
  readonly rssBytes: number | undefined;
};

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const RATE = /([\d.]+) per second|Requests\/sec: +([\d.]+)/;
// wrk counts failures and continues, but a fast failure is not a fast answer.
const FAILED = /Non-2xx.*|Socket errors.*/;

/** The CPU time so far and the highest memory of a process that runs, where there is /proc. */
function readProcess(pid: number): { readonly cpuS: number; readonly rssBytes: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const [, kib = '0'] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return { cpuS: (Number(stat[11]) + Number(stat[12])) / 100, rssBytes: Number(kib) * 1024 };
  } catch {
    return undefined;
  }
}

/** CPU time of a command with its children, and the memory of the largest of these processes, as GNU time saw them. */
function readUsage(file: string): Pick<Sample, 'cpuS' | 'rssBytes'> {
  const [user = 0, system = 0, kib = 0] = readFileSync(file, 'utf8').trim().split(' ').map(Number);
  return { cpuS: user + system, rssBytes: kib * 1024 };
}

type Run = Sample & { readonly isRate: boolean };

function runOnce(contender: Contender): Run {
  const folder = mkdtempSync(join(tmpdir(), 'drillproof-usage-'));
  try {
    return runTimed(contender, join(folder, 'usage'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function runTimed({ name, command, cwd, env, pid, parts = 1 }: Contender, usageFile: string): Run {
  const timed = missing(['time']).length === 0 && pid === undefined;
  const wrapper = timed ? ['time', '-q', '-o', usageFile, '-f', '%U %S %M'] : [];
  const [program = '', ...args] = [...wrapper, ...command];
  const earlier = pid === undefined ? undefined : readProcess(pid);
  const start = process.hrtime.bigint();
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const failure = error?.message ?? FAILED.exec(stdout)?.[0];
  if (status !== 0 || failure !== undefined)
    throw new Error(`${name} ended with ${status}: ${failure ?? (stderr || stdout).slice(-1000)}`);
  const [, ours, wrk] = RATE.exec(stdout) ?? [];
  const rate = ours ?? wrk;
  const speed = rate === undefined ? parts / seconds : Number(rate);
  const later = pid === undefined ? undefined : readProcess(pid);
  const served = earlier && later && { cpuS: later.cpuS - earlier.cpuS, rssBytes: later.rssBytes };
  return { isRate: rate !== undefined, speed, ...(timed ? readUsage(usageFile) : served) };
}

const medianOf = (samples: readonly Sample[], pick: (sample: Sample) => number | undefined) => {
  const values = samples.flatMap((sample) => pick(sample) ?? []);
  return values.length === 0 ? undefined : median(values);
};

/** Lets the contenders run in turns; each round begins with a different one. */
export function measure(contenders: readonly Contender[], rounds: number): Measured[] {
  const samples = contenders.map((): Run[] => []);
  const most = Math.max(...contenders.map((contender) => contender.rounds ?? rounds));
  for (let round = 0; round < most; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const i = (round + turn) % contenders.length;
      const contender = contenders[i]!;
      if (round >= (contender.rounds ?? rounds)) continue;
      contender.before?.(round);
      samples[i]!.push(runOnce(contender));
    }
  }
  return contenders.map(({ name, parts = 1 }, i) => {
    const all = samples[i]!;
    const speeds = all.map(({ speed }) => speed);
    return {
      name,
      isRate: all[0]!.isRate,
      parts,
      speed: median(speeds),
      lowest: Math.min(...speeds),
      highest: Math.max(...speeds),
      runs: all.length,
      cpuS: medianOf(all, ({ cpuS }) => cpuS),
      rssBytes: medianOf(all, ({ rssBytes }) => rssBytes),
    };
  });
}
