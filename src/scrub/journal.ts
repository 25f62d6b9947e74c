import * as z from 'zod';
import { canonicalBytes, canonicalJson, digestOf, parseJson, toUtf8 } from '../bytes/index.ts';
import { digestSchema, msSchema } from '../contract/index.ts';

/** When a file was read last, as what, and what came of it. */
export type JournalEntry = {
  readonly path: string;
  /** What told the file from another one under this path; empty where there was none. */
  readonly identity: string;
  readonly atMs: number;
  readonly state: 'good' | 'bad';
};

/** Where the journal of one mirror is kept: lines of JSON, which are only ever added. */
export type ScrubJournal = {
  /** All of it; `undefined` when there is none, or when it is larger than any sound one. */
  read(): Promise<Uint8Array | undefined>;
  /** Adds whole lines, durably when it resolves. */
  append(lines: Uint8Array): Promise<void>;
  /** Puts other content in its place, in one step. */
  replace(content: Uint8Array): Promise<void>;
};

const entrySchema = z.strictObject({
  path: z.string().min(1),
  identity: z.string(),
  atMs: msSchema,
  state: z.enum(['good', 'bad']),
  policy: digestSchema,
});
const lineSchema = entrySchema.extend({ sum: digestSchema });

const NEWLINE = 0x0a;
/** So many more lines than files, and the journal is written anew. */
const SPARE_LINES = 4_096;

/** The lines of entries made under a policy, each with a sum of its own. */
export function journalLines(policy: string, entries: Iterable<JournalEntry>): Uint8Array {
  const lines = [...entries].map((entry) => {
    const row = { ...entry, policy };
    return `${canonicalJson({ ...row, sum: digestOf(canonicalBytes(row)) })}\n`;
  });
  return toUtf8(lines.join(''));
}

/** What a journal tells, and whether it should be written anew: it is torn, broken, or much longer than it needs to be. */
export type JournalContent = {
  readonly entries: ReadonlyMap<string, JournalEntry>;
  readonly worn: boolean;
};

/**
 * The last entry of each path that was made under this policy and not in the future. A journal orders the work and
 * skips by age; it never vouches for bytes, and what it cannot show whole counts for nothing: a line without its end
 * is none, and one that is broken voids all before it, because it may have said that one of them is bad.
 */
export function readJournal(bytes: Uint8Array, policy: string, nowMs: number): JournalContent {
  const entries = new Map<string, JournalEntry>();
  let lines = 0;
  let worn = bytes.length > 0 && bytes.at(-1) !== NEWLINE;
  for (let from = 0, to = bytes.indexOf(NEWLINE); to >= 0; from = to + 1, to = bytes.indexOf(NEWLINE, from)) {
    lines++;
    const row = typed(bytes.subarray(from, to));
    if (row === undefined) {
      entries.clear();
      worn = true;
      continue;
    }
    const { policy: under, ...entry } = row;
    entries.delete(entry.path);
    if (under === policy && entry.atMs <= nowMs) entries.set(entry.path, entry);
  }
  return { entries, worn: worn || lines > entries.size + SPARE_LINES };
}

function typed(line: Uint8Array): z.infer<typeof entrySchema> | undefined {
  try {
    const { sum, ...row } = lineSchema.parse(parseJson(line));
    return digestOf(canonicalBytes(row)) === sum ? row : undefined;
  } catch {
    return undefined;
  }
}
