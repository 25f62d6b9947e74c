import { compareUtf8 } from '../bytes/text/encoding.ts';
import { defined } from '../bytes/arguments.ts';
import { mapConcurrently, sumSizes, turn } from '../bytes/async.ts';
import type { ExportManifest, LocalReportRow, PartRow } from '../evidence/export/manifest.ts';
import type { SourceFile } from '../evidence/source.ts';
import { finding } from '../verify/finding.ts';
import { type PartVerifier, verifyListedPart } from '../verify/part/listed-part.ts';
import { resolveSettings } from '../verify/options.ts';
import { verifyLocalReport } from '../verify/export/local-report.ts';
import { type Documents, readDocuments } from './documents.ts';
import { isEvidence } from '../verify/export/mirror-files.ts';
import { type JournalEntry, journalPath, JournalWriter, checkDue } from './journal.ts';
import type { Scrub, ScrubPlace, ScrubView } from './options.ts';
import { checkName, decideOutcome, toFaults, type MirrorScrub, type ScrubFault } from './result.ts';

/** The journal and the list of files before anything is read. */
type Before = {
  readonly view: ScrubView;
  readonly entries: ReadonlyMap<string, JournalEntry>;
};

/** One pass over a mirror. */
type Visit = Before & {
  readonly place: ScrubPlace;
  readonly scrub: Scrub;
  readonly journal: JournalWriter;
  /** Reads these parts and reports instead of those that are due. */
  readonly only: ReadonlySet<string> | undefined;
};

/** A file that the manifest lists, and its verification. */
type Unit = {
  readonly path: string;
  readonly bytes: number;
  readonly verify: (view: ScrubView, file: SourceFile | undefined) => Promise<ScrubFault[]>;
};

/** Reads the documents of a mirror, then its parts and reports that are due, oldest first. */
export async function readMirror(
  place: ScrubPlace,
  scrub: Scrub,
  before: Before,
  only?: ReadonlySet<string>,
): Promise<MirrorScrub> {
  const journal = new JournalWriter(place, scrub);
  try {
    return await readAll({ ...before, place, scrub, journal, only });
  } finally {
    await journal.flush();
  }
}

async function readAll(visit: Visit): Promise<MirrorScrub> {
  const { place, scrub } = visit;
  const documents = await readDocuments(place, visit.view, scrub);
  const { view, tree } = documents;
  const threads = visit.only === undefined ? await view.startThreads?.(scrub.verify) : undefined;
  try {
    const units = tree.manifest === undefined ? [] : buildUnits(tree.manifest, scrub, threads?.verifyPart);
    const others = await recordDocuments(visit, documents, new Set(units.map(({ path }) => path)));
    const { files, bytes, faults, ...counts } = await readUnits(visit, view, units);
    const all = sortFaults([
      ...toFaults(checkName(place.evidenceExportId, tree.manifest)),
      ...documents.faults,
      ...faults,
    ]);
    return {
      name: place.name,
      ...defined({
        evidenceExportId: tree.manifest?.evidenceExportId,
        manifestDigest: tree.manifestDigest,
      }),
      outcome: decideOutcome(all, counts.left),
      files: view.files.size,
      read: others.files + files,
      readBytes: others.bytes + bytes,
      ...counts,
      faults: all,
    };
  } finally {
    await threads?.close();
  }
}

/** Records every file that is not a part or report. `readDocuments` has read them. */
async function recordDocuments(
  { journal, entries }: Visit,
  { view, tree, faults }: Documents,
  units: ReadonlySet<string>,
) {
  const complete = tree.manifest !== undefined;
  const faulty = new Set(faults.map(({ path }) => path));
  const others = [...view.files.values()].filter(({ path }) => !units.has(path));
  for (const { path, identity = '' } of others)
    await journal.add(path, identity, complete && !faulty.has(path));
  // Missing files, and faulty files outside the export (tag files of a bag), stay due until they are right.
  for (const path of new Set([...faulty, ...entries.keys()]))
    if (path !== '' && !view.files.has(path) && !units.has(path))
      await journal.add(path, '', !faulty.has(path));
  const read = others.filter(({ path }) => complete || !isEvidence(path));
  return { files: read.length, bytes: sumSizes(read) };
}

async function readUnits(visit: Visit, view: ScrubView, units: readonly Unit[]) {
  const { place, scrub, only } = visit;
  const due = selectDue(visit, view, units);
  if (only === undefined)
    scrub.report({ type: 'planned', name: place.name, files: due.length, bytes: sumSizes(due) });
  let started = 0;
  const results = await mapConcurrently(due, scrub.jobs, async (unit) => {
    if (started++ % 16 === 0) await turn();
    scrub.verify.signal?.throwIfAborted();
    const isLate = only === undefined && started > 1 && scrub.now() >= scrub.untilMs;
    return isLate ? { unit } : { unit, result: await readUnit(visit, view, unit) };
  });
  const unread = results.filter(({ result }) => result === undefined).map(({ unit }) => unit);
  const read = results.filter(({ result }) => (result?.identity ?? '') !== '').map(({ unit }) => unit);
  return {
    files: read.length,
    bytes: sumSizes(read),
    faults: results.flatMap(({ result }) => result?.faults ?? []),
    young: units.length - due.length,
    left: unread.length,
    leftBytes: sumSizes(unread),
  };
}

function selectDue({ scrub, entries, only }: Visit, view: ScrubView, units: readonly Unit[]): Unit[] {
  if (only !== undefined) return units.filter(({ path }) => only.has(path));
  const nowMs = scrub.now();
  return units
    .map((unit) => {
      const entry = entries.get(journalPath(unit.path));
      return { unit, ...checkDue(entry, view.files.get(unit.path), nowMs, scrub) };
    })
    .filter(({ due }) => due)
    .toSorted((a, b) => a.atMs - b.atMs || 0)
    .map(({ unit }) => unit);
}

/** The most readings of a file that changes. */
const TRIES = 4;

async function readUnit({ place, scrub, journal }: Visit, view: ScrubView, unit: Unit) {
  const reading = await readStable(place, view, unit);
  scrub.report({ type: 'read', name: place.name, path: unit.path, bytes: unit.bytes });
  await journal.add(unit.path, reading.identity, reading.faults.length === 0);
  return reading;
}

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
