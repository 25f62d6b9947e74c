import { journalLines, readJournal, type JournalEntry } from './journal.ts';
import type { Scrub } from './options.ts';
import type { ScrubPlace } from './place.ts';

/** What the journal of a mirror tells; one that is worn is written anew. */
export async function readEntries(
  place: ScrubPlace,
  scrub: Scrub,
): Promise<ReadonlyMap<string, JournalEntry>> {
  const bytes = (await place.journal.read()) ?? new Uint8Array();
  const { entries, worn } = readJournal(bytes, scrub.policy, scrub.now());
  if (worn) await place.journal.replace(journalLines(scrub.policy, entries.values()));
  return entries;
}

/** Entries are made durable in batches: a kill costs reading at most these again. */
const BATCH = 64;

/** Notes what was read in the journal of a mirror. */
export class JournalWriter {
  private waiting: JournalEntry[] = [];
  private readonly place: ScrubPlace;
  private readonly policy: string;
  private last: Promise<void> = Promise.resolve();

  constructor(place: ScrubPlace, policy: string) {
    this.place = place;
    this.policy = policy;
  }

  async note(entry: JournalEntry): Promise<void> {
    this.waiting.push(entry);
    if (this.waiting.length >= BATCH) await this.flush();
  }

  /** One batch after another, though several files are read at once. */
  async flush(): Promise<void> {
    const entries = this.waiting.splice(0);
    if (entries.length > 0) {
      const lines = journalLines(this.policy, entries);
      this.last = this.last.then(() => this.place.journal.append(lines));
    }
    await this.last;
  }
}
