import type { SourceFile } from '../evidence/index.ts';
import type { JournalEntry } from './journal.ts';
import type { Scrub } from './options.ts';

/** Before every time: what was never read comes first. */
const NEVER = -Infinity;

/** What a scrub knows of a file of a mirror before it reads it. */
export type Standing = {
  /** When it was read last, under this policy. */
  readonly atMs: number;
  /** Whether it is to be read. */
  readonly due: boolean;
};

/**
 * Whether a file is due: unless it was found good, as the file that lies there now, less than `olderThanMs` ago. What
 * was bad is always due, and keeps its turn.
 */
export function standingOf(
  entry: JournalEntry | undefined,
  file: SourceFile | undefined,
  nowMs: number,
  { olderThanMs }: Pick<Scrub, 'olderThanMs'>,
): Standing {
  if (entry === undefined) return { atMs: NEVER, due: true };
  const same = file?.identity !== undefined && file.identity === entry.identity;
  const young = nowMs - entry.atMs < olderThanMs;
  return { atMs: entry.atMs, due: !(same && young && entry.state === 'good') };
}

/** The name of a file in the journal, which is text that every reader reads the same. */
export const keyOf = (path: string): string => path.toWellFormed();

/** Since when at the latest every file of a mirror was read; `-Infinity` where one never was. */
export function oldestOf(files: readonly SourceFile[], entries: ReadonlyMap<string, JournalEntry>): number {
  if (files.length === 0) return NEVER;
  return files.reduce(
    (oldest, { path }) => Math.min(oldest, entries.get(keyOf(path))?.atMs ?? NEVER),
    Infinity,
  );
}

/** Whether anything in a mirror is to be read, or is not there any more. */
export function isDue(
  files: readonly SourceFile[],
  entries: ReadonlyMap<string, JournalEntry>,
  nowMs: number,
  scrub: Pick<Scrub, 'olderThanMs'>,
): boolean {
  const listed = new Set(files.map(({ path }) => keyOf(path)));
  // Where nothing lay, nothing can be gone.
  const gone = [...entries.values()].some(
    ({ path, identity, state }) => !listed.has(path) && (identity !== '' || state === 'bad'),
  );
  const due = files.some((file) => standingOf(entries.get(keyOf(file.path)), file, nowMs, scrub).due);
  return gone || due || files.length === 0;
}
