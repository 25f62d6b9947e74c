import { checkArguments, FUNCTION, OBJECT, rejectWithReason } from '../bytes/index.ts';
import { DrillproofError } from '../errors.ts';
import type { SourceFile } from '../evidence/index.ts';
import type { Code } from '../codes/index.ts';
import { leaveMirror, scrubMirror, unreadable } from './mirror.ts';
import { readEntries } from './noting.ts';
import { oldestOf } from './plan.ts';
import { readScrub, SCRUB_OPTIONS, type ScrubOptions } from './options.ts';
import type { ScrubPlace, ScrubView } from './place.ts';
import type { MirrorScrub } from './result.ts';

/** An archive as `scrubMany` needs it: the names of its mirrors, and how to open one. */
export type Mirrors = {
  readonly mirrors: readonly string[];
  open(name: string): ScrubPlace;
};

/**
 * Scrubs the mirrors of an archive, beginning with the mirror that was read the longest time ago, so that runs with a
 * time limit cover everything over time.
 * @param each receives the result of every mirror, including those for which no time was left
 * @throws as `scrubMirror` for an aborted `signal`; a mirror that cannot be read is its result
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
  let begun = 0;
  for (const name of await oldestFirst(archive, options)) {
    options.signal?.throwIfAborted();
    const place = archive.open(name);
    try {
      const over = begun++ > 0 && scrub.now() >= scrub.untilMs;
      const work = (): Promise<MirrorScrub> => (over ? leaveMirror : scrubMirror)(place, options);
      await each(await orUnreadable(place, work, options.signal), place);
    } finally {
      await place.close();
    }
  }
}

async function oldestFirst(archive: Mirrors, options: ScrubOptions): Promise<readonly string[]> {
  const scrub = readScrub(options);
  const ages: { readonly name: string; readonly oldestMs: number }[] = [];
  for (const name of archive.mirrors) {
    options.signal?.throwIfAborted();
    const place = archive.open(name);
    try {
      const entries = await readEntries(place, scrub); // a journal that cannot be read ends the run
      const files = await place.look().then(filesOf, noneIfUnreadable);
      ages.push({ name, oldestMs: oldestOf(files, entries) });
    } finally {
      await place.close();
    }
  }
  return ages.toSorted((a, b) => compare(a.oldestMs, b.oldestMs)).map(({ name }) => name);
}

const filesOf = ({ files }: ScrubView): SourceFile[] => [...files.values()];

// It is told when the mirror has its turn.
function noneIfUnreadable(cause: unknown): SourceFile[] {
  if (cause instanceof DrillproofError) return [];
  throw cause;
}

// The difference of two infinities is no number.
const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

/** A scrub writes nothing but its journals: without them no slice would ever go on where the last one stopped. */
const FATAL: ReadonlySet<Code> = new Set<Code>([
  'io.READ_ONLY',
  'io.DISK_FULL',
  'io.WRITE_FAILED',
  'internal.BUG',
]);

async function orUnreadable(
  place: ScrubPlace,
  work: () => Promise<MirrorScrub>,
  signal: AbortSignal | undefined,
): Promise<MirrorScrub> {
  try {
    return await work();
  } catch (cause) {
    signal?.throwIfAborted();
    if (!(cause instanceof DrillproofError) || FATAL.has(cause.code)) throw cause;
    return unreadable(place, cause);
  }
}
