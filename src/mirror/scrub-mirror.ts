import { mapConcurrently } from '../bytes/concurrently.ts';
import { turn } from '../bytes/turn.ts';
import { DrillproofError } from '../errors.ts';
import { CHECKSUMS } from '../evidence/checksums.ts';
import { EXPORT_MANIFEST, type SourceFile } from '../evidence/index.ts';
import { isReceiptFile } from '../evidence/receipt.ts';
import { verifyExportTree, type ExportTreeReport } from '../verify/index.ts';
import { finding } from '../verify/finding.ts';
import { verifyReceipts } from '../verify/receipts.ts';
import { checkChecksums } from './scrub-checksums.ts';
import { journalLines, readJournal, type JournalEntry } from './scrub-journal.ts';
import { readScrub, type Scrub, type ScrubOptions } from './scrub-options.ts';
import { isDue, keyOf, standingOf } from './scrub-plan.ts';
import type { ScrubPlace, ScrubView } from './scrub-place.ts';
import { lookAtUnit, unitsOf, type Unit } from './scrub-read.ts';
import { faultsOf, outcomeOf, type MirrorScrub, type ScrubFault } from './scrub-result.ts';

/**
 * Reads one mirror of an archive again and says what is wrong with it. What was found good within `olderThanMs`, as the
 * file that still lies there, is left alone; everything else is read, oldest first, until `untilMs`. Its journal says
 * only when each file was read; it vouches for no byte. Nothing but the journal is written, and no lock is taken: a file
 * that somebody writes meanwhile is read again.
 * @throws DrillproofError `io.…` when the journal cannot be read or written; an aborted `signal` throws its reason, and
 *   what was read by then stands in the journal
 */
export async function scrubMirror(place: ScrubPlace, options: ScrubOptions): Promise<MirrorScrub> {
  const scrub = readScrub(options);
  const state = await takeUp(place, scrub);
  if (!state.due) return untouched(place, state);
  await place.journal.append(new Uint8Array()); // what cannot be noted need not be read
  const visit = new Visit(place, scrub, state);
  try {
    return await visit.run();
  } finally {
    await visit.journal.flush();
  }
}

/** What a mirror's journal and the list of its files tell before anything is read. */
type Before = {
  readonly view: ScrubView;
  readonly entries: ReadonlyMap<string, JournalEntry>;
  readonly due: boolean;
};

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

async function takeUp(place: ScrubPlace, scrub: Scrub): Promise<Before> {
  const entries = await readEntries(place, scrub);
  const view = await place.look();
  return { view, entries, due: isDue([...view.files.values()], entries, scrub.now(), scrub) };
}

/** How much of a mirror is due, as far as can be told without reading it. */
export async function leaveMirror(place: ScrubPlace, options: ScrubOptions): Promise<MirrorScrub> {
  const scrub = readScrub(options);
  const state = await takeUp(place, scrub);
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

/** Entries are made durable in batches: a kill costs reading at most these again. */
const BATCH = 64;

class JournalWriter {
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

class Visit {
  readonly journal: JournalWriter;
  private readonly place: ScrubPlace;
  private readonly scrub: Scrub;
  private readonly before: Before;
  private readonly faults: ScrubFault[] = [];
  private read = 0;
  private readBytes = 0;
  private young = 0;
  private left = 0;
  private leftBytes = 0;

  constructor(place: ScrubPlace, scrub: Scrub, before: Before) {
    this.place = place;
    this.scrub = scrub;
    this.before = before;
    this.journal = new JournalWriter(place, scrub.policy);
  }

  async run(): Promise<MirrorScrub> {
    const { view, tree } = await this.documents();
    const { manifest } = tree;
    const judges = view.judges?.(this.scrub.verify);
    try {
      const units = manifest === undefined ? [] : unitsOf(manifest, this.scrub, judges?.judgePart);
      await this.others(view, new Set(units.map(({ path }) => path)), tree);
      await this.units(view, units);
    } finally {
      await judges?.close();
    }
    return this.result(view, tree);
  }

  /** Judges the documents, and of the units those of the given paths. */
  async again(paths: ReadonlySet<string>): Promise<readonly ScrubFault[]> {
    const { view, tree } = await this.documents();
    const units = tree.manifest === undefined ? [] : unitsOf(tree.manifest, this.scrub, undefined);
    await this.others(view, new Set(units.map(({ path }) => path)), tree);
    for (const unit of units) if (paths.has(unit.path)) await this.look(view, unit);
    return this.faults;
  }

  /** Documents, checksums, receipts and the set of files. A fault is believed when the tree stood still meanwhile. */
  private async documents(): Promise<{ view: ScrubView; tree: ExportTreeReport }> {
    let { view } = this.before;
    for (let tries = 1; ; tries++) {
      const tree = await verifyExportTree(view.source, this.scrub.verify);
      const found = [
        ...faultsOf(tree.findings).filter((one) => one.found !== 'extra' || view.files.has(one.path)),
        ...(await checkReceipts(view, this.scrub)),
        ...(await checkChecksums(view, tree)),
      ];
      const after = found.length === 0 ? view : await this.place.look();
      if (tries === 4 || sameFiles(view, after)) {
        this.faults.push(...(isUnfinished(after) ? notWhole() : found));
        return { view: after, tree };
      }
      view = after;
    }
  }

  /** Everything that is no part and no report was read as the documents were. */
  private async others(view: ScrubView, listed: ReadonlySet<string>, tree: ExportTreeReport): Promise<void> {
    const faulty = new Set(this.faults.map(({ path }) => path));
    for (const file of view.files.values()) {
      if (listed.has(file.path)) continue;
      const state = tree.manifest === undefined || faulty.has(file.path) ? 'bad' : 'good';
      this.read++;
      this.readBytes += file.bytes;
      await this.note(file.path, file.identity ?? '', state);
    }
    await this.absent(view, listed, faulty);
  }

  /** What is wrong outside the files of the export (tag files of a bag, what is gone) stays due until it is right. */
  private async absent(
    view: ScrubView,
    listed: ReadonlySet<string>,
    faulty: ReadonlySet<string>,
  ): Promise<void> {
    const noted = this.before.entries.keys();
    for (const path of new Set([...faulty, ...noted])) {
      if (path === '' || view.files.has(path) || listed.has(path)) continue;
      await this.note(path, '', faulty.has(path) ? 'bad' : 'good');
    }
  }

  private async units(view: ScrubView, units: readonly Unit[]): Promise<void> {
    const nowMs = this.scrub.now();
    const rows = units.map((unit) => {
      const entry = this.before.entries.get(keyOf(unit.path));
      return { unit, ...standingOf(entry, view.files.get(unit.path), nowMs, this.scrub) };
    });
    const due = rows.filter((row) => row.due).toSorted((a, b) => a.atMs - b.atMs || 0);
    this.young = rows.length - due.length;
    this.tellPlan(due.map(({ unit }) => unit));
    let begun = 0;
    await mapConcurrently(due, this.scrub.jobs, async ({ unit }) => {
      if (begun++ % 16 === 0) await turn();
      this.scrub.verify.signal?.throwIfAborted();
      if (begun > 1 && this.scrub.now() >= this.scrub.untilMs) this.leave(unit);
      else await this.look(view, unit);
    });
  }

  private leave({ bytes }: Unit): void {
    this.left++;
    this.leftBytes += bytes;
  }

  private async look(view: ScrubView, unit: Unit): Promise<void> {
    const { faults, identity } = await lookAtUnit(this.place, view, unit);
    this.faults.push(...faults);
    if (identity !== '') {
      this.read++;
      this.readBytes += unit.bytes;
    }
    this.scrub.tell({ type: 'read', name: this.place.name, path: unit.path, bytes: unit.bytes });
    await this.note(unit.path, identity, faults.length === 0 ? 'good' : 'bad');
  }

  private async note(path: string, identity: string, state: JournalEntry['state']): Promise<void> {
    await this.journal.note({ path: keyOf(path), identity, atMs: this.scrub.now(), state });
  }

  private tellPlan(due: readonly Unit[]): void {
    const bytes = due.reduce((sum, unit) => sum + unit.bytes, 0);
    this.scrub.tell({ type: 'planned', name: this.place.name, files: due.length, bytes });
  }

  private result(view: ScrubView, { manifest, manifestDigest }: ExportTreeReport): MirrorScrub {
    const { faults, read, readBytes, young, left, leftBytes } = this;
    return {
      name: this.place.name,
      ...(manifest !== undefined && { evidenceExportId: manifest.evidenceExportId }),
      ...(manifestDigest !== undefined && { manifestDigest }),
      outcome: ifRead(outcomeOf(faults), left),
      files: view.files.size,
      read,
      readBytes,
      young,
      left,
      leftBytes,
      faults: once(faults),
    };
  }
}

/** A mirror has receipts from its first run on; an export that nobody mirrored has neither them nor checksums. */
async function checkReceipts({ source, files }: ScrubView, { verify }: Scrub): Promise<ScrubFault[]> {
  if (!files.has(CHECKSUMS) && ![...files.keys()].some(isReceiptFile)) return [];
  return faultsOf((await verifyReceipts(source, verify)).findings, 'receipts');
}

/** Nothing pins the files of a mirror that was never whole; one that was whole has checksums, if not its manifest. */
const isUnfinished = ({ unfinished, files }: ScrubView): boolean =>
  unfinished && !files.has(EXPORT_MANIFEST) && !files.has(CHECKSUMS);

/** Of a mirror that was not read to its end nobody says that it is good. */
export const ifRead = (outcome: MirrorScrub['outcome'], left: number): MirrorScrub['outcome'] =>
  outcome === 'good' && left > 0 ? 'unread' : outcome;

const signature = (file: SourceFile | undefined): string | undefined => file?.identity;

const sameFiles = (before: ScrubView, after: ScrubView): boolean =>
  before === after ||
  (before.files.size === after.files.size &&
    [...before.files].every(([path, file]) => signature(file) === signature(after.files.get(path))));

function notWhole(): ScrubFault[] {
  const message = 'a mirror is under way here, or was interrupted before it was whole';
  return faultsOf([finding('scrub.MIRROR_UNFINISHED', 'export', { path: EXPORT_MANIFEST, message })]);
}

/** A file that the set of files misses is told once, by whoever read it. */
function once(faults: readonly ScrubFault[]): ScrubFault[] {
  const seen = new Map(faults.map((fault) => [`${fault.path}\n${fault.code}`, fault]));
  return [...seen.values()];
}

/**
 * What is wrong with some files of a mirror now, after a repair: the documents are judged anew, and of the parts and
 * reports those alone.
 */
export async function relook(
  place: ScrubPlace,
  options: ScrubOptions,
  paths: ReadonlySet<string>,
): Promise<readonly ScrubFault[]> {
  const scrub = readScrub(options);
  const visit = new Visit(place, scrub, await takeUp(place, scrub));
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
