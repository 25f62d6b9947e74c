import type { Command } from 'commander';
import { parseJson } from '../../bytes/index.ts';
import type { Cli } from '../cli.ts';
import { dataOptions, type DataOptions, withAdmin } from '../shared/input/administration.ts';
import { readInput } from '../shared/input/input.ts';
import { examples } from '../shared/options/options.ts';
import { table, writeFacts, writeProduct } from '../shared/output/product.ts';

const MAX_IMPORT_BYTES = 64 * 1024 * 1024;

const IMPORT_HELP = `
The file has the form of docs/schemas/import.v1.schema.json. Organization and
project of each resource must exist. Importing the same file again changes
nothing.`;

/** `admin import` */
export function defineImport(command: Command, cli: Cli): void {
  dataOptions(command)
    .description(
      'Import environments, sessions, runs and authoring sessions in one transaction: all of them, or none.',
    )
    .argument('<file>', 'import file; - for standard input')
    .action(async (path: string, options: DataOptions) => {
      const document = parseJson(await readInput(path, MAX_IMPORT_BYTES, cli));
      const resources = await withAdmin(cli, options, ({ admin }) => admin.importResources(document));
      const cells = resources.map(({ result, type, projectId, id }) => [result, type, projectId, id]);
      const lines = table(['RESULT', 'TYPE', 'PROJECT', 'ID'], cells);
      await writeProduct(
        cli,
        { kind: 'imported', resources },
        lines === '' ? 'The file has no resources.\n' : lines,
      );
    });
  examples(command, {
    'worlds that another system made': 'drillproof admin import worlds.json',
    'from a pipe': 'drillproof admin import -',
  }).addHelpText('after', IMPORT_HELP);
}

/** `admin operation cancel` */
export function defineCancel(command: Command, cli: Cli): void {
  dataOptions(command)
    .description('Cancel queued work; running work is asked to stop.')
    .requiredOption('--organization <id>', 'organization that it belongs to')
    .argument('<operation-id>', 'id of the operation')
    .action(async (operationId: string, options: DataOptions & { readonly organization: string }) => {
      const { organization: organizationId } = options;
      const operation = await withAdmin(cli, options, ({ admin }) =>
        admin.cancelOperation({ organizationId, operationId }),
      );
      await writeFacts(cli, { kind: 'operation', operation }, [
        ['operation', operation.operationId],
        ['state', operation.state],
      ]);
    });
  examples(command, {
    'a waiting turn': 'drillproof admin operation cancel op_0123456789ab --organization org_0123456789ab',
  });
}
