import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS, createProgram } from '../../src/cli/program.ts';
import { findCommand } from '../../src/cli/shared/output/failed.ts';
import { call, expectPass, world } from './make.ts';

/** Lists every command that has --help: those of the table and all below them. */
async function listCommands(): Promise<readonly (readonly string[])[]> {
  const paths: string[][] = [];
  const add = (command: Command, path: string[]): void => {
    paths.push(path);
    for (const child of command.commands) if (child.name() !== 'help') add(child, [...path, child.name()]);
  };
  for (const name of Object.keys(COMMANDS))
    add(findCommand(await createProgram([name], world()), [name]), [name]);
  return paths;
}

const commands = (await listCommands()).map((path) => path.join(' '));

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
