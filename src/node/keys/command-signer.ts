import { assertEcdsaDer } from '../../bytes/der.ts';
import { checkArguments, listOf, TEXT, withMembers } from '../../bytes/arguments.ts';
import { fromBase64, fromUtf8 } from '../../bytes/text/encoding.ts';
import { DrillproofError } from '../../errors.ts';
import { signChecked, type Signer } from '../../trust/key/signer.ts';
import type { VerifyingKey } from '../../trust/key/key.ts';
import { readVerifyingKey } from './keys.ts';
import { spawn, type ChildProcess } from 'node:child_process';
import { errnoOf } from '../fs-errors.ts';

/** The pieces of a command line: white space, single and double quotes, an escaped character, and plain text. */
const PIECE = /([ \t]+)|'([^']*)'|"((?:[^"\\$`\n]|\\[^])*)"|\\([^])|([^ \t'"\\|&;<>()$`*?[\]{}!#~\n]+)/gy;

/**
 * Splits a command line into words, as a POSIX shell does: by white space, with single quotes, double quotes and
 * backslashes. No shell runs. Characters that a shell would expand, redirect or chain are refused, not passed on as
 * text.
 * @throws DrillproofError `usage.INVALID`
 */
export function commandWords(line: string): readonly [program: string, ...words: string[]] {
  const words: (string | undefined)[] = [];
  let word: string | undefined;
  let end = 0;
  for (const [piece, space, single, double, escaped, plain] of line.matchAll(PIECE)) {
    end += piece.length;
    // Inside double quotes a backslash is literal, unless a special character follows.
    const text = single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? plain;
    if (space !== undefined) words.push(word);
    word = space === undefined ? `${word ?? ''}${text}` : undefined;
  }
  if (end < line.length) throw commandError(describeRefusal(line.slice(end)));
  const [program, ...rest] = [...words, word].filter((item) => item !== undefined);
  if (program === undefined || program === '') throw commandError('it is empty');
  return [program, ...rest];
}

/** Describes why a command line cannot be split from here on. */
function describeRefusal(line: string): string {
  const [quoted = ''] = /^'[^]*|^"(?:[^"\\$`\n]|\\[^])*/.exec(line) ?? [];
  const next = line.charAt(quoted.length);
  if (next === '\\') return 'it ends with a backslash';
  if (next === '') return `a ${line.charAt(0)} is not closed`;
  return `${JSON.stringify(next)} needs a shell, which is not used`;
}

const commandError = (why: string): DrillproofError =>
  new DrillproofError('usage.INVALID', `the signer command cannot be parsed: ${why}`, {
    details: { hint: 'Give a program and plain words; put anything else into a script and name the script.' },
  });

/** The options of `commandSigner`. Only `command` is required. */
export type CommandSignerOptions = {
  /** Program and arguments; no shell sees them. `commandWords` splits one line into them. */
  readonly command: readonly [program: string, ...words: string[]];
  /** The public half of the key that signs. Default: the key that the command prints on request. */
  readonly publicKey?: VerifyingKey | undefined;
  /** The timeout of each run of the command, in milliseconds; default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** The environment of the command; `DRILLPROOF_TOKEN` is never passed on. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The destination of the standard error of the command; default `ignore`. */
  readonly stderr?: 'inherit' | 'ignore';
  readonly signal?: AbortSignal;
};

const DEFAULT_TIMEOUT_MS = 60_000;
/** A signature has up to 72 bytes and a key file a few hundred; valid output is never longer. */
const MAX_ANSWER_BYTES = 64 * 1024;
const REQUEST = 'DRILLPROOF_SIGNER';

/**
 * Creates a signer without the private key. A command runs for every signature, reads the message from standard input
 * and writes the signature to standard output, as DER or base64 of it (formats §2, Signer command). Every signature is
 * verified with the public key before it is returned.
 * @throws DrillproofError `trust.SIGNER_FAILED`, `trust.SIGNER_TIMEOUT`, `trust.SIGNER_OUTPUT`. Signing throws these too,
 *   and `trust.SIGNER_FAULT` for a signature that does not verify.
 * @example
 * const signer = await commandSigner({ command: ['./sign-with-hsm', '--slot', '1'], timeoutMs: 10_000 });
 * const packed = await packBundle(bundleInput, { signer, issuer: 'https://drills.example', issuedAtMs: Date.now() });
 */
export async function commandSigner(options: CommandSignerOptions): Promise<Signer> {
  checkArguments(
    { options: withMembers('the options of a signer command', { command: listOf(TEXT) }) },
    { options },
  );
  const { publicKey = await fetchPublicKey(options) } = options;
  const { keyId, point } = publicKey;
  const raw: Signer = {
    keyId,
    point,
    sign: async (message) => parseSignature(await run(options, 'sign', message), options.command[0]),
  };
  return { keyId, point, sign: (message) => signChecked(raw, message) };
}

/**
 * Runs the command and returns its standard output. Errors name the program only, because its arguments and its standard
 * error could contain secrets.
 * @throws DrillproofError `trust.SIGNER_FAILED`, `trust.SIGNER_TIMEOUT`, `trust.SIGNER_OUTPUT`; the reason of `signal`
 */
async function run(options: CommandSignerOptions, request: string, input: Uint8Array): Promise<Uint8Array> {
  const { command, timeoutMs = DEFAULT_TIMEOUT_MS, env = process.env, stderr = 'ignore', signal } = options;
  const { DRILLPROOF_TOKEN: _token, ...otherEnv } = env;
  signal?.throwIfAborted();
  const [program, ...words] = command;
  const child = spawn(program, words, {
    stdio: ['pipe', 'pipe', stderr],
    env: { ...otherEnv, [REQUEST]: request },
    shell: false,
    windowsHide: true,
  });
  const deadline = new AbortController();
  const late = `${program} did not answer within ${timeoutMs / 1000} s`;
  const timer = setTimeout(
    () => deadline.abort(new DrillproofError('trust.SIGNER_TIMEOUT', late)),
    timeoutMs,
  );
  const stop = AbortSignal.any(signal === undefined ? [deadline.signal] : [deadline.signal, signal]);
  try {
    return await readAnswer(child, program, input, stop);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
    child.stdout?.destroy(); // a process that it started may still have the pipe open
    child.stdin?.destroy();
  }
}

async function fetchPublicKey(options: CommandSignerOptions): Promise<VerifyingKey> {
  const answer = await run(options, 'public-key', new Uint8Array());
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

/** DER begins with byte 0x30, which is "0". Base64 of it always begins with "M". No text is both. */
function parseSignature(answer: Uint8Array, program: string): Uint8Array {
  const der = answer[0] === 0x30 ? answer : decodeAnswer(answer);
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
function decodeAnswer(answer: Uint8Array): Uint8Array | undefined {
  try {
    const text = fromUtf8(answer).replaceAll(/[ \t\r\n]/g, '');
    const standard = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
    return fromBase64(standard.padEnd(Math.ceil(standard.length / 4) * 4, '='));
  } catch (error) {
    if (error instanceof DrillproofError) return undefined;
    throw error;
  }
}

function readAnswer(child: ChildProcess, program: string, input: Uint8Array, stop: AbortSignal) {
  return new Promise<Uint8Array>((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    stop.addEventListener('abort', () => reject(stop.reason), { once: true });
    child.on('error', (cause) => reject(startError(program, cause)));
    child.stdin?.on('error', () => undefined); // it may answer without reading all of the message
    child.stdout?.on('error', reject);
    child.stdout?.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= MAX_ANSWER_BYTES) return;
      const message = `${program} wrote more than ${MAX_ANSWER_BYTES} bytes`;
      reject(new DrillproofError('trust.SIGNER_OUTPUT', message));
    });
    child.on('close', (code, killedBy) => {
      if (code === 0) return resolve(Buffer.concat(chunks));
      const end = code === null ? `signal ${killedBy ?? 'unknown'}` : `exit code ${code}`;
      reject(new DrillproofError('trust.SIGNER_FAILED', `${program} ended with ${end}`));
    });
    child.stdin?.end(input);
  });
}

function startError(program: string, cause: unknown): DrillproofError {
  const errno = errnoOf(cause);
  const why = errno === 'ENOENT' ? 'the program does not exist' : (errno ?? 'unknown');
  return new DrillproofError('trust.SIGNER_FAILED', `${program} cannot be started: ${why}`, { cause });
}
