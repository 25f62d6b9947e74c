import { checkArguments, OBJECT, rejectWithReason } from '../bytes/index.ts';
import type { DrillproofError } from '../errors.ts';
import { readEntries } from './noting.ts';
import { readScrub, SCRUB_OPTIONS, type Scrub, type ScrubOptions } from './options.ts';
import { isDue, keyOf, standingOf } from './plan.ts';
import type { ScrubPlace } from './place.ts';
import type { MirrorScrub, ScrubFault } from './result.ts';
import { Visit, type Before } from './visit.ts';

/**
 * Reads one mirror of an archive again and reports what no longer matches. A file that was good within `olderThanMs`
 * and has not been replaced is skipped; everything else is read, oldest first, until `untilMs`. The journal only
 * records when each file was read. Nothing but the journal is written and no lock is taken: a file that changes
 * meanwhile is read again.
 * @throws DrillproofError `io.…` if the journal cannot be read or written; the reason of an aborted `signal`, after the
 *   journal was written
 * @example
 * const archive = await openScrubArchive('mirrors');
 * const result = await scrubMirror(archive.open('2026-01'), { tool: 'nightly/1.0', depth: 'full', trust: store });
 */
export async function scrubMirror(place: ScrubPlace, options: ScrubOptions): Promise<MirrorScrub> {
  checkArguments({ place: OBJECT, options: SCRUB_OPTIONS }, { place, options });
  return rejectWithReason(options.signal, () => scrubDue(place, options));
}

async function scrubDue(place: ScrubPlace, options: ScrubOptions): Promise<MirrorScrub> {
  const scrub = readScrub(options);
  const state = await readBefore(place, scrub);
  if (!state.due) return untouched(place, state);
  await place.journal.append(new Uint8Array()); // what cannot be noted need not be read
  const visit = new Visit(place, scrub, state);
  try {
    return await visit.run();
  } finally {
    await visit.journal.flush();
  }
}

async function readBefore(place: ScrubPlace, scrub: Scrub): Promise<Before> {
  const entries = await readEntries(place, scrub);
  const view = await place.look();
  return { view, entries, due: isDue([...view.files.values()], entries, scrub.now(), scrub) };
}

/** How much of a mirror is due, as far as can be told without reading it. */
export async function leaveMirror(place: ScrubPlace, options: ScrubOptions): Promise<MirrorScrub> {
  const scrub = readScrub(options);
  const state = await readBefore(place, scrub);
  if (!state.due) return untouched(place, state);
  const files = [...state.view.files.values()];
  const due = files.filter(
    (file) => standingOf(state.entries.get(keyOf(file.path)), file, scrub.now(), scrub).due,
  );
  return {
    ...untouched(place, state),
    outcome: 'unread',
    young: files.length - due.length,
    left: due.length,
    leftBytes: due.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function untouched({ name }: ScrubPlace, { view }: Before): MirrorScrub {
  const files = view.files.size;
  return {
    name,
    outcome: 'good',
    files,
    read: 0,
    readBytes: 0,
    young: files,
    left: 0,
    leftBytes: 0,
    faults: [],
  };
}

/**
 * What is wrong with some files of a mirror now, after a repair: the documents are judged anew, and of the parts and
 * reports those alone.
 */
export async function checkAgain(
  place: ScrubPlace,
  options: ScrubOptions,
  paths: ReadonlySet<string>,
): Promise<readonly ScrubFault[]> {
  const scrub = readScrub(options);
  const visit = new Visit(place, scrub, await readBefore(place, scrub));
  try {
    return await visit.again(paths);
  } finally {
    await visit.journal.flush();
  }
}

/** What kept a mirror from being looked at, as its result. */
export function unreadable(
  { name }: Pick<ScrubPlace, 'name'>,
  { code, message }: DrillproofError,
): MirrorScrub {
  const faults: ScrubFault[] = [{ path: '', found: 'unreadable', code, message }];
  const none = { files: 0, read: 0, readBytes: 0, young: 0, left: 0, leftBytes: 0 };
  return { name, outcome: 'unreadable', ...none, faults };
}
