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
    if (name === called) (await load())(command, cli);
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

type Define = (command: CliCommand, cli: Cli) => void;

type CommandRow = {
  readonly summary: string;
  readonly group: string;
  readonly load: () => Promise<Define>;
};

const addGroup = (group: string, rows: Readonly<Record<string, Omit<CommandRow, 'group'>>>) =>
  Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { ...row, group }]));

/** Every command. Only the called command is loaded. */
export const COMMANDS: Readonly<Record<string, CommandRow>> = {
  ...addGroup('Check evidence:', {
    verify: {
      summary: 'verify exports and parts offline',
      load: async () => (await import('./verify/command.ts')).defineVerifyCommand,
    },
    gate: {
      summary: 'answer yes, no or could not tell under a policy',
      load: async () => (await import('./gate/command.ts')).defineGateCommand,
    },
    policy: {
      summary: 'write, check, explain and test policies',
      load: async () => (await import('./policy/command.ts')).definePolicyCommand,
    },
    inspect: {
      summary: 'show the contents of an export or part',
      load: async () => (await import('./inspect/command.ts')).defineInspectCommand,
    },
    diff: {
      summary: 'compare two reports',
      load: async () => (await import('./diff/command.ts')).defineDiffCommand,
    },
    archive: {
      summary: 'show and verify what an archive contains',
      load: async () => (await import('./archive/command.ts')).defineArchiveCommand,
    },
    receipts: {
      summary: 'list and verify the receipts of mirrors',
      load: async () => (await import('./receipts/command.ts')).defineReceiptsCommand,
    },
    explain: {
      summary: 'explain a code or a check',
      load: async () => (await import('./explain/command.ts')).defineExplainCommand,
    },
    report: {
      summary: 'show reports over time, verify signed ones',
      load: async () => (await import('./report/command.ts')).defineReportCommand,
    },
    keys: {
      summary: 'make signing keys and manage trust stores',
      load: async () => (await import('./keys/command.ts')).defineKeysCommand,
    },
    selftest: {
      summary: 'run the conformance vectors',
      load: async () => (await import('./selftest/command.ts')).defineSelftestCommand,
    },
    dsse: {
      summary: 'sign evidence in a separate file, and verify it',
      load: async () => (await import('./dsse/command.ts')).defineDsseCommand,
    },
    challenge: {
      summary: 'issue challenges before runs, check their ledger',
      load: async () => (await import('./challenge/command.ts')).defineChallengeCommand,
    },
    timestamp: {
      summary: 'prove that evidence existed at a time',
      load: async () => (await import('./timestamp/command.ts')).defineTimestampCommand,
    },
    vsa: {
      summary: 'verify the signed summary of a gate',
      load: async () => (await import('./vsa/command.ts')).defineVsaCommand,
    },
    scrub: {
      summary: 'read mirrors again, report damage and repair it',
      load: async () => (await import('./scrub/command.ts')).defineScrubCommand,
    },
  }),
  ...addGroup('Make and move evidence:', {
    mirror: {
      summary: 'copy exports and verify every byte',
      load: async () => (await import('./mirror/command.ts')).defineMirrorCommand,
    },
    pack: {
      summary: 'pack the evidence of one run into a part',
      load: async () => (await import('./pack/command.ts')).definePackCommand,
    },
    export: {
      summary: 'put parts and local reports into an export',
      load: async () => (await import('./export/command.ts')).defineExportCommand,
    },
    reports: {
      summary: 'list the local reports of an export',
      load: async () => (await import('./reports/command.ts')).defineReportsCommand,
    },
    'tool-source': {
      summary: 'save and check the source of a locked tool',
      load: async () => (await import('./tool-source/command.ts')).defineToolSourceCommand,
    },
  }),
  ...addGroup('Run a control plane:', {
    serve: {
      summary: 'start a control plane',
      load: async () => (await import('./serve/command.ts')).defineServeCommand,
    },
    worker: {
      summary: 'do the queued work of a control plane',
      load: async () => (await import('./worker/command.ts')).defineWorkerCommand,
    },
    runner: {
      summary: 'try a runner without a control plane',
      load: async () => (await import('./runner/command.ts')).defineRunnerCommand,
    },
    admin: {
      summary: 'administer a control plane',
      load: async () => (await import('./admin/command.ts')).defineAdminCommand,
    },
  }),
};
