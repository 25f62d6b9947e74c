import type { Command } from 'commander';
import type { Cli } from './cli.ts';
import { CliCommand } from './shared/options/command.ts';
import { usageError } from './shared/options/values.ts';
import { readVersion } from './shared/output/product.ts';

const MAX_HELP_WIDTH = 100;

const EPILOGUE = `
Exit codes: 0 pass, 1 the evidence is bad, 2 wrong call or configuration,
3 could not be checked, 130 interrupted.

Examples:
  $ drillproof verify ./mirror --trust trust.json
  $ drillproof explain part.DIGEST_MISMATCH`;

export async function createProgram(argv: readonly string[], cli: Cli): Promise<CliCommand> {
  const program = new CliCommand('drillproof')
    .description('Package, mirror and verify the evidence of drill runs.')
    .usage('<command> [options]')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help of a command')
    .showSuggestionAfterError(false)
    .exitOverride()
    .addHelpText('after', EPILOGUE)
    .configureHelp({ subcommandDescription: summarize })
    .configureOutput({
      writeOut: (text) => void cli.stdout.write(text),
      writeErr: (text) => void cli.stderr.write(text),
      outputError: () => {}, // failed.ts reports errors
      getOutHelpWidth: () => Math.min(cli.stdout.columns, MAX_HELP_WIDTH),
      getErrHelpWidth: () => Math.min(cli.stderr.columns, MAX_HELP_WIDTH),
    })
    .hook('preAction', (_program, action) => {
      cli.begin?.(action.name());
      readStandardOptions(action, cli);
      for (const path of listInputs(action)) cli.inputs.add(path);
    });
  if (argv.includes('--version')) program.version(await readVersion(), '--version', 'show the version');
  else program.option('--version', 'show the version');
  await addCommands(program, argv, cli);
  return program;
}

async function addCommands(program: CliCommand, argv: readonly string[], cli: Cli): Promise<void> {
  const called = argv[0] === 'help' ? argv[1] : argv[0];
  for (const [name, { summary, group, load }] of Object.entries(COMMANDS)) {
    const command = program
      .command(name)
      .summary(summary)
      .description(formatSentence(summary))
      .helpGroup(group);
    if (name === called) (await load()).defineCommand(command, cli);
  }
}

/** The first clause of a description: `verify a ledger offline`. */
const summarize = (command: Command): string => {
  const text = command.summary() || command.description();
  return `${text[0]?.toLowerCase() ?? ''}${text.slice(1).split(/[.:;]/, 1)[0] ?? ''}`;
};

const formatSentence = (summary: string): string => `${summary[0]!.toUpperCase()}${summary.slice(1)}.`;

function readStandardOptions(action: Command, cli: Cli): void {
  const { quiet, json, format }: { quiet?: boolean; json?: boolean; format?: unknown } = action.opts();
  if (json === true && format === 'text' && action.getOptionValueSource('format') === 'cli')
    throw usageError('--json and --format text are both given', 'Give one of them.');
  cli.quiet = quiet === true;
  if (json === true || format === 'json') cli.format = 'json';
}

/** Options and arguments that name outputs. Every other word may be the path of an input. */
const OUTPUTS = new Set(['textfile', 'format', 'out', 'public', 'source', 'vsa', 'output']);

function listInputs(action: Command): readonly string[] {
  const args = action.registeredArguments.map((argument, at) => [argument.name(), action.processedArgs[at]]);
  return [...Object.entries(action.opts()), ...args]
    .filter(([name]) => !OUTPUTS.has(name))
    .flatMap(([, value]) => [value].flat().map(readPath))
    .filter((path) => path !== undefined);
}

/** Reads a path alone, or with members, as in `--key FILE,issuer=NAME`. */
function readPath(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const isSpec = typeof value === 'object' && value !== null && 'file' in value;
  return isSpec && typeof value.file === 'string' ? value.file : undefined;
}

type CommandRow = {
  readonly summary: string;
  readonly group: string;
  readonly load: () => Promise<{ readonly defineCommand: (command: CliCommand, cli: Cli) => void }>;
};

const addGroup = (group: string, rows: Readonly<Record<string, Omit<CommandRow, 'group'>>>) =>
  Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { ...row, group }]));

/** Every command. Only the called command is loaded. */
export const COMMANDS: Readonly<Record<string, CommandRow>> = {
  ...addGroup('Check evidence:', {
    verify: {
      summary: 'verify exports and parts offline',
      load: () => import('./verify/command.ts'),
    },
    gate: {
      summary: 'answer yes, no or could not tell under a policy',
      load: () => import('./gate/command.ts'),
    },
    policy: {
      summary: 'write, check, explain and test policies',
      load: () => import('./policy/command.ts'),
    },
    inspect: {
      summary: 'show the contents of an export or part',
      load: () => import('./inspect/command.ts'),
    },
    diff: {
      summary: 'compare two reports',
      load: () => import('./diff/command.ts'),
    },
    archive: {
      summary: 'show and verify what an archive contains',
      load: () => import('./archive/command.ts'),
    },
    receipts: {
      summary: 'list and verify the receipts of mirrors',
      load: () => import('./receipts/command.ts'),
    },
    explain: {
      summary: 'explain a code or a check',
      load: () => import('./explain/command.ts'),
    },
    report: {
      summary: 'show reports over time, verify signed ones',
      load: () => import('./report/command.ts'),
    },
    keys: {
      summary: 'make signing keys and manage trust stores',
      load: () => import('./keys/command.ts'),
    },
    selftest: {
      summary: 'run the conformance vectors',
      load: () => import('./selftest/command.ts'),
    },
    dsse: {
      summary: 'sign evidence in a separate file, and verify it',
      load: () => import('./dsse/command.ts'),
    },
    challenge: {
      summary: 'issue challenges before runs, check their ledger',
      load: () => import('./challenge/command.ts'),
    },
    timestamp: {
      summary: 'prove that evidence existed at a time',
      load: () => import('./timestamp/command.ts'),
    },
    vsa: {
      summary: 'verify the signed summary of a gate',
      load: () => import('./vsa/command.ts'),
    },
    scrub: {
      summary: 'read mirrors again, report damage and repair it',
      load: () => import('./scrub/command.ts'),
    },
  }),
  ...addGroup('Make and move evidence:', {
    mirror: {
      summary: 'copy exports and verify every byte',
      load: () => import('./mirror/command.ts'),
    },
    pack: {
      summary: 'pack the evidence of one run into a part',
      load: () => import('./pack/command.ts'),
    },
    export: {
      summary: 'put parts and local reports into an export',
      load: () => import('./export/command.ts'),
    },
    reports: {
      summary: 'list the local reports of an export',
      load: () => import('./reports/command.ts'),
    },
    'tool-source': {
      summary: 'save and check the source of a locked tool',
      load: () => import('./tool-source/command.ts'),
    },
  }),
  ...addGroup('Run a control plane:', {
    serve: {
      summary: 'start a control plane',
      load: () => import('./serve/command.ts'),
    },
    worker: {
      summary: 'do the queued work of a control plane',
      load: () => import('./worker/command.ts'),
    },
    runner: {
      summary: 'try a runner without a control plane',
      load: () => import('./runner/command.ts'),
    },
    admin: {
      summary: 'administer a control plane',
      load: () => import('./admin/command.ts'),
    },
  }),
};
