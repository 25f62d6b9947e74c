import { defined } from '../../bytes/arguments.ts';
import { closeAfter } from '../../bytes/async.ts';
import type { OpenFile } from '../../evidence/source.ts';
import { openFile } from '../../node/evidence/file-access.ts';
import type { Cli } from '../cli.ts';
import { readReportMetadata } from '../shared/input/local-report.ts';
import { DATA, OF_PROJECT, withAdmin } from '../shared/input/administration.ts';
import { withEvidence } from '../shared/input/input.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option } from '../shared/options/option.ts';
import { parseTime } from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { writeFacts } from '../shared/output/product.ts';

const IN_PROJECT = [...DATA, OF_PROJECT];

const withFile = async <T>(path: string, work: (file: OpenFile) => Promise<T>): Promise<T> =>
  closeAfter(await openFile(path), work);

const formatState = (created: boolean): string => (created ? 'stored' : 'unchanged');

export const defineBundle = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description(
      'Store the part archive of a bundle. It must be intact; its signature is not checked against a trust store.',
    )
    .argument('<part>', 'part archive')
    .perform(
      [...IN_PROJECT, option('--delete-at <time>', 'when to delete its bytes (default: never)', parseTime)],
      async (options, path: string) => {
        const { deleteAt: deleteAtMs, project } = options;
        const { bundle, created } = await withFile(path, (file) =>
          withAdmin(cli, options, ({ admin }) => admin.ingestBundle(project, file, defined({ deleteAtMs }))),
        );
        await writeFacts(cli, { kind: 'ingested-bundle', created, bundle }, [
          ['bundle', bundle.evidenceBundleId],
          ['project', bundle.projectId],
          ['signed', bundle.signed ? 'yes (not verified)' : 'no'],
          ['result', formatState(created)],
        ]);
      },
    )
    .examples({ 'a part': 'drillproof admin ingest bundle part-1.zip --project prj_0123456789ab' });

const EXPORT_HELP = `
Store each local report first, with "drillproof admin ingest local-report".`;

export const defineExport = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Store an export with all its parts and local reports, to be served and mirrored.')
    .argument('<export>', 'folder of the export, or a ZIP of it')
    .perform(DATA, async (options, path: string) => {
      await withEvidence(cli, path, async (evidence) => {
        if (evidence.kind === 'part')
          throw usageError(
            `${path} is a single part, not an export`,
            'Store a part with "drillproof admin ingest bundle".',
          );
        const { source } = evidence;
        const result = await withAdmin(cli, options, ({ admin }) => admin.ingestExport(source));
        const { evidenceExportId, bundleCount, manifestDigest } = result.resource;
        await writeFacts(cli, { kind: 'ingested-export', ...result }, [
          ['export', evidenceExportId],
          ['bundles', String(bundleCount)],
          ['manifest', manifestDigest],
          ['result', formatState(result.created)],
        ]);
      });
    })
    .examples({
      'an export': 'drillproof admin ingest export ./export',
    })
    .addHelpText('after', EXPORT_HELP);

export const defineBuild = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description('Store a build archive, so that the source of its tools can be read.')
    .argument('<archive>', 'ZIP with build.json and the files that it names')
    .perform(IN_PROJECT, async (options, path: string) => {
      const result = await withFile(path, (file) =>
        withAdmin(cli, options, ({ admin }) => admin.ingestBuild(options.project, file)),
      );
      await writeFacts(cli, { kind: 'ingested-build', ...result }, [
        ['build', result.buildHash],
        ['attempt', result.buildAttemptId],
        ['result', formatState(result.created)],
      ]);
    })
    .examples({ 'a build': 'drillproof admin ingest build build.zip --project prj_0123456789ab' });

const METADATA_HELP = `
docs/server/server.md has the form of the claims.`;

const LOCAL_REPORT = [
  ...IN_PROJECT,
  option('--metadata <file>', 'claims of its uploader in JSON; - for standard input').required(),
];

export const defineLocalReport = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description("Store the archive of a local report with its uploader's claims.")
    .argument('<archive>', 'archive of the report; it is opaque')
    .perform(LOCAL_REPORT, async (options, path: string) => {
      const metadata = await readReportMetadata(cli, options.metadata);
      const result = await withFile(path, (file) =>
        withAdmin(cli, options, ({ admin }) => admin.ingestLocalReport(options.project, file, metadata)),
      );
      await writeFacts(cli, { kind: 'ingested-local-report', ...result }, [
        ['local report', result.localReportId],
        ['result', formatState(result.created)],
      ]);
    })
    .examples({
      'a local report':
        'drillproof admin ingest local-report report.zip --project prj_0123456789ab --metadata meta.json',
    })
    .addHelpText('after', METADATA_HELP);
