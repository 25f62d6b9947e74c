import { defined } from '../../bytes/arguments.ts';
import { count, countNoun, isoTime } from '../../bytes/text/wording.ts';
import { codeEntry } from '../../codes/catalogue.ts';
import { size } from '../../report/text/page.ts';
import { renderScrubPage } from '../../report/html/pages/scrub.ts';
import type { ReportFormat } from '../../report/text/text.ts';
import type { ScrubReport } from '../../report/many/scrubs.ts';
import { stableJson } from '../../report/json.ts';
import type { ScrubArchive } from '../../node/scrub-archive.ts';
import type { MirrorScrub } from '../../report/many/scrubs.ts';
import type { Cli } from '../cli.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { SignText } from '../shared/input/signing.ts';
import { alignFacts, formatTable } from '../shared/output/product.ts';
import { type Outputs, writeRenderings } from '../shared/output/targets.ts';
import { type Gauges, writeTextfile } from '../shared/output/textfile.ts';
import { isError } from '../../scrub/result.ts';

const EXITS: Readonly<Record<ReturnType<typeof findWorstOutcome>, ExitCode>> = {
  good: EXIT.pass,
  damaged: EXIT.bad,
  unreadable: EXIT.unchecked,
};

export type ScrubProduct = Omit<ScrubReport, 'schemaVersion' | 'kind' | 'place' | 'outcome'>;

type Writing = {
  readonly outputs?: Outputs<ReportFormat>;
  readonly sign?: SignText;
  readonly textfile?: string | undefined;
  readonly oldestReadMs?: number;
};

export async function writeScrub(
  cli: Cli,
  totals: ScrubProduct,
  place: string,
  {
    outputs = { shown: cli.format, files: [], force: false, paths: [] },
    sign,
    textfile,
    oldestReadMs = 0,
  }: Writing = {},
): Promise<void> {
  const outcome = findWorstOutcome(totals);
  cli.exitCode = EXITS[outcome];
  const product = { schemaVersion: 1, kind: 'scrub', place, outcome, ...totals } as const;
  const render = {
    text: () => formatScrub(totals, outcome, place),
    json: () => stableJson(product),
    html: () => renderScrubPage(product),
  };
  await writeRenderings(cli, outputs, render, sign);
  await writeTextfile(cli, textfile, 'scrub', {
    ...listGauges(totals),
    oldest_read_timestamp_seconds: [
      'When the mirror was last read that was read longest ago; 0 if one was never read.',
      oldestReadMs / 1000,
    ],
  });
}

export function listGauges({ outcomes, read, readBytes, unread, faults, moreFaults }: ScrubTotals): Gauges {
  const open = faults.filter((fault) => isError(fault) && fault.repair !== 'repaired');
  return {
    mirrors: ['Mirrors of the last run, by their outcome.', outcomes],
    read_files: ['Files that the last run read.', read],
    read_bytes: ['Bytes that the last run read.', readBytes],
    unread_files: ['Due files that the last run did not read.', unread],
    faults: ['Faults that the last run found and did not repair.', open.length + moreFaults],
  };
}

function formatScrub(totals: ScrubProduct, outcome: string, place: string): string {
  const {
    outcomes,
    mirrors,
    read,
    readBytes,
    recent,
    unread,
    unreadBytes,
    faults,
    knownFaults,
    moreFaults,
    strays,
  } = totals;
  const { run } = totals;
  const rest = [
    [outcomes.damaged, 'damaged'],
    [outcomes.unreadable, 'unreadable'],
    [outcomes.unread, 'not read to the end'],
  ] as const;
  const counts = rest.filter(([times]) => times > 0).map(([times, what]) => `${count(times)} ${what}`);
  const lines = alignFacts([
    [outcome === 'good' && unread > 0 ? 'good so far' : outcome, place],
    ['run', run === undefined ? undefined : `${run.name}, ${countNoun(run.workers.length, 'worker')}`],
    ['mirrors', [`${count(mirrors)}: ${count(outcomes.good)} good`, ...counts].join(', ')],
    ['read', `${countNoun(read, 'file')}, ${size(readBytes)}`],
    ['recent', recent === 0 ? undefined : `${countNoun(recent, 'file')} found good not long ago`],
    [
      'unread',
      unread === 0 ? undefined : `${countNoun(unread, 'file')}, ${size(unreadBytes)}, for another run`,
    ],
    ['faults', knownFaults === 0 ? undefined : `${count(countNew(totals))} new, ${count(knownFaults)} known`],
    ['strays', strays.length === 0 ? undefined : strays.join(', ')],
  ]);
  const rows = faults.map(formatFault);
  const more = moreFaults === 0 ? '' : `and ${countNoun(moreFaults, 'fault')} more\n`;
  return rows.length === 0
    ? lines
    : `${lines}\n${formatActions(faults)}${formatTable(['found', 'file', 'code', 'why'], rows)}${more}`;
}

const countNew = ({ faults, moreFaults, knownFaults }: ScrubTotals): number =>
  faults.filter(({ repair }) => repair !== 'repaired').length + moreFaults - knownFaults;

/** The path of a file in a mirror, or of the mirror itself. */
export const joinPath = (mirror: string, path: string): string =>
  path === '' ? mirror : `${mirror}/${path}`;

function formatFault(fault: TalliedFault): readonly string[] {
  const { found, mirror, path, code, message, repair, acknowledged } = fault;
  const file = joinPath(mirror, path);
  if (acknowledged !== undefined) {
    const { by, reason, atMs } = acknowledged;
    return [`${found}, known`, file, code, `${message}; accepted by ${by} on ${isoTime(atMs)}: ${reason}`];
  }
  if (typeof repair !== 'object') return [repair ?? found, file, code, message];
  return [`${found}, not repaired`, file, code, `${message}; ${repair.code}: ${repair.message}`];
}

/** The advice of each code in the table, once; the faults stay last. */
function formatActions(faults: readonly TalliedFault[]): string {
  const codes = new Set(
    faults.flatMap(({ code, repair, acknowledged }) =>
      repair === 'repaired' || acknowledged !== undefined ? [] : [code],
    ),
  );
  const lines = [...codes].map((code) => `to do (${code}): ${codeEntry(code).action}\n`);
  return lines.length === 0 ? '' : `${lines.join('')}\n`;
}

type TalliedFault = ScrubReport['faults'][number];

/** The limit of listed faults bounds the memory of a run. */
const MAX_FAULTS = 10_000;

type ScrubTotals = Omit<ScrubReport, 'schemaVersion' | 'kind' | 'place' | 'outcome' | 'run'>;
export type Tally = { readonly totals: ScrubTotals; readonly add: (result: MirrorScrub) => void };

export function createTally({ strays, inventory }: Pick<ScrubArchive, 'strays' | 'inventory'>): Tally {
  const sums = {
    mirrors: 0,
    files: 0,
    read: 0,
    readBytes: 0,
    recent: 0,
    unread: 0,
    unreadBytes: 0,
    moreFaults: 0,
    knownFaults: 0,
  };
  const outcomes = { good: 0, damaged: 0, unreadable: 0, unread: 0 };
  const faults: TalliedFault[] = [];
  const results: Omit<MirrorScrub, 'faults'>[] = [];
  const totals = Object.assign(sums, {
    outcomes,
    results,
    faults,
    strays: [...strays],
    ...(inventory && { inventory: { number: inventory.number, ...defined({ head: inventory.head }) } }),
  });
  return {
    totals,
    add({ faults: newFaults, ...result }) {
      results.push(result);
      sums.mirrors++;
      outcomes[result.outcome]++;
      for (const name of ['files', 'read', 'readBytes', 'recent', 'unread', 'unreadBytes'] as const)
        sums[name] += result[name];
      for (const fault of newFaults) {
        if (fault.acknowledged !== undefined) sums.knownFaults++;
        const { severity, action } = codeEntry(fault.code);
        if (faults.length < MAX_FAULTS) faults.push({ mirror: result.name, ...fault, severity, action });
        else sums.moreFaults++;
      }
    },
  };
}

/** The worst outcome of any mirror. Mirrors that were not read do not count. */
const findWorstOutcome = ({ outcomes }: ScrubTotals) =>
  (['damaged', 'unreadable'] as const).find((outcome) => outcomes[outcome] > 0) ?? 'good';
