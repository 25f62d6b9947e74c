import { globSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { COMMANDS, createProgram } from '../../src/cli/program.ts';
import { world } from '../cli/make.ts';

const PAGES = ['README.md', ...globSync('docs/**/*.md')];

/** The command lines of a text that run drillproof, with continued lines joined. */
function listCommands(text: string): string[] {
  const lines = text.replaceAll(/\s*\\\n\s*/g, ' ').split('\n');
  const calls = lines.flatMap((line) => (/^( {4}|\$ )/.test(line) ? line.split(/ (?:\||&&) /) : []));
  return calls.flatMap(
    (call) => /^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx )?drillproof (.*)$/.exec(call)?.[1] ?? [],
  );
}

/** The words of a command line up to a comment or redirection; a quoted word is one word. */
const wordsOf = (call: string): string[] =>
  Array.from(call.replace(/ [#>].*$/, '').matchAll(/'[^']*'|"[^"]*"|\S+/g), ([word]) => word);

function resolveCommand(program: Command, words: readonly string[]): Command {
  const [name, ...rest] = words;
  const command = program.commands.find((candidate) => candidate.name() === name);
  return command === undefined ? program : resolveCommand(command, rest);
}

/** The options of a command line that the command does not have. */
async function findUnknownOptions(call: string): Promise<string[]> {
  const words = wordsOf(call);
  const command = resolveCommand(await createProgram(words, world()), words);
  const options = command.options.flatMap(({ long, short }) => [long, short]);
  const valid = new Set(['--help', ...options]);
  return words.filter((word) => /^--?[a-z0]/.test(word) && !valid.has(word.split('=')[0]));
}

it.each(PAGES)('every command in %s has only options that exist', async (page) => {
  for (const call of listCommands(readFileSync(page, 'utf8')))
    expect([call, await findUnknownOptions(call)]).toEqual([call, []]);
});

it('a command in a page is read with its options, and an unknown option is reported', async () => {
  const text = '    $ A=1 drillproof verify x \\\n      --trust t --bogus | drillproof diff a -0 # --not';
  expect(listCommands(text)).toEqual(['verify x --trust t --bogus', 'diff a -0 # --not']);
  expect(await findUnknownOptions('verify x --trust t --bogus # --not')).toEqual(['--bogus']);
  expect(await findUnknownOptions('diff a -0')).toEqual(['-0']);
});

it('docs/verify/cli.md lists every command', () => {
  const page = readFileSync('docs/verify/cli.md', 'utf8');
  for (const name of Object.keys(COMMANDS)) expect(page).toMatch(new RegExp(`^\\| .*\`${name}[\` ]`, 'm'));
});
