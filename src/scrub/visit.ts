import { compareUtf8, mapConcurrently, turn } from '../bytes/index.ts';
import type { ExportTreeReport } from '../verify/index.ts';
import { isEvidence } from './checksums.ts';
import { readDocuments, type Documents } from './documents.ts';
import type { JournalEntry } from './journal.ts';
import { JournalWriter } from './noting.ts';
import type { Scrub } from './options.ts';
import { keyOf, standingOf } from './plan.ts';
import type { ScrubPlace, ScrubView } from './place.ts';
import { lookAtUnit, unitsOf, type Unit } from './read.ts';
import { outcomeOf, type MirrorScrub, type ScrubFault } from './result.ts';

/** What a mirror's journal and the list of its files tell before anything is read. */
export type Before = {
  readonly view: ScrubView;
  readonly entries: ReadonlyMap<string, JournalEntry>;
  readonly due: boolean;
};

/** One pass over a mirror: its documents, then what is due, oldest first. */
export class Visit {
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
    return tree.manifest === undefined ? [...this.faults, ...unjudged(paths)] : this.faults;
  }

  private async documents(): Promise<Documents> {
    const documents = await readDocuments(this.place, this.before.view, this.scrub);
    this.faults.push(...documents.faults);
    return documents;
  }

  /** Everything that is no part and no report was read as the documents were. */
  private async others(view: ScrubView, listed: ReadonlySet<string>, tree: ExportTreeReport): Promise<void> {
    const faulty = new Set(this.faults.map(({ path }) => path));
    for (const file of view.files.values()) {
      if (listed.has(file.path)) continue;
      const state = tree.manifest === undefined || faulty.has(file.path) ? 'bad' : 'good';
      if (tree.manifest !== undefined || !isEvidence(file.path)) this.count(file.bytes);
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

  private count(bytes: number): void {
    this.read++;
    this.readBytes += bytes;
  }

  private leave({ bytes }: Unit): void {
    this.left++;
    this.leftBytes += bytes;
  }

  private async look(view: ScrubView, unit: Unit): Promise<void> {
    const { faults, identity } = await lookAtUnit(this.place, view, unit);
    this.faults.push(...faults);
    if (identity !== '') this.count(unit.bytes);
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
      outcome: outcomeOf(faults, left),
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

/** Without its manifest nothing tells what a part has to be, so none is taken for right. */
function unjudged(paths: ReadonlySet<string>): ScrubFault[] {
  const message = 'without a manifest it cannot be looked at again';
  return [...paths]
    .filter(isEvidence)
    .map((path) => ({ path, found: 'unreadable', code: 'scrub.REPAIR_INCOMPLETE', message }));
}

/** A file that the set of files misses is told once. Files read at the same time are told in one order. */
function once(faults: readonly ScrubFault[]): ScrubFault[] {
  const seen = new Map(faults.map((fault) => [`${fault.path}\n${fault.code}`, fault]));
  return [...seen.values()].toSorted((a, b) => compareUtf8(a.path, b.path));
}
