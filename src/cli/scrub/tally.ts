import type { MirrorScrub, ScrubFault } from '../../scrub/index.ts';

/** A fault, with the mirror that it is in. */
export type TalliedFault = ScrubFault & { readonly mirror: string };

const OUTCOMES = ['good', 'damaged', 'unreadable', 'unread'] as const;
/** Faults that are told one by one; the memory of a run does not grow with what is wrong. */
const MAX_FAULTS = 10_000;

/** What the scrubs of all mirrors found, added up. */
export type ScrubTotals = {
  readonly mirrors: number;
  readonly outcomes: Readonly<Record<MirrorScrub['outcome'], number>>;
  readonly files: number;
  readonly read: number;
  readonly readBytes: number;
  readonly young: number;
  readonly left: number;
  readonly leftBytes: number;
  /** Each mirror, without its faults. */
  readonly results: readonly Omit<MirrorScrub, 'faults'>[];
  readonly faults: readonly TalliedFault[];
  readonly moreFaults: number;
  readonly strays: readonly string[];
};
export type Tally = { readonly totals: ScrubTotals; readonly add: (result: MirrorScrub) => void };

export function createTally({ strays }: { readonly strays: readonly string[] }): Tally {
  const sums = {
    mirrors: 0,
    files: 0,
    read: 0,
    readBytes: 0,
    young: 0,
    left: 0,
    leftBytes: 0,
    moreFaults: 0,
  };
  const outcomes = { good: 0, damaged: 0, unreadable: 0, unread: 0 };
  const faults: TalliedFault[] = [];
  const results: Omit<MirrorScrub, 'faults'>[] = [];
  const totals = Object.assign(sums, { outcomes, results, faults, strays });
  return {
    totals,
    add({ faults: found, ...result }) {
      results.push(result);
      sums.mirrors++;
      outcomes[result.outcome]++;
      for (const name of ['files', 'read', 'readBytes', 'young', 'left', 'leftBytes'] as const)
        sums[name] += result[name];
      for (const fault of found) {
        if (faults.length < MAX_FAULTS) faults.push({ mirror: result.name, ...fault });
        else sums.moreFaults++;
      }
    },
  };
}

/** The worst outcome of any mirror; what nobody had time for says nothing. */
export const worstOutcome = ({ outcomes }: ScrubTotals): MirrorScrub['outcome'] =>
  OUTCOMES.filter((outcome) => outcome === 'damaged' || outcome === 'unreadable').find(
    (outcome) => outcomes[outcome] > 0,
  ) ?? 'good';
