import { checkArguments, FUNCTION, OBJECT } from '../bytes/arguments.ts';
import { closeAfter, rejectWithReason, sumSizes } from '../bytes/async.ts';
import type { Code } from '../codes/catalogue.ts';
import { DrillproofError } from '../errors.ts';
import { isEvidence } from '../verify/export/mirror-files.ts';
import { findOldest, readEntries, selectDueFiles } from './journal.ts';
import { readScrub, SCRUB_OPTIONS, type Scrub, type ScrubOptions, type ScrubPlace } from './options.ts';
import {
  decideOutcome,
  ifReadable,
  missingFinding,
  toFaults,
  type MirrorScrub,
  type ScrubFault,
} from './result.ts';
import { readMirror } from './visit.ts';

/**
 * Reads one mirror of an archive again and reports what no longer matches. A file that was good within `olderThanMs`
 * and has not been replaced is skipped; everything else is read, oldest first, until `untilMs`. The journal only
 * records when each file was read. Nothing but the journal is written and no lock is taken: a file that changes
 * meanwhile is read again.
 * @throws DrillproofError `io.…` if the journal cannot be read or written; the reason of an aborted `signal`, after the
 *   journal was written
 * @example
 * const archive = await openScrubArchive('mirrors');
 * const result = await scrubMirror(archive.open('evexp_0123456789ab'), { tool: 'nightly/1.0', depth: 'full', trust: store });
 */
export async function scrubMirror(place: ScrubPlace, options: ScrubOptions): Promise<MirrorScrub> {
  checkArguments({ place: OBJECT, options: SCRUB_OPTIONS }, { place, options });
  return rejectWithReason(options.signal, () => scrubDue(place, options));
}

async function scrubDue(place: ScrubPlace, options: ScrubOptions): Promise<MirrorScrub> {
  const scrub = readScrub(options);
  const before = await readBefore(place, scrub);
  if (isMissing(before)) return reportMissing(place);
  if (!before.isDue) return countUnread(place, before);
  await place.journal.update((content) => content); // fails before anything is read if the journal cannot be written
  return readMirror(place, scrub, before);
}

type Checked = Awaited<ReturnType<typeof readBefore>>;

async function readBefore(place: ScrubPlace, scrub: Scrub) {
  const entries = await readEntries(place, scrub);
  const view = await place.look();
  const files = [...view.files.values()];
  return { view, entries, files, ...selectDueFiles(files, entries, scrub.now(), scrub) };
}

/** True for a place without any file, which has a name only because of a journal or an empty folder. */
const isMissing = ({ files, view }: Checked): boolean => files.length === 0 && !view.unfinished;

const NONE = { files: 0, read: 0, readBytes: 0, young: 0, left: 0, leftBytes: 0 };

function reportMissing({ name, place }: ScrubPlace): MirrorScrub {
  const faults = toFaults([missingFinding(place)], '');
  return { name, outcome: decideOutcome(faults, 0), ...NONE, faults };
}

/** Builds the result of a mirror of which nothing was read. */
function countUnread({ name }: ScrubPlace, { files, dueFiles, isDue }: Checked): MirrorScrub {
  return {
    name,
    outcome: isDue ? 'unread' : 'good',
    files: files.length,
    read: 0,
    readBytes: 0,
    young: files.length - dueFiles.length,
    left: dueFiles.length,
    leftBytes: sumSizes(dueFiles),
    faults: [],
  };
}

/** Lists the remaining faults of some files of a mirror after a repair. The documents are always read again. */
export async function checkAgain(
  place: ScrubPlace,
  options: ScrubOptions,
  paths: ReadonlySet<string>,
): Promise<readonly ScrubFault[]> {
  const scrub = readScrub(options);
  const before = await readBefore(place, scrub);
  if (isMissing(before)) return reportMissing(place).faults;
  const { faults, evidenceExportId } = await readMirror(place, scrub, before, paths);
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
 * @throws as `scrubMirror` for an aborted `signal`; an unreadable mirror is a result, not an error
 * @example
 * const archive = await openScrubArchive('mirrors');
 * const options = { tool: 'nightly/1.0', untilMs: Date.now() + 3_600_000 };
 * await scrubMany(archive, options, async ({ name, outcome }) => console.log(name, outcome));
 * await archive.close();
 */
export async function scrubMany(
  archive: Mirrors,
  options: ScrubOptions,
  each: (result: MirrorScrub, place: ScrubPlace) => Promise<void>,
): Promise<void> {
  checkArguments({ archive: OBJECT, options: SCRUB_OPTIONS, each: FUNCTION }, { archive, options, each });
  return rejectWithReason(options.signal, () => scrubEach(archive, options, each));
}

async function scrubEach(...[archive, options, each]: Parameters<typeof scrubMany>): Promise<void> {
  const scrub = readScrub(options);
  let started = 0;
  for (const name of await sortByAge(archive, options, scrub)) {
    options.signal?.throwIfAborted();
    await closeAfter(archive.open(name), async (place) => {
      const isLate = started++ > 0 && scrub.now() >= scrub.untilMs;
      const result = async () => {
        const before = isLate ? await readBefore(place, scrub) : undefined;
        return before === undefined || isMissing(before)
          ? scrubDue(place, options)
          : countUnread(place, before);
      };
      await each(await reportUnreadable(place, result, options.signal), place);
    });
  }
}

async function sortByAge(archive: Mirrors, options: ScrubOptions, scrub: Scrub): Promise<readonly string[]> {
  const ages: { readonly name: string; readonly oldestMs: number }[] = [];
  for (const name of archive.mirrors) {
    options.signal?.throwIfAborted();
    const oldestMs = await closeAfter(archive.open(name), async (place) => {
      const entries = await readEntries(place, scrub); // a journal that cannot be read ends the run
      // A mirror that cannot be listed is reported when it has its turn.
      const view = await ifReadable(() => place.look());
      return findOldest([...(view?.files.values() ?? [])], entries);
    });
    ages.push({ name, oldestMs });
  }
  // The difference of two infinities is not a number.
  return ages.toSorted((a, b) => a.oldestMs - b.oldestMs || 0).map(({ name }) => name);
}

/** Failures of the journal, without which no run can continue where the last one ended. */
const FATAL: ReadonlySet<Code> = new Set<Code>([
  'io.READ_ONLY',
  'io.DISK_FULL',
  'io.WRITE_FAILED',
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
