import { count, counted, type Shard, size } from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import { EXIT, type ExitCode } from '../shared/output/exit.ts';
import { writeProduct } from '../shared/output/product.ts';
import { worstOutcome, type ScrubTotals, type TalliedFault } from './tally.ts';
import { facts, table } from '../shared/output/table.ts';

const EXITS: Readonly<Record<ReturnType<typeof worstOutcome>, ExitCode>> = {
  good: EXIT.pass,
  unread: EXIT.pass,
  damaged: EXIT.bad,
  unreadable: EXIT.unchecked,
};

/** What a scrub found, and of which share or by which machines. */
export type ScrubProduct = ScrubTotals & {
  readonly shard?: Shard;
  readonly run?: { readonly name: string; readonly workers: readonly string[] };
};

/** Tells what a scrub found, what is wrong last, and sets the exit code by it. */
export async function writeScrub(cli: Cli, totals: ScrubProduct, place: string): Promise<void> {
  const outcome = worstOutcome(totals);
  cli.exitCode = EXITS[outcome];
  await writeProduct(cli, { kind: 'scrub', place, outcome, ...totals }, scrubText(totals, outcome, place));
}

function scrubText(totals: ScrubProduct, outcome: string, place: string): string {
  const { outcomes, mirrors, read, readBytes, young, left, leftBytes, faults, moreFaults, strays } = totals;
  const { shard, run } = totals;
  const rest = [
    [outcomes.damaged, 'damaged'],
    [outcomes.unreadable, 'unreadable'],
    [outcomes.unread, 'not read to the end'],
  ] as const;
  const told = rest.filter(([times]) => times > 0).map(([times, what]) => `${count(times)} ${what}`);
  const lines = facts([
    [outcome === 'good' && left > 0 ? 'good so far' : outcome, place],
    ['shard', shard === undefined ? undefined : `${shard.index} of ${shard.count}, counted from 0`],
    ['run', run === undefined ? undefined : `${run.name}, ${counted(run.workers.length, 'worker')}`],
    ['mirrors', [`${count(mirrors)}: ${count(outcomes.good)} good`, ...told].join(', ')],
    ['read', `${counted(read, 'file')}, ${size(readBytes)}`],
    ['young', young === 0 ? undefined : `${counted(young, 'file')} found good not long ago`],
    ['left', left === 0 ? undefined : `${counted(left, 'file')}, ${size(leftBytes)}, for another run`],
    ['strays', strays.length === 0 ? undefined : strays.join(', ')],
  ]);
  const rows = faults.map((fault) => [
    whatOf(fault),
    `${fault.mirror}/${fault.path}`,
    fault.code,
    whyOf(fault),
  ]);
  const more = moreFaults === 0 ? '' : `and ${counted(moreFaults, 'fault')} more\n`;
  return rows.length === 0 ? lines : `${lines}\n${table(['found', 'file', 'code', 'why'], rows)}${more}`;
}

const whatOf = ({ found, repair }: TalliedFault): string =>
  repair === undefined ? found : repair === 'repaired' ? 'repaired' : `${found}, not repaired`;

const whyOf = ({ message, repair }: TalliedFault): string =>
  typeof repair === 'object' ? `${message}; ${repair.code}: ${repair.message}` : message;
