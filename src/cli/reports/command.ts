import type { Command } from 'commander';
import { isoTime } from '../../bytes/text/wording.ts';
import type { LocalReportItem } from '../../client/client.ts';
import { shortId } from '../../report/text/page.ts';
import type { Cli } from '../cli.ts';
import {
  addExamples,
  addRemoteOptions,
  type RemoteOptions,
  addStandardOptions,
} from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { formatTable, writeProduct } from '../shared/output/product.ts';

const NOTE = '\nLocal reports are uploaded by users and are never attested.\n';

export function defineReportsCommand(command: Command, cli: Cli): void {
  addRemoteOptions(addStandardOptions(command))
    .description('List the local reports of an export in a control plane, a folder or a ZIP.')
    .argument('<export>', 'id of an export with --url, else the path of one')
    .action((what: string, options: RemoteOptions) => listReports(cli, what, options));
  addExamples(command, {
    'from a control plane':
      'drillproof reports evexp_0123456789ab --project prj_0123456789ab --url http://127.0.0.1:8080',
    'from a mirror': 'drillproof reports ./mirror',
  });
}

async function listReports(cli: Cli, what: string, options: RemoteOptions): Promise<void> {
  if (options.url === undefined && options.project === undefined) return listLocalReports(cli, what);
  const { openProject } = await import('../shared/input/remote.ts');
  const hint = 'Pass both --url and --project for a control plane, or neither for a path.';
  const { client, project } = await openProject(cli, options, hint);
  const items: LocalReportItem[] = [];
  const exportRef = { projectId: project, evidenceExportId: what };
  for await (const item of client.localReports(exportRef, { signal: cli.signal })) items.push(item);
  const rows = items.map(({ source, archive }) => [
    String(source.ordinal),
    source.localReportId,
    source.summary.drillId,
    source.summary.reportedVerdict ?? source.summary.reportedStatus,
    source.provenance.uploadedBy,
    isoTime(source.createdAtMs),
    archive.bytes,
    shortId(archive.digest),
  ]);
  const heading = ['#', 'LOCAL REPORT', 'DRILL', 'REPORTED', 'UPLOADED BY', 'CREATED', 'BYTES', 'ARCHIVE'];
  await writeProduct(cli, { kind: 'local-reports', items }, listText(heading, rows));
}

const listText = (heading: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0 ? 'The export has no local reports.\n' : formatTable(heading, rows) + NOTE;

async function listLocalReports(cli: Cli, path: string): Promise<void> {
  const { readExportDocuments, withEvidence } = await import('../shared/input/input.ts');
  await withEvidence(cli, path, async (evidence) => {
    if (evidence.kind === 'part') throw usageError(`${path} is a single part, not an export`);
    const { manifest } = await readExportDocuments(evidence.source);
    const items = manifest.localReports;
    const rows = items.map((row) => [
      String(row.ordinal),
      row.localReportId,
      row.projectId,
      row.bytes,
      shortId(row.digest),
      row.path,
    ]);
    const heading = ['#', 'LOCAL REPORT', 'PROJECT', 'BYTES', 'ARCHIVE', 'PATH'];
    await writeProduct(cli, { kind: 'local-reports', items }, listText(heading, rows));
  });
}
