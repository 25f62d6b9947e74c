import * as z from 'zod/mini';
import { concatBytes } from '../bytes/async.ts';
import { canonicalBytes, canonicalJson } from '../bytes/json/canonical.ts';
import { digestOf } from '../bytes/hash.ts';
import { parseJson } from '../bytes/json/parse.ts';
import { toUtf8 } from '../bytes/text/encoding.ts';
import { countSchema, msSchema } from '../contract/scalars.ts';
import { type LogFile, splitLines } from '../mirror/inventory.ts';

const entrySchema = z.strictObject({
  /** The name of the mirror; empty for the last run with `withinMs`. */
  mirror: z.string(),
  /** The stamp of the mirror when reading began. */
  stamp: z.string(),
  policy: z.string(),
  /** When the last reading of all files began. */
  readAtMs: z.exactOptional(msSchema),
  files: countSchema,
  bytes: countSchema,
  /** A reading that was stopped: when it began, and how many parts and reports it has read in the order of the manifest. */
  pass: z.exactOptional(z.strictObject({ startedAtMs: msSchema, done: countSchema })),
  /** The paths of files with faults. */
  bad: z.exactOptional(z.array(z.string())),
});
/** When a mirror was read, and what was found then. */
export type JournalEntry = z.infer<typeof entrySchema>;

const lineSchema = z.extend(entrySchema, { sum: z.string() });

/** Makes a short digest. It detects damage and change, and proves nothing. */
export const shortDigest = (bytes: Uint8Array): string => digestOf(bytes).slice('sha256:'.length, 23);

/** Formats the lines of entries, each with its own checksum. */
export function journalLines(entries: Iterable<JournalEntry>): Uint8Array {
  const lines = [...entries].map(
    (entry) => `${canonicalJson({ ...entry, sum: shortDigest(canonicalBytes(entry)) })}\n`,
  );
  return toUtf8(lines.join(''));
}

/**
 * Returns the last entry of each mirror. Damaged content is ignored: a line without its end, and all lines before an invalid
 * line, because that line may have reported that a file is bad.
 */
export function readJournal(content: Uint8Array): Map<string, JournalEntry> {
  const entries = new Map<string, JournalEntry>();
  for (const line of splitLines(content)) {
    const entry = parseLine(line);
    if (entry === undefined) entries.clear();
    else entries.set(entry.mirror, entry);
  }
  return entries;
}

/** Returns when each mirror was last read, by its name. A mirror that was never read to its end is absent. */
export async function readLastReads(log: LogFile): Promise<ReadonlyMap<string, number>> {
  const entries = [...readJournal((await log.read()) ?? new Uint8Array()).values()];
  return new Map(
    entries.flatMap(({ mirror, readAtMs }) => (readAtMs === undefined ? [] : [[mirror, readAtMs] as const])),
  );
}

function parseLine(line: Uint8Array): JournalEntry | undefined {
  try {
    const { sum, ...entry } = lineSchema.parse(parseJson(line));
    return shortDigest(canonicalBytes(entry)) === sum ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** The journal of an archive. */
export type ScrubJournal = {
  /** Returns the entry of a mirror. */
  find(mirror: string): Promise<JournalEntry | undefined>;
  /** Returns the names of all mirrors in it. */
  names(): Promise<readonly string[]>;
  /** Adds an entry, which is durable after `flush` at the latest. */
  save(entry: JournalEntry): Promise<void>;
  flush(): Promise<void>;
};

/** The files in entries that are written together. After a kill, about so many are read again. */
const BATCH_FILES = 64;

/**
 * Opens the journal in a log. Several processes may write to it.
 * @param waitMs writes entries this long after the first, because each write is slow; default: after 64 files
 */
export function openJournal(log: LogFile, waitMs?: number): ScrubJournal {
  let entries: Promise<Map<string, JournalEntry>> | undefined;
  const read = () => (entries ??= log.read().then((content) => readJournal(content ?? new Uint8Array())));
  let prepared: Promise<void> | undefined;
  const waiting = new Map<string, JournalEntry>();
  let [sinceMs, files] = [0, 0];
  let last: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    const lines = journalLines(waiting.values());
    waiting.clear();
    files = 0;
    if (lines.length > 0)
      last = last.then(() => log.update((content) => concatBytes([wholeLines(content), lines])));
    await last;
  };
  return {
    async find(mirror) {
      // Fails before anything is read if the journal cannot be written.
      await (prepared ??= log.update(shorten));
      return (await read()).get(mirror);
    },
    names: async () => [...(await read()).keys()].filter((name) => name !== ''),
    async save(entry) {
      (await read()).set(entry.mirror, entry);
      if (waiting.size === 0) sinceMs = performance.now();
      waiting.set(entry.mirror, entry);
      files += entry.files;
      const isDue = waitMs === undefined ? files >= BATCH_FILES : performance.now() - sinceMs >= waitMs;
      if (isDue) await flush();
    },
    flush,
  };
}

const wholeLines = (content: Uint8Array): Uint8Array => content.subarray(0, content.lastIndexOf(0x0a) + 1);

/** The bytes by which a journal may be longer than twice its entries. */
const SPARE_BYTES = 64 * 1024;

/** Writes a journal anew that is much longer than its entries. */
function shorten(content: Uint8Array): Uint8Array {
  if (content.length < SPARE_BYTES) return content;
  const anew = journalLines(readJournal(content).values());
  return content.length > 2 * anew.length + SPARE_BYTES ? anew : content;
}

/** The time of a mirror that was never read, before every other time. */
export const NEVER = -Infinity;

/** What a scrub needs to know about a mirror before it reads anything. */
export type Known = {
  readonly entry: JournalEntry | undefined;
  readonly stamp: string;
  /** When it was read completely; `NEVER` if it was not, or if it changed. */
  readonly atMs: number;
  readonly bad: readonly string[];
  /** The number of parts and reports that need not be read, because a stopped reading has read them. */
  readonly done: number;
  readonly startedAtMs?: number;
};

/** Compares the last entry of a mirror with its present stamp. An entry of another policy or in the future does not count. */
export function compareEntry(
  entry: JournalEntry | undefined,
  stamp: string,
  { policy, now }: { readonly policy: string; readonly now: () => number },
): Known {
  const { readAtMs = NEVER, bad = [], pass } = entry ?? {};
  const isUsable = entry?.policy === policy && entry.stamp === stamp && stamp !== '' && readAtMs <= now();
  if (!isUsable) return { entry, stamp, atMs: NEVER, bad: [], done: 0 };
  if (pass === undefined || pass.startedAtMs > now()) return { entry, stamp, atMs: readAtMs, bad, done: 0 };
  return { entry, stamp, atMs: readAtMs, bad, ...pass };
}
