import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { mapConcurrently } from '../../bytes/concurrently.ts';
import { packExport, type PackedExport } from '../../evidence/index.ts';
import { generateSigningKey } from '../../node/keys/keys.ts';
import { count, size } from '../../report/text/figures.ts';
import { publicKeyPem, trustStore, trustStoreJwks, type Signer, type TrustStore } from '../../trust/index.ts';
import { newId } from '../../node/new-id.ts';
import { writeSynced } from '../shared/output/output-file.ts';
import { createProgress } from '../shared/output/progress.ts';
import { makeBuild, type MadeBuild } from './build.ts';
import { makeBundle, type BundleSetting, type MadeBundle } from './bundles.ts';
import { makeLocalReports, type MadeReport } from './local-reports.ts';
import type { Installed } from './packages.ts';
import { expect, type Demo } from './stage.ts';

/** The least that the demonstration must have worked on. */
const LEAST = { bundles: 80, bytes: 100_000_000 };
const ISSUER = 'drillproof-demo';

/** A key for the occasion; its private half is kept nowhere. */
export async function makeKeys({ out, tell }: Demo): Promise<{ signer: Signer; trust: TrustStore }> {
  await tell('1. A signing key, and a trust store that holds its public half');
  const { signer } = generateSigningKey();
  const { keyId, point } = signer;
  const trust = trustStore([
    { issuer: ISSUER, keyId, point, compromised: true, purposes: ['evidence', 'export'] },
  ]);
  await writeFile(join(out, 'trust.json'), `${JSON.stringify(trustStoreJwks(trust), null, 2)}\n`);
  await writeFile(join(out, 'public.pem'), publicKeyPem(point));
  await tell(`   ${ISSUER}, key ${keyId}`);
  return { signer, trust };
}

/** What was made: an export in a folder, and the build that its runs name. */
export type Evidence = {
  readonly setting: BundleSetting;
  readonly build: MadeBuild;
  readonly bundles: readonly MadeBundle[];
  readonly reports: readonly MadeReport[];
  readonly packed: PackedExport;
};

/** Runs the drills, packs and signs what they left, and writes the export. */
export async function makeEvidence(
  demo: Demo,
  signer: Signer,
  { lock, packages }: Installed,
): Promise<Evidence> {
  const { cli, project, tell, work } = demo;
  await tell(
    `2. A drill for each of ${count(packages.length)} installed packages: is it what package-lock.json locks?`,
  );
  const build = await makeBuild(project);
  const fromAtMs = cli.now();
  const setting: BundleSetting = {
    project,
    lock,
    buildHash: build.buildHash,
    organizationId: newId('org'),
    projectId: newId('prj'),
    signer,
    issuer: ISSUER,
    out: join(work, 'export'),
    now: () => cli.now(),
  };
  await mkdir(join(setting.out, 'parts'), { recursive: true });
  await mkdir(join(setting.out, 'local-reports'));
  const bundles = await packAll(demo, setting, packages);
  const reports = await makeLocalReports(setting, bundles);
  const packed = await packDocuments(setting, bundles, reports, fromAtMs);
  await expectEnough(demo, bundles);
  return { setting, build, bundles, reports, packed };
}

async function packAll(
  { cli }: Demo,
  setting: BundleSetting,
  packages: readonly string[],
): Promise<MadeBundle[]> {
  const progress = createProgress(cli, 'packed', 'packages');
  let done = 0;
  let bytes = 0;
  try {
    return await mapConcurrently(packages, availableParallelism(), async (path) => {
      cli.signal.throwIfAborted();
      const bundle = await makeBundle(setting, path);
      bytes += bundle.facts.bytes;
      progress.update({ done: ++done, of: packages.length, bytes });
      return bundle;
    });
  } finally {
    progress.end();
  }
}

async function expectEnough(demo: Demo, bundles: readonly MadeBundle[]): Promise<void> {
  const bytes = bundles.reduce((sum, { facts }) => sum + facts.totalBytes, 0);
  const failed = bundles.filter(({ run }) => run.verdict === 'failed');
  const outcome = `${count(bundles.length - failed.length)} drills passed, ${count(failed.length)} failed`;
  await demo.tell(`   ${outcome}; the outcome is evidence too, whichever it is`);
  for (const { run } of failed.slice(0, 3)) {
    const why = run.assertionResults.filter((one) => one.status === 'failed').map((one) => one.assertionId);
    await demo.tell(`   failed: ${run.targetId} (${why.join(', ')})`);
  }
  const enough = bundles.length >= LEAST.bundles && bytes >= LEAST.bytes;
  await expect(
    demo,
    'packed and signed',
    enough,
    `${count(bundles.length)} bundles, ${size(bytes)} of real files`,
  );
}

async function packDocuments(
  setting: BundleSetting,
  bundles: readonly MadeBundle[],
  reports: readonly MadeReport[],
  fromAtMs: number,
): Promise<PackedExport> {
  const { organizationId, projectId, signer, issuer, now, out } = setting;
  const nowMs = now();
  const packed = await packExport(
    {
      evidenceExportId: newId('evexp'),
      organizationId,
      scope: { kind: 'project', projectId },
      fromAtMs,
      throughAtMs: nowMs + 1,
      operationId: newId('op'),
      requestedBy: 'drillproof demo',
      createdAtMs: fromAtMs,
      completedAtMs: nowMs,
      parts: bundles.map(({ facts }) => facts),
      localReports: reports.map(({ facts }) => facts),
    },
    { signer, issuer, issuedAtMs: nowMs },
  );
  for (const { path, bytes } of packed.documents) await writeSynced(join(out, path), [bytes]);
  return packed;
}
