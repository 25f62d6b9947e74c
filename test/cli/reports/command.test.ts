import { afterEach, describe, expect, it } from 'vitest';
import { parseExportManifest } from '../../../src/evidence/export/manifest.ts';
import { exportRef, makeExport, refuse, serveExport, type Fault } from '../../faults/export-source.ts';
import { json, type FaultServer } from '../../faults/server.ts';
import { hashOf } from '../../support/evidence.ts';
import { call, expectResult } from '../make.ts';

const servers: FaultServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const sample = makeExport({ reports: 3 });
const { projectId, evidenceExportId } = exportRef;

/** The items of a list that a control plane should send. */
function makeItems(of = sample) {
  const { localReports } = parseExportManifest(of.manifest);
  return localReports.map(({ ordinal, projectId: project, localReportId, path, digest, bytes, ...row }) => ({
    source: {
      ordinal,
      projectId: project,
      localReportId,
      submissionDigest: hashOf('submission'),
      manifestDigest: row.manifestDigest,
      archiveBytes: Number(bytes),
      provenance: { origin: 'user_produced', trust: 'unattested', uploadedBy: 'user' },
      summary: {
        runId: 'run_000001',
        drillId: 'drill',
        targetId: 'target',
        reportedBuildHash: hashOf('build'),
        reportedPackageLockHash: hashOf('lock'),
        seed: '1',
        reportedStatus: 'completed',
        artifactCount: 1,
        expandedBytes: Number(row.expandedBytes),
        redacted: false,
      },
      createdAtMs: 1,
      verifiedAtMs: 1,
    },
    archive: { localReportId, path, digest, bytes },
  }));
}
type Items = ReturnType<typeof makeItems>;

/** Lists the reports of a control plane that sends these items in pages of two. */
async function listItems(items: Items, others: Fault = () => false) {
  const server = await serveExport(sample, (request) => {
    const [, query] = /\/local-reports\?(.*)$/.exec(request.seen.url) ?? [];
    if (query === undefined) return others(request);
    const from = Number(new URLSearchParams(query).get('cursor') ?? 0);
    const more = from + 2 < items.length;
    json(request.response, 200, {
      items: items.slice(from, from + 2),
      ...(more && { nextCursor: `${from + 2}` }),
    });
    return true;
  });
  servers.push(server);
  const line = `reports ${evidenceExportId} --project ${projectId} --url ${server.url}`;
  return call(line, { env: { DRILLPROOF_TOKEN: 'token' } });
}

const [first, second, third] = makeItems() as [Items[0], Items[0], Items[0]];
const LISTS: readonly (readonly [string, Items])[] = [
  ['no report', []],
  ['the reports of another export', makeItems(makeExport({ reports: 3, seed: 2 }))],
  ['a report too few', [first, third]],
  ['a report too many', [...makeItems(), ...makeItems(makeExport({ reports: 4 })).slice(3)]],
  ['another digest', [first, { ...second, archive: { ...second.archive, digest: hashOf('x') } }, third]],
  ['another size', [first, { ...second, archive: { ...second.archive, bytes: '1' } }, third]],
  ['two sizes', [first, { ...second, source: { ...second.source, archiveBytes: 1 } }, third]],
];

describe('reports of a control plane', () => {
  it('prints a list that matches the manifest of the export', async () => {
    const { code, stdout } = await listItems(makeItems());
    expect([code, stdout.match(/lrep_\d+/g)]).toEqual([
      0,
      makeItems().map(({ source }) => source.localReportId),
    ]);
  });

  it.each(LISTS)('refuses a list with %s', async (_, items) => {
    await expectResult(listItems(items), 3, 'transport.ANSWER_MISMATCH');
  });

  it('compares the number of reports with the export if no manifest is served', async () => {
    const unserved = refuse('manifest.json', 404, 'control.NOT_FOUND');
    await expectResult(listItems(makeItems(), unserved), 0, 'never attested');
    for (const items of [[], [first, third], LISTS[3]![1]])
      await expectResult(listItems(items, unserved), 3, 'transport.ANSWER_MISMATCH');
  });

  it('fails if the manifest cannot be fetched', async () => {
    const denied = refuse('manifest.json', 403, 'control.PERMISSION_DENIED');
    await expectResult(listItems(makeItems(), denied), 3, 'control.PERMISSION_DENIED');
  });
});
