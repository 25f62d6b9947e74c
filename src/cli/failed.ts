import { type Command, CommanderError } from 'commander';
import { didYouMean } from '../bytes/text/wording.ts';
import type { DrillproofError } from '../errors.ts';
import { escapeText } from '../report/printable.ts';
import { type Cli, writeFolded } from './cli.ts';
import { createProgram } from './program.ts';
import { usageError } from './shared/options/values.ts';
import { VARIABLES } from './shared/options/variables.ts';
import type { ExitCode } from './exit.ts';
import { formatFailureJson, describeFailure, formatFailureText } from './shared/output/failure.ts';

/** Reports an error on stderr and, with JSON output, as an object on stdout. */
export async function reportFailure(thrown: unknown, argv: readonly string[], cli: Cli): Promise<ExitCode> {
  if (thrown instanceof CommanderError) await removeOutputs(argv, cli);
  const error = thrown instanceof CommanderError ? await explainUsage(thrown, argv, cli) : thrown;
  const failure = describeFailure(error, cli.signal.aborted);
  if (cli.format === 'json' || asksForJson(argv)) await cli.stdout.write(formatFailureJson(failure));
  if (cli.eventsOnStderr !== true) await writeFolded(cli.stderr, formatFailureText(failure));
  if (cli.env[VARIABLES.debug] === '1') await writeFolded(cli.stderr, formatStack(error));
  return failure.exit;
}

/**
 * Removes the reports that a call would have replaced if its options were right, so that a CI system does not show those of an
 * earlier run. Every other word could be the path of an input.
 */
async function removeOutputs(argv: readonly string[], cli: Cli): Promise<void> {
  const end = argv.indexOf('--');
  const options = end < 0 ? argv : argv.slice(0, end);
  if (!options.includes('--force')) return;
  const files: string[] = [];
  for (const [at, word] of argv.entries()) {
    const [, name, value] = /^--(format|vsa)(?:=([^]*))?$/.exec(options[at] ?? '') ?? [];
    const [, before] = /^--(format|vsa)$/.exec(options[at - 1] ?? '') ?? [];
    const output = value ?? (before === undefined ? undefined : word);
    if (output === undefined) cli.inputs.add(word.replace(/^--[a-z-]+=/, ''));
    else files.push((name ?? before) === 'vsa' ? output : output.replace(/^[^=]*=?/, ''));
  }
  const { removeStale } = await import('./shared/output/output-file.ts');
  for (const file of files.filter((path) => path !== '')) await removeStale(cli, file).catch(() => undefined); // the fault of the call is reported
}

function formatStack(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = error.cause === undefined ? '' : `caused by ${formatStack(error.cause)}`;
  const lines = (error.stack ?? error.message).split('\n').map((line) => `  ${escapeText(line)}\n`);
  return `${lines.join('')}${cause}`;
}

// This reads the raw words, because commander may have failed to parse them.
function asksForJson(argv: readonly string[]): boolean {
  return argv.some(
    (word, i) =>
      word === '--json' || word === '--format=json' || (word === 'json' && argv[i - 1] === '--format'),
  );
}

/** Advice for options of other tools. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['--pubkey', 'Pass a public key with --key FILE,issuer=NAME.'],
  ['--public-key', 'Pass a public key with --key FILE,issuer=NAME.'],
  ['--issuer', 'Name the issuer next to its key: --key FILE,issuer=NAME.'],
  ['--output', 'Write a report to a file with --format KIND=FILE.'],
]);

const SECRET_OPTIONS = new Set(['--token', '--access-token', '--bearer', '--password', '--secret']);
const SECRET_HINT = 'Set DRILLPROOF_TOKEN, or name a file that contains the token with --token-file.';

/** Finds the command or subcommand that a command line calls. */
export function findCommand(program: Command, argv: readonly string[]): Command {
  let command = program;
  for (const word of argv) {
    const next = command.commands.find((subcommand) => subcommand.name() === word);
    if (next === undefined) break;
    command = next;
  }
  return command;
}

const CONFLICT = 'commander.conflictingOption';

/** Turns an error of commander into a wrong call, with a suggestion if a name is near. */
async function explainUsage(
  error: CommanderError,
  argv: readonly string[],
  cli: Cli,
): Promise<DrillproofError> {
  const command = findCommand(await createProgram(argv, cli), argv);
  const message = error.message.replace(/^error: /, '').split('\n')[0]!;
  const help = `See "${formatCommandPath(command)} --help".`;
  const rejected = /'([^']*)'/.exec(message)?.[1] ?? '';
  if (error.code === 'commander.unknownOption') return unknownOptionError(rejected, command, help);
  if (error.code === 'commander.unknownCommand') {
    const names = command.commands.map((subcommand) => subcommand.name());
    const hint = rejected === 'version' ? 'Did you mean --version?' : didYouMean(rejected, names);
    return usageError(`unknown command "${rejected}"`, joinHints(hint, help));
  }
  // A misspelt option is often the cause of a missing option or an additional argument.
  const names = listOptionNames(command);
  const unknown = argv.find(
    (word) => word.startsWith('--') && word !== '--' && !names.includes(nameOf(word)),
  );
  if (unknown !== undefined) return unknownOptionError(unknown, command, help);
  return usageError(message, error.code === CONFLICT ? `Omit one of them. ${help}` : help);
}

const nameOf = (word: string): string => word.split('=', 1)[0]!;
const listOptionNames = (command: Command): readonly string[] => [
  ...command.options.flatMap(({ long }) => (typeof long === 'string' ? [long] : [])),
  '--help',
];

// The message omits the value after `=`, which may be a secret.
function unknownOptionError(option: string, command: Command, help: string): DrillproofError {
  const name = nameOf(option);
  if (SECRET_OPTIONS.has(name)) {
    return usageError(
      'a token is never read from the command line, which every user of the machine can see',
      SECRET_HINT,
    );
  }
  const names = listOptionNames(command);
  const needs = name === '--output' ? '--force' : '--key';
  const advice = names.includes(needs) && names.includes('--trust') ? ADVICE.get(name) : undefined;
  const hint = advice ?? didYouMean(name, names);
  return usageError(`unknown option ${name}`, joinHints(hint, help));
}

const joinHints = (first: string | undefined, second: string): string =>
  first === undefined ? second : `${first} ${second}`;

function formatCommandPath(command: Command): string {
  return command.parent === null ? command.name() : `${formatCommandPath(command.parent)} ${command.name()}`;
}
