import type { Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS, createProgram } from '../../src/cli/program.ts';
import { CliCommand } from '../../src/cli/shared/options/command.ts';
import { findCommand } from '../../src/cli/failed.ts';
import { call, expectPass, world } from './make.ts';

/** Lists every command that has --help by its name: those of the table and all below them. */
async function listCommands(): Promise<ReadonlyMap<string, Command>> {
  const all = new Map<string, Command>();
  const add = (command: Command, path: string): void => {
    all.set(path, command);
    for (const child of command.commands) if (child.name() !== 'help') add(child, `${path} ${child.name()}`);
  };
  for (const name of Object.keys(COMMANDS))
    add(findCommand(await createProgram([name], world()), [name]), name);
  return all;
}

const definitions = await listCommands();
const commands = [...definitions.keys()];

describe('the help of every command', () => {
  it('the table of commands has more than 20 entries', () => {
    expect(commands.length).toBeGreaterThan(20);
  });

  it.each(commands)('%s --help prints usage, options and valid examples in 80 columns', async (name) => {
    const { code, stdout, stderr } = await call(`${name} --help`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage: drillproof ${name}`);
    expect(stdout).toContain('--help');
    if (!stdout.includes('Commands:')) expect(stdout).toMatch(/--json[^]*--quiet/);
    const wide = stdout.split('\n').filter((line) => line.length > 80);
    expect(wide.filter((line) => !/^( {2}\$ |Usage: )/.test(line))).toEqual([]);
    const examples = [...stdout.matchAll(/^ {2}\$ drillproof (.*)$/gm)].map(([, line]) => line ?? '');
    expect(examples.length).toBeGreaterThan(0);
    for (const line of examples.flatMap((text) => text.split(' | drillproof '))) await checkExample(line);
  });
});

/** Checks that the options of a command line exist, and that no required one is missing. */
async function checkExample(line: string): Promise<void> {
  const words = line.split(' ').filter((word) => word !== '');
  const command = findCommand(await createProgram(words, world()), words);
  const options = command.options.flatMap(({ long, short }) => [long, short]);
  for (const word of words.filter((text) => /^-./.test(text) && text !== '--help'))
    expect(options, `${word} in: ${line}`).toContain(word.split('=', 1)[0]);
  if (words.includes('--help')) return;
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ long }) => long);
  for (const option of required) expect(words, `${option} in: ${line}`).toContain(option);
}

describe('the program', () => {
  it('lists every command and the exit codes with --help', async () => {
    const stdout = await expectPass('--help');
    for (const name of Object.keys(COMMANDS)) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(stdout).toContain('Exit codes: 0 pass');
  });

  it.each(['', 'admin', 'admin token', 'keys'])(
    'prints its help on standard error and ends with 2 for "%s" without a command',
    async (line) => {
      const stderr = expect.stringContaining('Usage: drillproof') as string;
      expect(await call(line)).toMatchObject({ code: 2, stdout: '', stderr });
    },
  );

  it('prints the help of a command for "help" too', async () => {
    expect(await expectPass('help verify')).toContain('--expect-manifest');
  });

  it('prints its version', async () => {
    expect(await expectPass('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

/** Values of which every option accepts one. */
const VALUES = '1 x 1d a=b a=log drill=x text html evidence run.write http://x 0/2'.split(' ');
VALUES.push(`sha256:${'0'.repeat(64)}`);

const options = [...definitions].flatMap(([name, command]) =>
  command.options
    .filter((option) => option.required || option.optional)
    .map((option) => ({ name: `${name} ${option.long}`, command, option })),
);

/** Parses options without running the command; returns the code of the error, if any. */
const parse = (command: Command, words: readonly string[]): unknown => {
  try {
    command.parseOptions([...words]);
    return 'accepted';
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
};

const acceptedBy = (command: Command, { long, argChoices = [] }: Option): string | undefined =>
  [...argChoices, ...VALUES].find((value) => parse(command, [long!, value]) === 'accepted');

/** The words of an option: its flag, and a value that it accepts. */
async function formatOption(name: string, option: Option): Promise<string> {
  if (option.isBoolean() || option.optional) return option.long!;
  const words = name.split(' ');
  const command = findCommand(await createProgram(words, world()), words);
  return `${option.long}=${acceptedBy(command, option)}`;
}

/** Calls a command with an option, its required options and arguments; returns the exit code and standard error. */
async function callWith(name: string, command: Command, used: readonly Option[]) {
  const given = new Set([...command.options.filter(({ mandatory }) => mandatory), ...used]);
  const words = await Promise.all([...given].map((option) => formatOption(name, option)));
  const args = command.registeredArguments.filter(({ required }) => required).map(() => 'absent');
  const { code, stderr } = await call([...name.split(' '), ...words, ...args].join(' '));
  return { code, stderr };
}

const declared = [...definitions].flatMap(([name, command]) =>
  (command instanceof CliCommand ? command.declared : []).map((row) => ({
    name: `${name} ${row.option.long}`,
    command,
    path: name,
    row,
  })),
);
/** The names that commander stores for `conflicts`, and does not publish. */
const conflictsOf = (option: Option): readonly string[] =>
  (option as Option & { readonly conflictsWith: readonly string[] }).conflictsWith;
const flagsOf = (command: Command) => command.options.map(({ long }) => long);

describe('an option that is used with others', () => {
  const needing = declared.filter(({ row }) => row.needed.length > 0);
  const refusing = declared.filter(({ row }) => conflictsOf(row.option).length > 0);

  it('occurs in several commands', () => {
    expect(needing.length).toBeGreaterThan(40);
    expect(refusing.length).toBeGreaterThan(10);
  });

  it.each(needing)('$name is refused without them, and they exist', async ({ command, path, row }) => {
    const names = [...flagsOf(command), ...command.registeredArguments.map((each) => `[${each.name()}]`)];
    for (const word of row.needed.flat()) expect(names).toContain(word.split(' ')[0]);
    const { code, stderr } = await callWith(path, command, [row.option]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${row.option.long} needs `)]);
  });

  it.each(refusing)('$name is refused with each that it conflicts with', async ({ command, path, row }) => {
    for (const name of conflictsOf(row.option)) {
      const other = command.options.find((option) => option.attributeName() === name);
      expect(other, name).toBeDefined();
      const { code, stderr } = await callWith(path, command, [row.option, other!]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/usage\.INVALID.*\n {2}Omit one/)]);
    }
  });
});

describe('an option that takes a value', () => {
  it('occurs in every command that has options', () => {
    expect(options.length).toBeGreaterThan(200);
  });

  it.each(options)(
    '$name is refused when it is given twice, unless its help says that it is repeatable',
    ({ command, option }) => {
      const flag = option.long!;
      const accepted = acceptedBy(command, option);
      expect(accepted).toBeDefined();
      const isRepeatable = option.description.includes('(repeatable');
      const other = accepted?.replace(/^a/, 'c'); // a parameter has one value
      expect(parse(command, [`${flag}=${other}`])).toBe(isRepeatable ? 'accepted' : 'usage.INVALID');
    },
  );
});
