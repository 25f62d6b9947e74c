import { isDigest } from '../bytes/hash.ts';
import { compareUtf8 } from '../bytes/text/encoding.ts';
import { defined } from '../bytes/arguments.ts';
import { mapConcurrently, sumSizes, turn } from '../bytes/async.ts';
import type { ExportManifest, LocalReportRow, PartRow } from '../evidence/export/manifest.ts';
import type { SourceFile } from '../evidence/source.ts';
import { finding } from '../verify/finding.ts';
import type { Finding } from '../verify/report.ts';
import { type PartVerifier, verifyListedPart } from '../verify/part/listed-part.ts';
import { resolveSettings } from '../verify/options.ts';
import { verifyLocalReport } from '../verify/export/local-report.ts';
import { readDocuments } from './documents.ts';
import { isEvidence } from '../verify/export/mirror-files.ts';
import type { Known } from './journal.ts';
import type { Scrub, ScrubPlace, ScrubView } from './options.ts';
import { checkName, decideOutcome, toFaults } from './result.ts';
import type { MirrorScrub, ScrubFault } from '../report/many/scrubs.ts';
import { markKnown } from './known.ts';

/** One pass over a mirror. */
type Visit = {
  readonly place: ScrubPlace;
  readonly scrub: Scrub;
  readonly view: ScrubView;
  readonly known: Known;
  /** Reads these parts and reports instead of those that are due. */
  readonly only: ReadonlySet<string> | undefined;
};

/** A file that the manifest lists, and its verification. */
type Unit = {
  readonly path: string;
  readonly bytes: number;
  readonly verify: (view: ScrubView, file: SourceFile | undefined) => Promise<ScrubFault[]>;
};

/**
 * Reads the documents of a mirror, then its parts and reports in the order of the manifest, and writes the journal. A
 * reading that was stopped is continued.
 * @param only reads these parts and reports instead, which does not count as a reading of the mirror
 */
export async function readMirror(
  place: ScrubPlace,
  scrub: Scrub,
  { view: first, known }: Pick<Visit, 'view' | 'known'>,
  only?: ReadonlySet<string>,
): Promise<MirrorScrub> {
  const { row } = place.listed ?? {};
  const digest = row?.manifestDigest;
  const expect = isDigest(digest) ? { manifestDigest: digest } : undefined;
  const verify = { ...defined({ expect }), ...scrub.verify };
  const documents = await readDocuments(place, first, { ...scrub, verify });
  const { view, tree } = documents;
  const visit: Visit = { place, scrub, view, known, only };
  const threads = only === undefined ? view.startThreads?.(scrub.verify) : undefined;
  try {
    const units = tree.manifest === undefined ? [] : buildUnits(tree.manifest, scrub, threads?.verifyPart);
    const listed = new Set(units.map(({ path }) => path));
    const others = [...view.files.values()].filter(
      ({ path }) => !listed.has(path) && (tree.manifest !== undefined || !isEvidence(path)),
    );
    const before = [
      ...toFaults(checkName(place.evidenceExportId, tree.manifest)),
      ...toFaults(checkListed(place, view), ''),
      ...documents.faults,
    ];
    const { files, bytes, faults, ...counts } = await readUnits(visit, units, before);
    const all = await markKnown(place, view, sortFaults([...before, ...faults]));
    return {
      name: place.name,
      ...defined({
        evidenceExportId: tree.manifest?.evidenceExportId,
        manifestDigest: tree.manifestDigest,
      }),
      outcome: decideOutcome(all, counts.unread),
      files: view.files.size,
      read: others.length + files,
      readBytes: sumSizes(others) + bytes,
      ...counts,
      faults: all,
    };
  } finally {
    await threads?.close();
  }
}

/** Compares a mirror with the inventory of its archive, which also names a receipt. */
function checkListed({ place, listed }: ScrubPlace, { files }: ScrubView): readonly Finding[] {
  if (listed === undefined) return [];
  const { receipt } = listed.row ?? {};
  if (listed.row?.state !== 'held')
    return [finding('inventory.UNLISTED', 'export', { message: `the inventory does not name ${place}` })];
  if (receipt === undefined || files.has(receipt)) return [];
  const message = `the inventory names ${receipt}, which is missing`;
  return [finding('receipt.MISSING', 'export', { path: receipt, message })];
}

/** The parts and reports that are read before the journal is written again. */
const BATCH = 64;

async function readUnits(visit: Visit, units: readonly Unit[], before: readonly ScrubFault[]) {
  const { place, scrub, only, known } = visit;
  const { done } = known;
  const bad = new Set(known.bad);
  const isDue = (path: string, at: number) => only?.has(path) ?? (at >= done || bad.has(path));
  const due = units.map((unit, at) => ({ unit, at })).filter(({ unit, at }) => isDue(unit.path, at));
  const bytes = due.reduce((sum, { unit }) => sum + unit.bytes, 0);
  if (only === undefined) scrub.report({ type: 'planned', name: place.name, files: due.length, bytes });
  const progress = new Reading(visit, units, before);
  let [started, startedBytes] = [0, 0];
  const readNext = async ({ unit, at }: (typeof due)[number]) => {
    if (started++ % 16 === 0) await turn();
    scrub.verify.signal?.throwIfAborted();
    const isLate = scrub.now() >= scrub.untilMs || startedBytes >= scrub.maxBytes;
    if (only === undefined && started > 1 && isLate) return { unit };
    startedBytes += unit.bytes;
    const result = await readStable(place, visit.view, unit);
    scrub.report({ type: 'read', name: place.name, path: unit.path, bytes: unit.bytes });
    await progress.add(at, unit.path, result.faults);
    return { unit, result };
  };
  const results = await withSaved(progress, () => mapConcurrently(due, scrub.jobs, readNext));
  const unread = results.filter(({ result }) => result === undefined).map(({ unit }) => unit);
  const read = results.filter(({ result }) => (result?.identity ?? '') !== '').map(({ unit }) => unit);
  return {
    files: read.length,
    bytes: sumSizes(read),
    faults: results.flatMap(({ result }) => result?.faults ?? []),
    recent: units.length - due.length,
    unread: unread.length,
    unreadBytes: sumSizes(unread),
  };
}

async function withSaved<T>(progress: Reading, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await progress.save();
  }
}

/** Records in the journal how far a reading came. */
class Reading {
  private readonly visit: Visit;
  private readonly startedAtMs: number;
  private readonly finished: boolean[];
  private readonly bad: Set<string>;
  private done: number;
  private waiting = 0;

  constructor(visit: Visit, units: readonly Unit[], before: readonly ScrubFault[]) {
    const { scrub, known, only } = visit;
    this.visit = visit;
    this.done = known.done;
    this.startedAtMs = known.startedAtMs ?? scrub.now();
    this.finished = units.map((_, at) => at < known.done);
    const paths = new Set(units.map(({ path }) => path));
    // Faults of documents are found anew in every visit, and those of parts that are not read remain.
    const remaining = known.bad.filter((path) => paths.has(path) && only?.has(path) !== true);
    this.bad = new Set([...before.map(({ path }) => path), ...remaining]);
  }

  async add(at: number, path: string, faults: readonly ScrubFault[]): Promise<void> {
    this.finished[at] = true;
    if (faults.length > 0) this.bad.add(path);
    else this.bad.delete(path);
    while (this.finished[this.done] === true) this.done++;
    if (++this.waiting % BATCH === 0) await this.save();
  }

  save(): Promise<void> {
    const { place, scrub, view, known, only } = this.visit;
    const isWhole = this.done >= this.finished.length;
    const readAtMs = only === undefined && isWhole ? this.startedAtMs : known.entry?.readAtMs;
    const pass = { startedAtMs: this.startedAtMs, done: this.done };
    return place.journal.save({
      mirror: place.name,
      stamp: known.stamp,
      policy: scrub.policy,
      ...defined({ readAtMs }),
      files: view.files.size,
      bytes: sumSizes([...view.files.values()]),
      ...(only === undefined && !isWhole && { pass }),
      ...(this.bad.size > 0 && { bad: [...this.bad] }),
    });
  }
}

/** The most readings of a file that changes. */
const TRIES = 4;

/** Verifies a file that another process may be writing. A fault counts if the file did not change meanwhile. */
async function readStable(place: ScrubPlace, first: ScrubView, unit: Unit) {
  let view = first;
  for (let tries = 1; ; tries++) {
    const file = view.files.get(unit.path);
    const identity = file?.identity ?? '';
    const faults = await unit.verify(view, file);
    if (faults.length === 0 || tries === TRIES) return { faults, identity };
    const next = await place.look();
    const after = next.files.get(unit.path)?.identity ?? '';
    if (after === identity && !faults.some(({ code }) => code === 'io.CHANGED')) return { faults, identity };
    view = next;
  }
}

function buildUnits(manifest: ExportManifest, scrub: Scrub, verifyPart: PartVerifier | undefined): Unit[] {
  const { organizationId, fromAtMs, throughAtMs } = manifest;
  const options = { settings: resolveSettings(scrub.verify), verifyPart };
  const part = (row: PartRow): Unit => ({
    path: row.path,
    bytes: Number(row.bytes),
    async verify({ source }, file) {
      const listed = { row, organizationId, fromAtMs, throughAtMs };
      return listFaults(await verifyListedPart(source, file, listed, options), row.path);
    },
  });
  const report = (row: LocalReportRow): Unit => ({
    path: row.path,
    bytes: Number(row.bytes),
    verify: async ({ source }, file) =>
      listFaults(await verifyLocalReport(source, file, row, scrub.verify.signal), row.path),
  });
  return [...manifest.parts.map(part), ...manifest.localReports.map(report)];
}

// A file without a good verdict is a fault, even if there is no finding.
function listFaults(
  { findings, verdict }: { readonly findings: Parameters<typeof toFaults>[0]; readonly verdict: string },
  path: string,
): ScrubFault[] {
  const faults = toFaults(findings).map((fault) => ({ ...fault, path }));
  if (faults.length > 0 || verdict === 'verified' || verdict === 'intact') return faults;
  return toFaults([finding('io.UNREADABLE', path, { path, message: `${path} could not be verified` })]);
}

/** Removes duplicates, and sorts by path. */
function sortFaults(faults: readonly ScrubFault[]): ScrubFault[] {
  const unique = new Map(faults.map((fault) => [`${fault.path}\n${fault.code}`, fault]));
  return [...unique.values()].toSorted((a, b) => compareUtf8(a.path, b.path));
}
