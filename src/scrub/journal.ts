import * as z from 'zod/mini';
import { canonicalBytes, canonicalJson, digestOf, parseJson, toUtf8 } from '../bytes/index.ts';
import { digestSchema, msSchema } from '../contract/index.ts';
import type { SourceFile } from '../evidence/index.ts';
import type { Scrub, ScrubPlace } from './options.ts';

/** When a file was last read, and the result. */
export type JournalEntry = {
  readonly path: string;
  /** The identity of the file under this path when it was read; empty if there was none. */
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

/** Entries are made durable in batches: after a kill, at most these are read again. */
const BATCH = 64;
/** The path of a file in the journal, as text that every reader reads the same. */
export const journalPath = (path: string): string => path.toWellFormed();

/** The lines of entries made under a policy, each with its own checksum. */
export function journalLines(policy: string, entries: Iterable<JournalEntry>): Uint8Array {
  const lines = [...entries].map((entry) => {
    const row = { ...entry, policy };
    return `${canonicalJson({ ...row, sum: digestOf(canonicalBytes(row)) })}\n`;
  });
  return toUtf8(lines.join(''));
}

/** The content of a journal, and whether it should be rewritten because it is damaged or much too long. */
export type JournalContent = {
  readonly entries: ReadonlyMap<string, JournalEntry>;
  readonly worn: boolean;
};

/**
 * The last entry of each path that was made under this policy and not in the future. A journal only orders the work and
 * skips files by age, and damaged content counts for nothing: a line without its end is ignored, and an invalid line
 * voids all lines before it, because it may have reported that one of them is bad.
 */
export function readJournal(bytes: Uint8Array, policy: string, nowMs: number): JournalContent {
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
    const { policy: madeUnder, ...entry } = row;
    entries.delete(entry.path);
    if (madeUnder === policy && entry.atMs <= nowMs) entries.set(entry.path, entry);
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

/** The entries of the journal of a mirror; a worn journal is rewritten. */
export async function readEntries(
  { journal }: ScrubPlace,
  { policy, now }: Scrub,
): Promise<ReadonlyMap<string, JournalEntry>> {
  const bytes = (await journal.read()) ?? new Uint8Array();
  const { entries, worn } = readJournal(bytes, policy, now());
  if (worn) await journal.replace(journalLines(policy, entries.values()));
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

  async note(path: string, identity: string, good: boolean): Promise<void> {
    const state = good ? 'good' : 'bad';
    this.waiting.push({ path: journalPath(path), identity, atMs: this.scrub.now(), state });
    if (this.waiting.length >= BATCH) await this.flush();
  }

  /** Writes one batch after another, although several files are read at once. */
  async flush(): Promise<void> {
    const entries = this.waiting.splice(0);
    if (entries.length > 0) {
      const lines = journalLines(this.scrub.policy, entries);
      this.last = this.last.then(() => this.place.journal.append(lines));
    }
    await this.last;
  }
}

/** Before every time: a file that was never read comes first. */
const NEVER = -Infinity;

/** What the journal shows about a file. */
export type Standing = {
  /** When it was last read under this policy. */
  readonly atMs: number;
  /** Whether it must be read. */
  readonly due: boolean;
};

/**
 * Whether a file is due. It is not if it was good less than `olderThanMs` ago and has the same identity now. A bad file is
 * always due, and keeps its turn.
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

/** When the file of a mirror that was read the longest time ago was read; `-Infinity` if one never was. */
export function oldestOf(files: readonly SourceFile[], entries: ReadonlyMap<string, JournalEntry>): number {
  if (files.length === 0) return NEVER;
  const timeOf = ({ path }: SourceFile): number => entries.get(journalPath(path))?.atMs ?? NEVER;
  return files.reduce((oldest, file) => Math.min(oldest, timeOf(file)), Infinity);
}

/**
 * The files of a mirror that are due. The mirror is due too if a file that the journal lists is missing, or one that was
 * missing must be looked for again.
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
    (file) => standingOf(entries.get(journalPath(file.path)), file, nowMs, scrub).due,
  );
  return { dueFiles, isDue: files.length === 0 || dueFiles.length > 0 || hasMissing };
}
