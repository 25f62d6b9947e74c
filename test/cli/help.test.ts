import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS, createProgram } from '../../src/cli/program.ts';
import { commandOf } from '../../src/cli/shared/output/failed.ts';
import { call, world } from './make.ts';

/** Every command that can be called with --help: those of the table and all below them. */
async function everyCommand(): Promise<readonly (readonly string[])[]> {
  const found: string[][] = [];
  const below = (command: Command, path: string[]): void => {
    found.push(path);
    for (const child of command.commands) if (child.name() !== 'help') below(child, [...path, child.name()]);
  };
  for (const name of Object.keys(COMMANDS))
    below(commandOf(await createProgram([name], world()), [name]), [name]);
  return found;
}

/** The command lines that a help text shows. */
const exampleLines = (help: string): readonly string[] =>
  [...help.matchAll(/^ {2}\$ drillproof (.*)$/gm)].map(([, line]) => line ?? '');

const commands = await everyCommand();

describe('the help of every command', () => {
  it('has usage, its options and examples, and exits with 0', async () => {
    expect(commands.length).toBeGreaterThan(20);
    for (const path of commands) {
      const { code, stdout, stderr } = await call([...path, '--help']);
      expect(code, path.join(' ')).toBe(0);
      expect(stderr).toBe('');
      expect(stdout).toContain(`Usage: drillproof ${path.join(' ')}`);
      expect(stdout).toContain('--help');
      expect(exampleLines(stdout).length, path.join(' ')).toBeGreaterThan(0);
    }
  });

  it('shows examples whose commands and options exist', async () => {
    for (const path of commands) {
      const { stdout } = await call([...path, '--help']);
      for (const line of exampleLines(stdout))
        for (const command of line.split(' | drillproof ')) await assertKnown(command);
    }
  });

  it('offers --json and --quiet wherever something is done', async () => {
    for (const path of commands) {
      const { stdout } = await call([...path, '--help']);
      if (!stdout.includes('Commands:')) expect(stdout, path.join(' ')).toMatch(/--json[^]*--quiet/);
    }
  });

  it('is at most 80 columns wide, except for examples and words that cannot be broken', async () => {
    for (const path of commands) {
      const { stdout } = await call([...path, '--help']);
      const wide = stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('  $ '));
      expect(
        wide.filter((line) => !line.startsWith('Usage: ')),
        path.join(' '),
      ).toEqual([]);
    }
  });
});

async function assertKnown(line: string): Promise<void> {
  const words = line.split(' ').filter((word) => word !== '');
  const command = commandOf(await createProgram(words, world()), words);
  const known = command.options.flatMap(({ long, short }) => [long, short]);
  for (const word of words.filter((one) => /^-./.test(one) && one !== '--help')) {
    expect(known, `${word} in: ${line}`).toContain(word.split('=', 1)[0]);
  }
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ long }) => long);
  if (words.includes('--help')) return;
  for (const option of required) expect(words, `${option} in: ${line}`).toContain(option);
}

describe('the program', () => {
  it('lists every command, and the exit codes', async () => {
    const { code, stdout } = await call(['--help']);
    expect(code).toBe(0);
    for (const name of Object.keys(COMMANDS)) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(stdout).toContain('Exit codes: 0 pass');
  });

  it('shows its help on stderr with exit code 2 when nothing is asked', async () => {
    for (const args of [[], ['admin'], ['admin', 'token'], ['keys']]) {
      const { code, stdout, stderr } = await call(args);
      expect([code, stdout], args.join(' ')).toEqual([2, '']);
      expect(stderr).toContain('Usage: drillproof');
    }
  });

  it('shows the help of a command by "help" too', async () => {
    const { code, stdout } = await call(['help', 'verify']);
    expect(code).toBe(0);
    expect(stdout).toContain('--expect-manifest');
  });

  it('prints its version', async () => {
    const { code, stdout } = await call(['--version']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
