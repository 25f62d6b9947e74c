import { once } from '../../bytes/once.ts';
import { join } from 'node:path';
import { digestOf, digestStream } from '../../bytes/hash.ts';
import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { toUtf8 } from '../../bytes/text/utf8.ts';
import { localReportPath, type LocalReportFacts } from '../../evidence/index.ts';
import type { LocalReportMetadata } from '../../server/index.ts';
import { writeZip } from '../../zip/index.ts';
import { newId } from '../../node/new-id.ts';
import { writeSynced } from '../shared/output/output-file.ts';
import { fileBytes } from '../pack/walk.ts';
import type { BundleSetting, MadeBundle } from './bundles.ts';
import { DRILL_ID } from './drill.ts';

export type MadeReport = { readonly facts: LocalReportFacts; readonly metadata: LocalReportMetadata };

/** Two reports as a user would make them of what is installed: one of licences, one of sizes. */
const REPORTS = [
  {
    name: 'licenses.csv',
    head: 'package,license',
    row: ({ run }: MadeBundle) => [run.targetId, run.license],
  },
  {
    name: 'sizes.csv',
    head: 'package,files,bytes',
    row: ({ run, facts }: MadeBundle) => [run.targetId, String(run.files), String(facts.totalBytes)],
  },
] as const;

export async function makeLocalReports(
  setting: BundleSetting,
  bundles: readonly MadeBundle[],
): Promise<MadeReport[]> {
  const made: MadeReport[] = [];
  for (const { name, head, row } of REPORTS) {
    const rows = bundles.map((bundle) => row(bundle).map(quoted).join(','));
    made.push(await makeReport(setting, name, toUtf8(`${[head, ...rows].join('\n')}\n`)));
  }
  return made;
}

const quoted = (cell: string): string => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

async function makeReport(setting: BundleSetting, name: string, bytes: Uint8Array): Promise<MadeReport> {
  const { projectId, out, lock, buildHash } = setting;
  const localReportId = newId('lrep');
  const createdAtMs = setting.now();
  const file = { path: name, digest: digestOf(bytes), bytes: bytes.length };
  const manifest = canonicalBytes({ schemaVersion: 1, kind: 'local.report', createdAtMs, files: [file] });
  const path = join(out, localReportPath(localReportId));
  const entries = [
    { name: 'manifest.json', open: () => once(manifest) },
    { name, open: () => once(bytes) },
  ];
  await writeSynced(path, writeZip(entries));
  const expandedBytes = manifest.length + bytes.length;
  const archive = await digestStream(fileBytes(path));
  const manifestDigest = digestOf(manifest);
  return {
    facts: {
      localReportId,
      projectId,
      createdAtMs,
      ...archive,
      manifestDigest,
      expandedBytes: String(expandedBytes),
    },
    metadata: {
      localReportId,
      manifestDigest,
      uploadedBy: 'demo',
      createdAtMs,
      summary: {
        runId: newId('run'),
        drillId: DRILL_ID,
        targetId: name,
        reportedBuildHash: buildHash,
        reportedPackageLockHash: digestOf(lock.bytes),
        seed: '1',
        reportedStatus: 'completed',
        artifactCount: 1,
        expandedBytes,
        redacted: false,
      },
    },
  };
}
