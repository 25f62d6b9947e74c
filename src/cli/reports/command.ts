import { countNoun, isoTime } from '../../bytes/text/wording.ts';
import type { Client, ExportRef } from '../../client/client.ts';
import type { LocalReportItem } from '../../contract/resources/evidence.ts';
import { httpStatusOf } from '../../client/http/errors.ts';
import { TransportError } from '../../errors.ts';
import type { LocalReportRow } from '../../evidence/export/manifest.ts';
import { pin } from '../../mirror/fetch/documents.ts';
import { readRun } from '../../mirror/run.ts';
import { shortId } from '../../report/text/page.ts';
import type { Cli } from '../cli.ts';
import { openProject } from '../shared/input/remote.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { type RemoteOptions, remoteOptions, STANDARD } from '../shared/options/options.ts';
import { formatTable, writeProduct } from '../shared/output/product.ts';

const NOTE = '\nLocal reports are uploaded by users and are never attested.\n';

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description(
      'List the local reports of an export in a control plane. The list is compared with the manifest of the export, or with the number of reports if it serves no manifest.',
    )
    .argument('<export>', 'id of the export')
    .perform([...STANDARD, ...remoteOptions()], (options, id: string) => listReports(cli, id, options))
    .examples({
      'from a control plane':
        'drillproof reports evexp_0123456789ab --project prj_0123456789ab --url http://127.0.0.1:8080',
    });
}

async function listReports(cli: Cli, evidenceExportId: string, options: RemoteOptions): Promise<void> {
  const hint = 'Pass --url and --project. "drillproof inspect PATH" lists the local reports of a mirror.';
  const { client, project } = await openProject(cli, options, hint);
  const items: LocalReportItem[] = [];
  const exportRef = { projectId: project, evidenceExportId };
  const expected = await readExpected(client, exportRef, cli.signal);
  for await (const item of client.localReports(exportRef, { signal: cli.signal })) items.push(item);
  assertExpected(items, expected);
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
  const text = rows.length === 0 ? 'The export has no local reports.\n' : formatTable(heading, rows) + NOTE;
  const line = countNoun(items.length, 'local report');
  await writeProduct(cli, { kind: 'local-reports', items }, text, line);
}

/**
 * Reads what the list must contain, because its items do not name their export: the rows of the manifest, or their number
 * if the control plane serves no manifest.
 */
async function readExpected(
  client: Client,
  exportRef: ExportRef,
  signal: AbortSignal,
): Promise<readonly LocalReportRow[] | number> {
  try {
    const { manifest } = await pin(readRun(exportRef, { client, to: NOWHERE, signal }), undefined);
    return manifest.localReports;
  } catch (cause) {
    if (![404, 405, 501].includes(httpStatusOf(cause) ?? 0)) throw cause;
    const { completedLocalReportCount } = await client.evidence.exports.read(exportRef, { signal });
    return completedLocalReportCount ?? 0;
  }
}

const NOWHERE = { open: () => Promise.reject(new TypeError('the manifest is only read')) };

/** @throws TransportError `transport.ANSWER_MISMATCH` for a list with other reports than expected */
function assertExpected(
  items: readonly LocalReportItem[],
  expected: readonly LocalReportRow[] | number,
): void {
  const count = typeof expected === 'number' ? expected : expected.length;
  if (items.length !== count)
    throw mismatchError(
      `the list has ${countNoun(items.length, 'local report')}, and the export has ${count}`,
    );
  if (typeof expected === 'number') return;
  for (const [at, { source, archive }] of items.entries()) {
    const row = expected[at]!;
    const { ordinal, projectId, localReportId, manifestDigest, summary } = source;
    const { path, digest, bytes } = archive;
    const expandedBytes = String(summary.expandedBytes);
    const item = { ordinal, projectId, localReportId, manifestDigest, path, digest, bytes, expandedBytes };
    for (const [name, actual] of Object.entries(item)) {
      const stated = row[name as keyof typeof item];
      if (actual === stated) continue;
      throw mismatchError(
        `${name} of the local report ${localReportId} is ${actual} in the list and ${stated} in the manifest`,
      );
    }
    if (String(source.archiveBytes) !== bytes)
      throw mismatchError(`the list states ${source.archiveBytes} and ${bytes} bytes for ${localReportId}`);
  }
}

const mismatchError = (message: string): TransportError =>
  new TransportError('transport.ANSWER_MISMATCH', message);
