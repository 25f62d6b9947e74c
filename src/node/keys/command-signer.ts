import {
  assertEcdsaDer,
  checkArguments,
  fromBase64,
  fromUtf8,
  listOf,
  TEXT,
  withMembers,
} from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { signChecked, type Signer, type VerifyingKey } from '../../trust/index.ts';
import { readVerifyingKey } from './keys.ts';
import { runCommand, type CommandRun } from './run-command.ts';

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

/** The options of `commandSigner`. Only `command` is required. */
export type CommandSignerOptions = {
  /** Program and arguments; no shell sees them. `commandWords` splits one line into them. */
  readonly command: readonly [program: string, ...words: string[]];
  /** The public half of the key that signs. Default: the key that the command prints on request. */
  readonly publicKey?: VerifyingKey | undefined;
  /** How long the command may take each time it is run, in milliseconds; default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** The environment of the command; `DRILLPROOF_TOKEN` is never passed on. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where the standard error of the command goes; default `ignore`. */
  readonly stderr?: 'inherit' | 'ignore';
  readonly signal?: AbortSignal;
};

const DEFAULT_TIMEOUT_MS = 60_000;
/** A signature has up to 72 bytes and a key file a few hundred; valid output is never longer. */
const MAX_ANSWER_BYTES = 64 * 1024;
const REQUEST = 'DRILLPROOF_SIGNER';

/**
 * A signer that never sees the private key: a command runs for every signature, reads the message from standard input
 * and writes the signature to standard output, as DER or as base64 of it (formats §2, Signer command). Every signature
 * is verified with the public key before it is returned.
 * @throws DrillproofError `trust.SIGNER_FAILED`, `trust.SIGNER_TIMEOUT`, `trust.SIGNER_OUTPUT`, which signing throws,
 *   too, and `trust.SIGNER_FAULT` for a signature that does not verify
 * @example
 * const signer = await commandSigner({ command: ['./sign-with-hsm', '--slot', '1'], timeoutMs: 10_000 });
 * const packed = await packBundle(bundleInput, { signer, issuer: 'https://drills.example', issuedAtMs: Date.now() });
 */
export async function commandSigner(options: CommandSignerOptions): Promise<Signer> {
  checkArguments(
    { options: withMembers('the options of a signer command', { command: listOf(TEXT) }) },
    { options },
  );
  const { publicKey = await askedKey(options) } = options;
  const { keyId, point } = publicKey;
  const raw: Signer = {
    keyId,
    point,
    sign: async (message) => derOf(await ask(options, 'sign', message), options.command[0]),
  };
  return { keyId, point, sign: (message) => signChecked(raw, message) };
}

function ask(options: CommandSignerOptions, request: string, input: Uint8Array): Promise<Uint8Array> {
  const { command, timeoutMs = DEFAULT_TIMEOUT_MS, env = process.env, stderr = 'ignore', signal } = options;
  const { DRILLPROOF_TOKEN: _token, ...handed } = env;
  const run: CommandRun = {
    command,
    input,
    env: { ...handed, [REQUEST]: request },
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
    stderr,
    signal,
  };
  return runCommand(run);
}

async function askedKey(options: CommandSignerOptions): Promise<VerifyingKey> {
  const answer = await ask(options, 'public-key', new Uint8Array());
  try {
    const { keyId, point } = readVerifyingKey(answer);
    return { keyId, point };
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const message = `${options.command[0]} did not print its public key`;
    throw new DrillproofError('trust.SIGNER_OUTPUT', message, {
      cause,
      details: { hint: 'Give the public key of the signer with --public-key FILE.' },
    });
  }
}

/** DER begins with byte 0x30, which is "0"; base64 of it always begins with "M": no text is both. */
function derOf(answer: Uint8Array, program: string): Uint8Array {
  const der = answer[0] === 0x30 ? answer : decoded(answer);
  try {
    if (der === undefined) throw new DrillproofError('encoding.DER_INVALID', 'it is neither DER nor base64');
    assertEcdsaDer(der);
    return der;
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const message = `${program} did not write an ECDSA P-256 signature in DER: ${cause.message}`;
    throw new DrillproofError('trust.SIGNER_OUTPUT', message, { cause });
  }
}

// Programs break base64 into lines, end it with a line feed, and use either alphabet.
function decoded(answer: Uint8Array): Uint8Array | undefined {
  try {
    const text = fromUtf8(answer).replaceAll(/[ \t\r\n]/g, '');
    const standard = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
    return fromBase64(standard.padEnd(Math.ceil(standard.length / 4) * 4, '='));
  } catch (error) {
    if (error instanceof DrillproofError) return undefined;
    throw error;
  }
}
