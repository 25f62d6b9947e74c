import type { ExportManifest, LocalReportRow, PartRow, SourceFile } from '../evidence/index.ts';
import { finding, type JudgePart, verifyListedPart, verifyLocalReport } from '../verify/index.ts';
import type { Scrub } from './options.ts';
import type { ScrubPlace, ScrubView } from './place.ts';
import { faultsOf, type ScrubFault } from './result.ts';

/** A file that the manifest lists, and how it is judged. */
export type Unit = {
  readonly path: string;
  readonly bytes: number;
  /** What is wrong with the file that lies there; nothing when it is good. */
  readonly judge: (view: ScrubView, file: SourceFile | undefined) => Promise<ScrubFault[]>;
};

/** Every part and local report of a manifest. */
export function unitsOf(manifest: ExportManifest, scrub: Scrub, judgePart: JudgePart | undefined): Unit[] {
  const { organizationId, fromAtMs, throughAtMs } = manifest;
  const options = { ...scrub.verify, ...(judgePart !== undefined && { judgePart }) };
  const part = (row: PartRow): Unit => ({
    path: row.path,
    bytes: Number(row.bytes),
    async judge({ source }, file) {
      const listed = { row, organizationId, fromAtMs, throughAtMs };
      const { findings, verdict } = await verifyListedPart(source, file, listed, options);
      return judged(findings, verdict, row.path);
    },
  });
  const report = (row: LocalReportRow): Unit => ({
    path: row.path,
    bytes: Number(row.bytes),
    async judge({ source }, file) {
      const { findings, verdict } = await verifyLocalReport(source, file, row, scrub.verify.signal);
      return judged(findings, verdict, row.path);
    },
  });
  return [...manifest.parts.map(part), ...manifest.localReports.map(report)];
}

// A verdict that is left open without a finding is nothing that was checked.
function judged(findings: Parameters<typeof faultsOf>[0], verdict: string, path: string): ScrubFault[] {
  const faults = faultsOf(findings).map((fault) => ({ ...fault, path }));
  if (faults.length > 0 || verdict === 'verified' || verdict === 'intact') return faults;
  return faultsOf([finding('io.UNREADABLE', path, { path, message: `${path} could not be judged` })]);
}

/** So often is a file read again that is another one after reading than before. */
const TRIES = 4;

export type Looked = { readonly faults: readonly ScrubFault[]; readonly identity: string };

/**
 * Judges a file of a mirror that somebody may be writing to: a fault is believed only when the same file lies there
 * before and after; else it is read again.
 */
export async function lookAtUnit(place: ScrubPlace, first: ScrubView, unit: Unit): Promise<Looked> {
  let view = first;
  for (let tries = 1; ; tries++) {
    const file = view.files.get(unit.path);
    const identity = file?.identity ?? '';
    const faults = await unit.judge(view, file);
    if (faults.length === 0 || tries === TRIES) return { faults, identity };
    const now = await place.look();
    const after = now.files.get(unit.path)?.identity ?? '';
    if (after === identity && !faults.some(({ code }) => code === 'io.CHANGED')) return { faults, identity };
    view = now;
  }
}
