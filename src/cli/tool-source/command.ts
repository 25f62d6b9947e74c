import { defined } from '../../bytes/arguments.ts';
import { parseJson } from '../../bytes/json/parse.ts';
import { toolSourceSchema } from '../../contract/resources/build.ts';
import { typeDocument } from '../../evidence/document.ts';
import { exitOfVerdict } from '../../report/run.ts';
import { renderers } from '../../report/text/text.ts';
import { verifyToolSource } from '../../verify/tool-source.ts';
import { type Cli, describeLook } from '../cli.ts';
import { readEvidenceInput, readInput } from '../shared/input/input.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { FORCE, remoteOptions, STANDARD } from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { writeBytes } from '../shared/output/output-file.ts';
import { selectText } from '../shared/output/product.ts';

const MAX_RESOURCE_BYTES = 16 * 1024 * 1024;
const MAX_LOCK_BYTES = 16 * 1024 * 1024;

const TOOL_SOURCE = [
  ...STANDARD,
  ...remoteOptions(),
  option('--file <file>', 'check this saved resource instead; - for standard input'),
  option('--lock <file>', 'compare every field with this build.json, which you trust'),
  option('--out <file>', 'save the resource'),
  option('--source <file>', 'save the JavaScript; - for standard output'),
  FORCE,
];
type Options = OptionsOf<typeof TOOL_SOURCE>;

const MORE = `
The source must be of the build and package that you name. It must match its
own size and digest and, with --lock, a build.json that you trust. Nothing is
written if a check fails.`;

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description('Fetch the source of a locked tool and check its bytes, or check a saved copy.')
    .argument('[build-hash]', 'hash of the build that locks the package')
    .argument('[package]', 'id of the package')
    .perform(TOOL_SOURCE, (options, buildHash: string | undefined, packageId: string | undefined) =>
      run(cli, buildHash, packageId, options),
    )
    .examples({
      'read it for review':
        'drillproof tool-source sha256:… mailer --project prj_0123456789ab --url http://127.0.0.1:8080 --lock build.json --source mailer.js',
      'check one that was saved':
        'drillproof tool-source sha256:… mailer --file mailer.json --lock build.json',
    })
    .addHelpText('after', MORE);
}

async function run(
  cli: Cli,
  buildHash: string | undefined,
  packageId: string | undefined,
  options: Options,
): Promise<void> {
  const bytes = await readResource(cli, buildHash, packageId, options);
  const lock = options.lock === undefined ? undefined : await readInput(options.lock, MAX_LOCK_BYTES, cli);
  const { project: projectId } = options;
  const report = verifyToolSource(
    bytes,
    defined({ lock, expect: defined({ projectId, buildHash, packageId }) }),
  );
  // Without a lock, intact is the best possible verdict.
  cli.exitCode = exitOfVerdict(report.verdict, lock === undefined);
  if (cli.exitCode === 0) await save(cli, bytes, options);
  const to = options.source === '-' ? cli.stderr : cli.stdout;
  const text = renderers[cli.format](report, describeLook(cli, to));
  await to.write(cli.format === 'json' ? text : selectText(cli, text));
}

async function readResource(
  cli: Cli,
  buildHash: string | undefined,
  packageId: string | undefined,
  options: Options,
): Promise<Uint8Array> {
  const { file } = options;
  if (file !== undefined) return readEvidenceInput(file, MAX_RESOURCE_BYTES, cli);
  const hint = 'Name a build, a package, --url and --project, or a saved resource with --file FILE.';
  if (buildHash === undefined || packageId === undefined)
    throw usageError(`the ${buildHash === undefined ? 'build' : 'package'} is missing`, hint);
  const { openProject } = await import('../shared/input/remote.ts');
  const { client, project } = await openProject(cli, options, hint);
  const wanted = { projectId: project, buildHash, packageId };
  const resource = await client.builds.tools.source(wanted, { signal: cli.signal });
  return Buffer.from(`${JSON.stringify(resource, null, 2)}\n`);
}

async function save(cli: Cli, bytes: Uint8Array, { out, source, force = false }: Options): Promise<void> {
  if (out !== undefined) await writeBytes(cli, out, [bytes], { force });
  if (source === undefined) return;
  const kind = { schema: toolSourceSchema, code: 'tool-source.INVALID' } as const;
  const { implementation } = typeDocument(parseJson(bytes), kind);
  await writeBytes(cli, source, [Buffer.from(implementation.source)], { force });
}
