/**
 * Shows drillproof at work on real files: packs and signs evidence, serves it, mirrors it, verifies the mirror, and
 * damages copies of it. It uses the public entry points only. Usage: node scripts/demo/main.ts [FOLDER]
 */
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { publicKeyPem, trustStore, trustStoreJwks, type ExportReport, type TrustStore } from 'drillproof';
import { createClient } from 'drillproof/client';
import {
  directorySource,
  generateSigningKey,
  mirrorDirectory,
  mirrorExport,
  verifyDirectory,
} from 'drillproof/node';
import { createAdmin, createServer, listen, openEmbedded } from 'drillproof/server';
import { copyMirror, DAMAGES } from './damages.ts';
import { ISSUER, packEvidence, type Evidence } from './evidence.ts';
import { selectPackages } from './packages.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const START_MS = performance.now();

const print = (line: string): void => console.log(line);
const group = (value: number): string => value.toLocaleString('en-US');
let failures = 0;

/** Prints an expectation, and whether it was met. */
function reportExpectation(isTrue: boolean, line: string): void {
  if (!isTrue) failures++;
  print(`   ${isTrue ? 'ok     ' : 'FAILED '} ${line}`);
}

async function run(out: string): Promise<void> {
  await createOutput(out);
  const work = await mkdtemp(join(out, 'work-'));
  try {
    print('1. Create a signing key and a trust store');
    const { signer } = generateSigningKey();
    const trust = trustStore([
      {
        issuer: ISSUER,
        keyId: signer.keyId,
        point: signer.point,
        compromised: true,
        purposes: ['evidence', 'export'],
      },
    ]);
    await writeFile(join(out, 'trust.json'), `${JSON.stringify(trustStoreJwks(trust), null, 2)}\n`);
    await writeFile(join(out, 'public.pem'), publicKeyPem(signer.point));
    print(`   issuer ${ISSUER}, key ${signer.keyId}`);

    print('2. Run a drill on each of these packages: does it match package-lock.json?');
    const packages = await selectPackages(PROJECT);
    const evidence = await packEvidence(PROJECT, packages, signer, join(work, 'export'));
    const bytes = evidence.input.parts.reduce((sum, part) => sum + part.bytes, 0);
    reportExpectation(
      packages.length > 1,
      `packed and signed ${packages.length} runs, ${group(bytes)} bytes`,
    );

    print('3. Start a control plane, import the evidence, and mirror it over HTTP');
    await serveAndMirror(work, join(out, 'mirror'), evidence);

    print('4. Verify the mirror offline, with the trust store only');
    checkVerified(await verify(join(out, 'mirror'), trust), evidence);

    print('5. Damage a copy of the mirror in five ways, and verify each');
    for (const damage of DAMAGES) {
      const copy = join(work, 'copy');
      await copyMirror(join(out, 'mirror'), copy);
      await damage.damageCopy?.(copy, evidence);
      const report = await verify(copy, damage.changeTrust?.(trust) ?? trust);
      await rm(copy, { recursive: true });
      const findings = [...report.findings, ...report.parts.flatMap((part) => part.findings)];
      const finding = findings.find(({ code }) => code === damage.code);
      reportExpectation(report.verdict === 'failed' && finding !== undefined, damage.title);
      print(`           ${damage.code}: ${finding?.message ?? 'not found'}`);
    }
    printClosing(out, evidence.packed.manifestDigest);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function serveAndMirror(work: string, to: string, { input, packed }: Evidence): Promise<void> {
  const stores = await openEmbedded(join(work, 'control-plane'));
  const { store, blobs } = stores;
  const server = createServer({ store, blobs });
  const admin = createAdmin(stores);
  const { organizationId, evidenceExportId } = input;
  const { projectId } = packed.manifest.parts[0]!;
  await admin.createOrganization({ organizationId, name: 'Demo' });
  await admin.createProject({ organizationId, projectId, name: 'Installed packages' });
  await admin.ingestExport(directorySource(join(work, 'export')));
  const { token } = await admin.createToken({
    organizationId,
    projects: [projectId],
    permissions: ['evidence.read'],
  });
  const listening = await listen(server);
  try {
    print(`   listening on ${listening.url}`);
    const client = createClient({ baseUrl: listening.url, token });
    const receipt = await mirrorExport(
      { projectId, evidenceExportId },
      { client, to: mirrorDirectory(to), now: Date.now },
    );
    reportExpectation(
      receipt.outcome === 'complete',
      `mirrored ${receipt.files.length} files, each checked as it arrived`,
    );
  } finally {
    await listening.close();
    await server.close();
  }
}

const verify = (folder: string, trust: TrustStore): Promise<ExportReport> =>
  verifyDirectory(folder, { asOfMs: Date.now(), trust });

function checkVerified(report: ExportReport, { packed }: Evidence): void {
  const { verdict, parts, coverage, completeness } = report;
  const verified = parts.filter((part) => part.verdict === 'verified').length;
  const isRight = verdict === 'verified' && report.manifestDigest === packed.manifestDigest;
  reportExpectation(
    isRight && verified === parts.length,
    `verdict: ${verdict}, ${verified} of ${parts.length} bundles`,
  );
  reportExpectation(
    coverage.uncovered.length === 0,
    `coverage: ${group(coverage.coveredBytes)} of ${group(coverage.totalBytes)} bytes`,
  );
  reportExpectation(completeness === 'attested', `completeness: ${completeness}`);
}

function printClosing(out: string, manifestDigest: string): void {
  const seconds = ((performance.now() - START_MS) / 1000).toFixed(1);
  const folder = relative(process.cwd(), out) || '.';
  print(`
${failures === 0 ? 'Everything was as expected' : `${failures} expectations were not met`}, in ${seconds} s. The mirror is in ${folder}/mirror

Try next:
  npx drillproof verify ${folder}/mirror --trust ${folder}/trust.json --expect-manifest ${manifestDigest}
  npx drillproof inspect ${folder}/mirror
  npx drillproof explain part.DIGEST_MISMATCH
Without drillproof:
  (cd ${folder}/mirror && sha256sum -c SHA256SUMS)`);
}

/** Replaces the folder of an earlier demo; refuses any other folder that exists. */
async function createOutput(out: string): Promise<void> {
  const mark = join(out, '.drillproof-demo');
  const isOurs = await stat(mark).catch(() => undefined);
  if (isOurs !== undefined) await rm(out, { recursive: true });
  await mkdir(resolve(out, '..'), { recursive: true });
  await mkdir(out);
  await writeFile(mark, 'The next demo replaces this folder.\n');
}

await run(resolve(process.argv[2] ?? 'drillproof-demo'));
process.exitCode = failures === 0 ? 0 : 1;
