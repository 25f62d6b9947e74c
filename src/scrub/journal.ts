import * as z from 'zod/mini';
import { canonicalBytes, canonicalJson } from '../bytes/json/canonical.ts';
import { concatBytes } from '../bytes/async.ts';
import { digestOf } from '../bytes/hash.ts';
import { parseJson } from '../bytes/json/parse.ts';
import { toUtf8 } from '../bytes/text/encoding.ts';
import { digestSchema, msSchema } from '../contract/scalars.ts';
import type { SourceFile } from '../evidence/source.ts';
import type { Scrub, ScrubPlace } from './options.ts';

/** The time and result of the last reading of a file. */
export type JournalEntry = {
  readonly path: string;
  /** The identity of the file with this path when it was read; empty if it was missing. */
  readonly identity: string;
  readonly atMs: number;
  readonly state: 'good' | 'bad';
};

const entrySchema = z.strictObject({
  path: z.string().check(z.minLength(1)),
  identity: z.string(),
  atMs: msSchema,
  state: z.enum(['good', 'bad']),
  policy: digestSchema,
});
const lineSchema = z.extend(entrySchema, { sum: digestSchema });

const NEWLINE = 0x0a;
/** The lines in excess of the number of files after which the journal is rewritten. */
const SPARE_LINES = 4_096;

/** The entries that are flushed together. After a kill, at most these files are read again. */
const BATCH = 64;
/** The path of a file in the journal, as valid UTF-16. */
export const journalPath = (path: string): string => path.toWellFormed();

/** Formats the lines of entries under a policy, each with its own checksum. */
export function journalLines(policy: string, entries: Iterable<JournalEntry>): Uint8Array {
  const lines = [...entries].map((entry) => {
    const row = { ...entry, policy };
    return `${canonicalJson({ ...row, sum: digestOf(canonicalBytes(row)) })}\n`;
  });
  return toUtf8(lines.join(''));
}

/**
 * Returns the last entry of each path that was made under this policy and not in the future. `worn` is true if the
 * journal is damaged or much too long, and must be rewritten. Damaged content is ignored: a line without its end, and all
 * lines before an invalid line, because that line may have reported that a file is bad.
 */
export function readJournal(bytes: Uint8Array, policy: string, nowMs: number) {
  const entries = new Map<string, JournalEntry>();
  let lines = 0;
  let worn = bytes.length > 0 && bytes.at(-1) !== NEWLINE;
  for (let from = 0, to = bytes.indexOf(NEWLINE); to >= 0; from = to + 1, to = bytes.indexOf(NEWLINE, from)) {
    lines++;
    const row = parseLine(bytes.subarray(from, to));
    if (row === undefined) {
      entries.clear();
      worn = true;
      continue;
    }
    const { policy: entryPolicy, ...entry } = row;
    entries.delete(entry.path);
    if (entryPolicy === policy && entry.atMs <= nowMs) entries.set(entry.path, entry);
  }
  return { entries, worn: worn || lines > entries.size + SPARE_LINES };
}

function parseLine(line: Uint8Array): z.infer<typeof entrySchema> | undefined {
  try {
    const { sum, ...row } = lineSchema.parse(parseJson(line));
    return digestOf(canonicalBytes(row)) === sum ? row : undefined;
  } catch {
    return undefined;
  }
}

/** Reads the entries of the journal of a mirror, and rewrites a worn journal. */
export async function readEntries(
  { journal }: ScrubPlace,
  { policy, now }: Scrub,
): Promise<ReadonlyMap<string, JournalEntry>> {
  const bytes = (await journal.read()) ?? new Uint8Array();
  const { entries, worn } = readJournal(bytes, policy, now());
  if (worn) await journal.update(() => journalLines(policy, entries.values()));
  return entries;
}

export class JournalWriter {
  private waiting: JournalEntry[] = [];
  private readonly place: ScrubPlace;
  private readonly scrub: Scrub;
  private last: Promise<void> = Promise.resolve();

  constructor(place: ScrubPlace, scrub: Scrub) {
    this.place = place;
    this.scrub = scrub;
  }

  async add(path: string, identity: string, good: boolean): Promise<void> {
    const state = good ? 'good' : 'bad';
    this.waiting.push({ path: journalPath(path), identity, atMs: this.scrub.now(), state });
    if (this.waiting.length >= BATCH) await this.flush();
  }

  /** Writes one batch after another, although several files are read at once. */
  async flush(): Promise<void> {
    const entries = this.waiting.splice(0);
    if (entries.length > 0) {
      const lines = journalLines(this.scrub.policy, entries);
      this.last = this.last.then(() => this.place.journal.update((old) => concatBytes([old, lines])));
    }
    await this.last;
  }
}

/** The time of a file that was never read, before every other time. */
const NEVER = -Infinity;

/**
 * Decides if a file is due, and returns the time of its last reading. It is not due if it was good less than
 * `olderThanMs` ago and has the same identity now. A bad file is always due, and keeps its turn.
 */
export function checkDue(
  entry: JournalEntry | undefined,
  file: SourceFile | undefined,
  nowMs: number,
  { olderThanMs }: Pick<Scrub, 'olderThanMs'>,
): { readonly atMs: number; readonly due: boolean } {
  if (entry === undefined) return { atMs: NEVER, due: true };
  const same = file?.identity !== undefined && file.identity === entry.identity;
  const young = nowMs - entry.atMs < olderThanMs;
  return { atMs: entry.atMs, due: !(same && young && entry.state === 'good') };
}

/** Finds the oldest time at which a file was last read; `-Infinity` if a file was never read. */
export function findOldest(files: readonly SourceFile[], entries: ReadonlyMap<string, JournalEntry>): number {
  if (files.length === 0) return NEVER;
  const timeOf = ({ path }: SourceFile): number => entries.get(journalPath(path))?.atMs ?? NEVER;
  return files.reduce((oldest, file) => Math.min(oldest, timeOf(file)), Infinity);
}

/**
 * Selects the files of a mirror that are due. The mirror is due too if a file in the journal is missing now or was missing
 * then.
 */
export function selectDueFiles(
  files: readonly SourceFile[],
  entries: ReadonlyMap<string, JournalEntry>,
  nowMs: number,
  scrub: Pick<Scrub, 'olderThanMs'>,
): { readonly dueFiles: readonly SourceFile[]; readonly isDue: boolean } {
  const listed = new Set(files.map(({ path }) => journalPath(path)));
  const hasMissing = [...entries.values()].some(
    ({ path, identity, state }) => !listed.has(path) && (identity !== '' || state === 'bad'),
  );
  const dueFiles = files.filter(
    (file) => checkDue(entries.get(journalPath(file.path)), file, nowMs, scrub).due,
  );
  return { dueFiles, isDue: files.length === 0 || dueFiles.length > 0 || hasMissing };
}
