import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  packBundle,
  packExport,
  partPath,
  readPartFacts,
  type ExportInput,
  type PackedExport,
  type PartFacts,
  type Signer,
} from 'drillproof';
import { openFile } from 'drillproof/node';
import { runDrill } from './drill.ts';
import type { Package } from './packages.ts';

export const ISSUER = 'drillproof-demo';

/** An export in a folder, and the input from which its documents were packed. */
export type Evidence = { readonly input: ExportInput; readonly packed: PackedExport };

/** The facts that all bundles of the demo share. */
type Setting = {
  readonly project: string;
  readonly signer: Signer;
  readonly organizationId: string;
  readonly projectId: string;
  readonly lockHash: string;
  readonly folder: string;
};

const newId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('hex')}`;
const sha256 = (bytes: Uint8Array | string): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Runs the drill on each package, and packs and signs the evidence as an export in `folder`. */
export async function packEvidence(
  project: string,
  packages: readonly Package[],
  signer: Signer,
  folder: string,
): Promise<Evidence> {
  const fromAtMs = Date.now();
  const [organizationId, projectId] = [newId('org'), newId('prj')];
  const lockHash = sha256(await readFile(join(project, 'package-lock.json')));
  const setting = { project, signer, organizationId, projectId, lockHash, folder };
  await mkdir(join(folder, 'parts'), { recursive: true });
  const parts: PartFacts[] = [];
  for (const target of packages) parts.push(await packPart(setting, target));
  const now = Date.now();
  const input: ExportInput = {
    evidenceExportId: newId('evexp'),
    organizationId,
    scope: { kind: 'project', projectId },
    fromAtMs,
    throughAtMs: now + 1,
    operationId: newId('op'),
    requestedBy: 'demo',
    createdAtMs: now,
    completedAtMs: now,
    parts,
    localReports: [],
  };
  const packed = await packExport(input, { signer, issuer: ISSUER, issuedAtMs: now });
  await writeDocuments(folder, packed);
  return { input, packed };
}

/** Writes the documents of an export in place of those in the folder. */
export async function writeDocuments(folder: string, { documents }: PackedExport): Promise<void> {
  for (const { path, bytes } of documents) await writeFile(join(folder, path), bytes);
}

/** Runs the drill on one package and packs its evidence as a signed part. */
async function packPart(setting: Setting, target: Package): Promise<PartFacts> {
  const { project, signer, organizationId, projectId, lockHash, folder } = setting;
  const run = await runDrill(project, target);
  const evidenceBundleId = newId('evidence');
  const runId = newId('run');
  const createdAtMs = Date.now();
  const steps = run.assertionResults.length;
  const packed = await packBundle(
    {
      evidenceBundleId,
      organizationId,
      projectId,
      hostedRunId: newId('hrun'),
      runId,
      createdAtMs,
      objects: run.objects,
      runResult: {
        schemaVersion: 1,
        identity: {
          runId,
          worldInstanceId: 'node_modules',
          drillId: 'installed-package',
          targetId: `${target.name}@${target.version}`,
          buildHash: sha256(`${process.version} ${process.platform}`),
          packageLockHash: lockHash,
          seed: '1',
          trial: 1,
          trialCount: 1,
          attempt: 1,
          attemptLimit: 1,
        },
        startedAtVirtualUs: 0,
        finishedAtVirtualUs: steps,
        bindingEvidence: 'complete',
        worldConsistency: 'consistent',
        interactions: [],
        checkpoints: [],
        budgetUsage: {
          toolCalls: { limit: 0, attempted: 0, rejected: 0 },
          scheduledEvents: { limit: 0, processed: 0, exhausted: false },
        },
        status: 'completed',
        verdict: run.verdict,
        assertionResults: run.assertionResults,
        evidenceRange: { fromSequence: 1, toSequence: steps },
      },
    },
    { signer, issuer: ISSUER, issuedAtMs: createdAtMs },
  );
  const file = join(folder, partPath(evidenceBundleId));
  await pipeline(packed.archive({ compression: 'store' }), createWriteStream(file));
  return readFacts(file);
}

/** The facts of a part that an export lists: its manifest, its digest and its byte count. */
export async function readFacts(path: string): Promise<PartFacts> {
  const access = await openFile(path);
  try {
    return await readPartFacts(access);
  } finally {
    await access.close();
  }
}
