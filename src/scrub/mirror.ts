import { closeAfter, rejectWithReason, sumSizes } from '../bytes/async.ts';
import { toUtf8 } from '../bytes/text/encoding.ts';
import type { Code } from '../codes/catalogue.ts';
import { DrillproofError } from '../errors.ts';
import { isEvidence } from '../verify/export/mirror-files.ts';
import { compareEntry, type Known, NEVER, shortDigest } from './journal.ts';
import { markKnown } from './known.ts';
import { readScrub, type Scrub, type ScrubOptions, type ScrubPlace, type ScrubView } from './options.ts';
import { decideOutcome, ifReadable, missingFinding, toFaults } from './result.ts';
import type { MirrorScrub, ScrubFault } from '../report/many/scrubs.ts';
import { readMirror } from './visit.ts';

/**
 * Reads one mirror of an archive again and reports what no longer matches. A file that was good within `olderThanMs`
 * and has not been replaced is skipped; everything else is read, oldest first, until `untilMs`. The journal only
 * records when each file was read. Nothing but the journal is written and no lock is taken: a file that changes
 * meanwhile is read again.
 * @throws DrillproofError `io.…` if the journal cannot be read or written
 */
export async function scrubMirror(place: ScrubPlace, options: ScrubOptions): Promise<MirrorScrub> {
  try {
    return await scrubDue(place, readScrub(options));
  } finally {
    await place.journal.flush();
  }
}

async function scrubDue(place: ScrubPlace, scrub: Scrub): Promise<MirrorScrub> {
  const known = compareEntry(await place.journal.find(place.name), await findStamp(place), scrub);
  const { entry, atMs, bad, startedAtMs } = known;
  const isRecent = scrub.now() - atMs < scrub.olderThanMs;
  if (isRecent && bad.length === 0 && startedAtMs === undefined)
    return countUnread(place, entry ?? { files: 0, bytes: 0 }, true);
  const view = await place.look();
  if (isMissing(view)) return reportMissing(place, view);
  // Of a mirror that was read not long ago, only the documents and the files with faults are read.
  const onlyBad = isRecent && startedAtMs === undefined && entry !== undefined;
  const rest: Known = onlyBad ? { ...known, done: Infinity, startedAtMs: entry.readAtMs! } : known;
  return readMirror(place, scrub, { view, known: rest });
}

async function findStamp(place: ScrubPlace): Promise<string> {
  const stamp = await place.stamp();
  return stamp === '' ? '' : shortDigest(toUtf8(stamp));
}

/** True for a place without any file, which has a name only because of the inventory, the journal or an empty folder. */
const isMissing = ({ files, unfinished }: ScrubView): boolean => files.size === 0 && !unfinished;

const NONE = { files: 0, read: 0, readBytes: 0, recent: 0, unread: 0, unreadBytes: 0 };

async function reportMissing(place: ScrubPlace, view: ScrubView): Promise<MirrorScrub> {
  const { name } = place;
  const faults = await markKnown(place, view, toFaults([missingFinding(place.place)], ''));
  return { name, outcome: decideOutcome(faults, 0), ...NONE, faults };
}

type Size = { readonly files: number; readonly bytes: number };

/** Builds the result of a mirror of which nothing was read. */
function countUnread({ name }: ScrubPlace, { files, bytes }: Size, isRecent: boolean): MirrorScrub {
  const counts = isRecent ? { recent: files } : { unread: files, unreadBytes: bytes };
  return { name, outcome: isRecent ? 'good' : 'unread', ...NONE, files, ...counts, faults: [] };
}

/** Lists the remaining faults of some files of a mirror after a repair. The documents are always read again. */
export async function checkAgain(
  place: ScrubPlace,
  options: ScrubOptions,
  paths: ReadonlySet<string>,
): Promise<readonly ScrubFault[]> {
  const scrub = readScrub(options);
  const stamp = await findStamp(place);
  const view = await place.look();
  if (isMissing(view)) return (await reportMissing(place, view)).faults;
  const entry = await place.journal.find(place.name);
  const known = { entry, stamp, atMs: NEVER, bad: entry?.bad ?? [], done: 0 };
  const { faults, evidenceExportId } = await readMirror(place, scrub, { view, known }, paths);
  return evidenceExportId === undefined ? [...faults, ...reportUnverified(paths)] : faults;
}

function reportUnverified(paths: ReadonlySet<string>): ScrubFault[] {
  const message = 'it cannot be verified without a manifest';
  return [...paths]
    .filter(isEvidence)
    .map((path) => ({ path, found: 'unreadable', code: 'scrub.REPAIR_INCOMPLETE', message }));
}

/** An archive with the names of its mirrors and a function that opens one. */
export type Mirrors = {
  readonly mirrors: readonly string[];
  open(name: string): ScrubPlace;
};

/**
 * Scrubs the mirrors of an archive, beginning with the mirror that was read the longest time ago, so that runs with a
 * time limit cover everything over time.
 * @param each receives the result of every mirror, including those after the time limit
 * @throws as `scrubMirror`, and the reason of an aborted `signal`; an unreadable mirror is a result, not an error
 */
export async function scrubMany(
  archive: Mirrors,
  options: ScrubOptions,
  each: (result: MirrorScrub, place: ScrubPlace) => Promise<void>,
): Promise<void> {
  return rejectWithReason(options.signal, () => scrubEach(archive, options, each));
}

async function scrubEach(...[archive, options, each]: Parameters<typeof scrubMany>): Promise<void> {
  const scrub = readScrub(options);
  const [first = ''] = archive.mirrors;
  const { mirrors, share, run } = await planRun(archive, scrub, options.signal);
  const isSharing = scrub.withinMs !== undefined;
  let [started, readBytes] = [0, 0];
  const scrubNext = (place: ScrubPlace, { known, isOverdue }: (typeof mirrors)[number]) => {
    const isSpent =
      isSharing && !isOverdue && started > 0 && (readBytes >= share.bytes || started >= share.mirrors);
    const isLate = started > 0 && scrub.now() >= scrub.untilMs;
    const isRecent = scrub.now() - known.atMs < (isSharing ? Infinity : scrub.olderThanMs);
    if ((isSpent || (isLate && !isRecent)) && known.bad.length === 0)
      return reportUnlessMissing(place, known, isSpent && isRecent);
    started++;
    const maxBytes = isOverdue ? Infinity : share.bytes - readBytes;
    const limits = isSharing ? { maxBytes, olderThanMs: isSpent ? Infinity : 0 } : {};
    return scrubDue(place, { ...scrub, ...limits });
  };
  try {
    for (const row of mirrors) {
      options.signal?.throwIfAborted();
      await closeAfter(archive.open(row.name), async (place) => {
        const result = await reportUnreadable(place, () => scrubNext(place, row), options.signal);
        readBytes += result.readBytes;
        await each(result, place);
      });
    }
    if (isSharing) await archive.open(first).journal.save(run);
  } finally {
    if (archive.mirrors.length > 0) await archive.open(first).journal.flush();
  }
}

/** Reports a mirror that is not read in this run. A missing one is missing in every run. */
async function reportUnlessMissing(
  place: ScrubPlace,
  { entry, done }: Known,
  isRecent: boolean,
): Promise<MirrorScrub> {
  const known = entry ?? place.listed?.row;
  const view = known === undefined || (await place.stamp()) === '' ? await place.look() : undefined;
  if (view !== undefined && isMissing(view)) return reportMissing(place, view);
  const files = view === undefined ? [] : [...view.files.values()];
  const { files: all, bytes } = known ?? { files: files.length, bytes: sumSizes(files) };
  return countUnread(place, { files: isRecent ? all : all - done, bytes }, isRecent);
}

const DAY_MS = 86_400_000;

/**
 * Orders the mirrors: with an age, those with known faults first; then those that were read longest ago. With `withinMs`,
 * also decides the share of this run, and which mirrors are read although it is used up, because their time ends before the
 * next run. As long as no size is known, the share is one of mirrors.
 */
async function planRun(archive: Mirrors, scrub: Scrub, signal: AbortSignal | undefined) {
  const { withinMs = Infinity, olderThanMs, policy } = scrub;
  const nowMs = scrub.now();
  let lastMs = nowMs - DAY_MS;
  const rows = [];
  for (const name of archive.mirrors) {
    signal?.throwIfAborted();
    const place = archive.open(name);
    const entry = await place.journal.find(name); // a journal that cannot be read ends the run
    if (rows.length === 0) lastMs = (await place.journal.find(''))?.readAtMs ?? lastMs;
    // A mirror that cannot be examined is reported when it has its turn.
    const known = compareEntry(entry, (await ifReadable(() => findStamp(place))) ?? '', scrub);
    const { row } = place.listed ?? {};
    const isUnread = known.atMs === NEVER && withinMs < Infinity;
    const ageMs = isUnread ? (row?.mirroredAtMs ?? NEVER) : known.atMs;
    rows.push({ name, known, bytes: entry?.bytes ?? row?.bytes, ageMs });
  }
  const sinceMs = Math.max(0, Math.min(nowMs - lastMs, withinMs));
  const part = withinMs === Infinity ? 1 : sinceMs / withinMs;
  const sizes = rows.flatMap(({ bytes }) => bytes ?? []);
  const mean = sizes.reduce((sum, bytes) => sum + bytes, 0) / Math.max(1, sizes.length);
  const isFirst = ({ known }: { readonly known: Known }) => olderThanMs > 0 && known.bad.length > 0;
  return {
    mirrors: rows
      // The difference of two infinities is not a number.
      .toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)) || a.ageMs - b.ageMs || 0)
      .map((row) => ({
        ...row,
        isOverdue: row.ageMs !== NEVER && row.ageMs + withinMs <= nowMs + sinceMs,
      })),
    share: {
      bytes: sizes.length === 0 ? Infinity : mean * rows.length * part,
      mirrors: sizes.length === 0 ? Math.ceil(rows.length * part) : Infinity,
    },
    run: { mirror: '', stamp: '', policy, readAtMs: nowMs, files: 0, bytes: 0 },
  };
}

/** Failures of the journal, without which no run can continue where the last one ended. */
const FATAL: ReadonlySet<Code> = new Set<Code>([
  'io.READ_ONLY',
  'io.DISK_FULL',
  'io.WRITE_FAILED',
  'io.LOCKED',
  'internal.BUG',
]);

async function reportUnreadable(
  { name }: ScrubPlace,
  work: () => Promise<MirrorScrub>,
  signal: AbortSignal | undefined,
): Promise<MirrorScrub> {
  try {
    return await work();
  } catch (cause) {
    signal?.throwIfAborted();
    if (!(cause instanceof DrillproofError) || FATAL.has(cause.code)) throw cause;
    const { code, message } = cause;
    const faults = [{ path: '', found: 'unreadable', code, message } as const];
    return { name, outcome: 'unreadable', ...NONE, faults };
  }
}
