import { join } from 'node:path';
import { digestOf, type Digest } from '../../bytes/hash.ts';
import { packBundle, partPath, readPartFacts, type PartFacts } from '../../evidence/index.ts';
import { openFile } from '../../node/evidence/file-access.ts';
import type { Signer } from '../../trust/index.ts';
import { newId } from '../../node/new-id.ts';
import { writeSynced } from '../shared/output/output-file.ts';
import { DRILL_ID, runDrill, type DrillRun } from './drill.ts';
import type { PackageLock } from './packages.ts';

/** What all bundles of the demonstration share. */
export type BundleSetting = {
  readonly project: string;
  readonly lock: PackageLock;
  readonly buildHash: Digest;
  readonly organizationId: string;
  readonly projectId: string;
  readonly signer: Signer;
  readonly issuer: string;
  /** The folder of the export; parts are written to its parts/. */
  readonly out: string;
  readonly now: () => number;
};

export type MadeBundle = { readonly path: string; readonly run: DrillRun; readonly facts: PartFacts };

/** Runs the drill on one package and packs what it left as a signed part. */
export async function makeBundle(setting: BundleSetting, path: string): Promise<MadeBundle> {
  const { project, lock, organizationId, projectId, signer, issuer } = setting;
  const startedAtMs = setting.now();
  const run = await runDrill(project, path, lock.packages.get(path));
  const evidenceBundleId = newId('evidence');
  const runId = newId('run');
  const packed = await packBundle(
    {
      evidenceBundleId,
      organizationId,
      projectId,
      hostedRunId: newId('hrun'),
      runId,
      createdAtMs: startedAtMs,
      objects: run.objects,
      runResult: {
        schemaVersion: 1,
        identity: {
          runId,
          worldInstanceId: path.slice(0, 128),
          drillId: DRILL_ID,
          targetId: run.targetId,
          buildHash: setting.buildHash,
          packageLockHash: digestOf(lock.bytes),
          seed: '1',
          trial: 1,
          trialCount: 1,
          attempt: 1,
          attemptLimit: 1,
        },
        startedAtVirtualUs: 0,
        finishedAtVirtualUs: run.lastSequence,
        bindingEvidence: 'complete',
        worldConsistency: 'consistent',
        interactions: [],
        checkpoints: [],
        budgetUsage: {
          toolCalls: { limit: run.files + 1, attempted: run.files + 1, rejected: 0 },
          scheduledEvents: { limit: 0, processed: 0, exhausted: false },
        },
        status: 'completed',
        verdict: run.verdict,
        assertionResults: [...run.assertionResults],
        evidenceRange: { fromSequence: 1, toSequence: run.lastSequence },
      },
    },
    { signer, issuer, issuedAtMs: setting.now() },
  );
  const file = join(setting.out, partPath(evidenceBundleId));
  await writeSynced(file, packed.archive({ compression: 'store' }));
  return { path, run, facts: await factsOf(file) };
}

async function factsOf(file: string): Promise<PartFacts> {
  const access = await openFile(file);
  try {
    return await readPartFacts(access);
  } finally {
    await access.close();
  }
}
