import { join } from 'node:path';
import { createClient, type Client } from '../../client/index.ts';
import { mirrorExport } from '../../mirror/index.ts';
import { directorySource } from '../../node/evidence/directory-source.ts';
import { openFile } from '../../node/evidence/file-access.ts';
import { mirrorDirectory } from '../../node/mirror/directory.ts';
import { count, size } from '../../report/text/figures.ts';
import { createAdmin, createServer, listen, openEmbedded, type Admin } from '../../server/index.ts';
import { verifyToolSource } from '../../verify/index.ts';
import { writeSynced } from '../shared/output/output-file.ts';
import { createProgress } from '../shared/output/progress.ts';
import type { Evidence } from './make-evidence.ts';
import { expect, type Demo } from './stage.ts';

/** Serves the evidence from a control plane of this process, and mirrors it over HTTP. */
export async function serveAndMirror(demo: Demo, evidence: Evidence): Promise<void> {
  const { cli, tell, work } = demo;
  const { store, blobs } = await openEmbedded(join(work, 'control-plane'));
  const server = createServer({ store, blobs });
  try {
    await tell('3. A control plane takes the evidence in and serves it');
    const token = await takeIn(createAdmin({ store, blobs }), demo, evidence);
    const listening = await listen(server);
    try {
      await tell(`   listening on ${listening.url}`);
      const client = createClient({ baseUrl: listening.url, token, now: () => cli.now() });
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
  try {
    await admin.ingestBuild(projectId, access, 'drillproof demo');
  } finally {
    await access.close();
  }
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
      now: () => cli.now(),
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
