import { DrillproofError } from '../../errors.ts';

/** Characters that a shell would interpret outside quotes. */
const ACTIVE = new Set('|&;<>()$`*?[]{}!#~\n');
/** Characters that a shell would interpret inside double quotes. */
const ACTIVE_QUOTED = new Set('$`\n');

type State = { word: string | undefined; quote: '"' | "'" | undefined };

/**
 * The words of a command line, split as a POSIX shell splits plain words: by white space, with single quotes, double
 * quotes and backslashes. No shell runs. Nothing is expanded, and what a shell would expand, redirect or chain is
 * refused instead of being passed on as text.
 * @throws DrillproofError `usage.INVALID`
 */
export function commandWords(line: string): readonly [program: string, ...words: string[]] {
  const words: string[] = [];
  const state: State = { word: undefined, quote: undefined };
  for (let at = 0; at < line.length; at++) at += take(line, at, state, words);
  if (state.quote !== undefined) throw wrong(`a ${state.quote} is not closed`);
  if (state.word !== undefined) words.push(state.word);
  const [program, ...rest] = words;
  if (program === undefined || program === '') throw wrong('it is empty');
  return [program, ...rest];
}

/** Reads one character, and returns how many more it read. */
function take(line: string, at: number, state: State, words: string[]): number {
  const character = line.charAt(at);
  if (state.quote === "'") return character === "'" ? close(state) : append(state, character);
  if (character === '\\') return escaped(line, at, state);
  if (character === state.quote) return close(state);
  const active = state.quote === undefined ? ACTIVE : ACTIVE_QUOTED;
  if (active.has(character)) throw wrong(`${JSON.stringify(character)} needs a shell, which is not used`);
  if (state.quote !== undefined) return append(state, character);
  if (character === '"' || character === "'") {
    state.quote = character;
    return append(state, '');
  }
  if (character !== ' ' && character !== '\t') return append(state, character);
  if (state.word !== undefined) words.push(state.word);
  state.word = undefined;
  return 0;
}

/** Inside double quotes a backslash is literal, unless a special character follows. */
function escaped(line: string, at: number, state: State): number {
  const next = line.charAt(at + 1);
  if (next === '') throw wrong('it ends with a backslash');
  const literal = state.quote === '"' && !'"\\$`'.includes(next);
  append(state, literal ? `\\${next}` : next);
  return 1;
}

function append(state: State, text: string): number {
  state.word = (state.word ?? '') + text;
  return 0;
}

function close(state: State): number {
  state.quote = undefined;
  return 0;
}

const wrong = (why: string): DrillproofError =>
  new DrillproofError('usage.INVALID', `the signer command cannot be parsed: ${why}`, {
    details: { hint: 'Give a program and plain words; put anything else into a script and name the script.' },
  });
