import { availableParallelism } from 'node:os';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { mapConcurrently } from '../../bytes/concurrently.ts';
import { createClient, type Client } from '../../client/index.ts';
import { DrillproofError } from '../../errors.ts';
import { packExport, type PackedExport } from '../../evidence/index.ts';
import { mirrorExport } from '../../mirror/index.ts';
import { directorySource } from '../../node/directory-source.ts';
import { openFile } from '../../node/file-access.ts';
import { generateSigningKey } from '../../node/keys.ts';
import { mirrorDirectory } from '../../node/mirror-directory.ts';
import { verifyDirectory } from '../../node/verify-directory.ts';
import { count, size } from '../../report/figures.ts';
import { createAdmin, createServer, listen, openEmbedded, type Admin } from '../../server/index.ts';
import { publicKeyPem, trustStore, trustStoreJwks, type Signer, type TrustStore } from '../../trust/index.ts';
import { verifyToolSource, type ExportReport } from '../../verify/index.ts';
import type { Cli } from '../cli.ts';
import { newId } from '../new-id.ts';
import { writeSynced } from '../output-file.ts';
import { createProgress } from '../progress.ts';
import { makeBuild, type MadeBuild } from './build.ts';
import { makeBundle, type BundleSetting, type MadeBundle } from './bundles.ts';
import { copyMirror, DAMAGES, type Damage } from './damages.ts';
import { makeLocalReports, type MadeReport } from './local-reports.ts';
import { installedPackages, readPackageLock } from './packages.ts';

export type DemoOptions = {
  /** Folder with package-lock.json and node_modules. */
  readonly project: string;
  /** Folder that keeps the mirror and the keys; it must not exist yet. */
  readonly out: string;
};

/** What the demonstration came to: one row for each expectation. */
export type DemoSummary = {
  readonly bundles: number;
  readonly bytes: number;
  readonly mirror: string;
  readonly manifestDigest: string;
  readonly seconds: number;
  readonly expectations: readonly Expectation[];
};
export type Expectation = { readonly what: string; readonly held: boolean; readonly detail: string };

/** The least that the demonstration must have worked on. */
const LEAST = { bundles: 80, bytes: 100_000_000 };
const ISSUER = 'drillproof-demo';

type Demo = DemoOptions & {
  readonly cli: Cli;
  readonly tell: (line: string) => Promise<void>;
  readonly expectations: Expectation[];
  readonly work: string;
};

/** Packs, signs, serves, mirrors and verifies real evidence, then tampers with it and looks at what is found. */
export async function runDemo(
  cli: Cli,
  options: DemoOptions,
  tell: (line: string) => Promise<void>,
): Promise<DemoSummary> {
  const startedAtMs = cli.now();
  await makeOutput(options.out);
  const work = await mkdtemp(join(options.out, '.work-'));
  const demo: Demo = { ...options, cli, tell, expectations: [], work };
  try {
    const keys = await makeKeys(demo);
    const made = await makeEvidence(demo, keys.signer);
    await serveAndMirror(demo, made);
    const report = await verifyMirror(demo, keys.trust, made);
    await tamper(demo, keys.trust);
    return {
      bundles: report.parts.length,
      bytes: report.coverage.totalBytes,
      mirror: join(options.out, 'mirror'),
      manifestDigest: made.packed.manifestDigest,
      seconds: Math.round((cli.now() - startedAtMs) / 100) / 10,
      expectations: demo.expectations,
    };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The folder of an earlier demonstration is replaced; anything else that lies there is left alone. */
const MARK = '.drillproof-demo';

async function makeOutput(out: string): Promise<void> {
  const there = await stat(out).catch(() => undefined);
  if (there !== undefined) {
    const ours = await stat(join(out, MARK)).catch(() => undefined);
    if (ours === undefined) {
      const message = `${out} exists and is not the folder of an earlier demonstration`;
      throw new DrillproofError('io.EXISTS', message, { path: out });
    }
    await rm(out, { recursive: true });
  }
  await mkdir(out, { recursive: true });
  await writeFile(join(out, MARK), 'made by drillproof demo; replaced by the next one\n');
}

async function expect(demo: Demo, what: string, held: boolean, detail: string): Promise<void> {
  demo.expectations.push({ what, held, detail });
  await demo.tell(`   ${held ? 'ok' : 'NOT OK'}  ${what}: ${detail}`);
}

async function makeKeys({ out, tell }: Demo): Promise<{ signer: Signer; trust: TrustStore }> {
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

type Evidence = {
  readonly setting: BundleSetting;
  readonly build: MadeBuild;
  readonly bundles: readonly MadeBundle[];
  readonly reports: readonly MadeReport[];
  readonly packed: PackedExport;
};

async function makeEvidence(demo: Demo, signer: Signer): Promise<Evidence> {
  const { cli, project, tell, work } = demo;
  const lock = await readPackageLock(project);
  const packages = await installedPackages(project);
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
    now: cli.now,
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

async function serveAndMirror(demo: Demo, evidence: Evidence): Promise<void> {
  const { cli, tell, work } = demo;
  const { store, blobs } = await openEmbedded(join(work, 'control-plane'));
  const server = createServer({ store, blobs });
  try {
    await tell('3. A control plane takes the evidence in and serves it');
    const token = await takeIn(createAdmin({ store, blobs }), demo, evidence);
    const listening = await listen(server);
    try {
      await tell(`   listening on ${listening.url}`);
      const client = createClient({ baseUrl: listening.url, token, now: cli.now });
      await mirror(demo, client, evidence);
      await readBack(demo, client, evidence);
    } finally {
      await listening.close();
    }
  } finally {
    await server.close();
  }
}

async function takeIn(admin: Admin, { work }: Demo, { setting, build, reports }: Evidence): Promise<string> {
  const { organizationId, projectId, out } = setting;
  await admin.createOrganization({ organizationId, name: 'Demonstration' });
  await admin.createProject({ organizationId, projectId, name: 'Installed packages' });
  await admin.ingestExport(directorySource(out), { localReports: reports.map(({ metadata }) => metadata) });
  const archive = join(work, 'build.zip');
  await writeSynced(archive, build.archive());
  const access = await openFile(archive);
  await admin.ingestBuild(projectId, access, 'drillproof demo').finally(() => access.close());
  const permissions = ['evidence.read', 'build.read'] as const;
  const { token } = await admin.createToken({ organizationId, projects: [projectId], permissions });
  return token;
}

async function mirror(demo: Demo, client: Client, { setting, packed }: Evidence): Promise<void> {
  const { cli, tell, out } = demo;
  await tell('4. A mirror of the export, over HTTP, every byte checked as it comes');
  const progress = createProgress(cli, 'mirrored', 'files');
  let done = 0;
  let bytes = 0;
  let of = 0;
  const { projectId } = setting;
  const { evidenceExportId } = packed.manifest;
  const startedAtMs = cli.now();
  const receipt = await mirrorExport(
    { projectId, evidenceExportId },
    {
      client,
      to: mirrorDirectory(join(out, 'mirror')),
      signal: cli.signal,
      now: cli.now,
      onProgress(event) {
        if (event.type === 'planned') of = event.files;
        if (event.type !== 'part-done') return;
        bytes += event.bytes;
        progress.update({ done: ++done, of, bytes });
      },
    },
  ).finally(() => progress.end());
  const seconds = (cli.now() - startedAtMs) / 1000;
  const detail = `${count(receipt.files.length)} files, ${size(bytes)} in ${seconds.toFixed(1)} s`;
  await expect(demo, 'mirrored', receipt.outcome === 'complete', detail);
}

async function readBack(
  demo: Demo,
  client: Client,
  { setting, build, packed, reports }: Evidence,
): Promise<void> {
  const { projectId } = setting;
  const listed: string[] = [];
  for await (const item of client.localReports({
    projectId,
    evidenceExportId: packed.manifest.evidenceExportId,
  })) {
    listed.push(item.source.localReportId);
  }
  const origin = `${listed.length} listed, user-produced and unattested`;
  await expect(demo, 'local reports', listed.length === reports.length, origin);
  const source = await client.builds.tools.source({
    projectId,
    buildHash: build.buildHash,
    packageId: 'zip-reader',
  });
  const report = verifyToolSource(source, { lock: build.lock });
  const detail = `zip-reader ${source.version}, ${count(source.implementation.bytes)} bytes, against the lock of the build`;
  await expect(demo, 'tool source', report.verdict === 'verified', detail);
}

async function verifyMirror(demo: Demo, trust: TrustStore, { packed }: Evidence): Promise<ExportReport> {
  const { tell, out } = demo;
  await tell('5. The mirror verified offline, with nothing but the trust store');
  const report = await judge(demo, join(out, 'mirror'), trust);
  const { parts, localReports, coverage, completeness } = report;
  const right = report.verdict === 'verified' && report.manifestDigest === packed.manifestDigest;
  const verified = parts.filter((part) => part.verdict === 'verified').length;
  const detail = `${count(verified)} of ${count(parts.length)} bundles, ${count(localReports.length)} local reports intact`;
  await expect(demo, `verdict ${report.verdict}`, right && verified === parts.length, detail);
  const all = coverage.coveredBytes === coverage.totalBytes && coverage.uncovered.length === 0;
  await expect(
    demo,
    'covered',
    all,
    `${count(coverage.coveredBytes)} of ${count(coverage.totalBytes)} bytes`,
  );
  await expect(demo, 'completeness', completeness === 'attested', completeness);
  return report;
}

const judge = ({ cli }: Demo, root: string, trust: TrustStore): Promise<ExportReport> =>
  verifyDirectory(root, { asOfMs: cli.now(), trust, signal: cli.signal });

async function tamper(demo: Demo, trust: TrustStore): Promise<void> {
  await demo.tell('6. Five ways to damage a copy of it, and what verification finds');
  for (const [i, damage] of DAMAGES.entries()) await tryDamage(demo, trust, damage, i);
}

async function tryDamage(demo: Demo, trust: TrustStore, damage: Damage, i: number): Promise<void> {
  const { cli, out, work, tell } = demo;
  const copy = join(work, `damage-${i}`);
  await copyMirror(join(out, 'mirror'), copy);
  await damage.apply?.(copy);
  const report = await judge(demo, copy, damage.distrust?.(trust, cli.now()) ?? trust);
  await rm(copy, { recursive: true });
  const found = [...report.findings, ...report.parts.flatMap((part) => part.findings)];
  const hit = found.find((one) => one.code === damage.expected);
  const held = report.verdict === 'failed' && hit !== undefined;
  await expect(demo, damage.title, held, report.verdict);
  await tell(
    hit === undefined
      ? `           ${damage.expected} was not found`
      : `           ${hit.code}: ${hit.message}`,
  );
}

/** A path as a person would type it from where they are. */
export const shown = (path: string): string => relative(process.cwd(), resolve(path)) || '.';
