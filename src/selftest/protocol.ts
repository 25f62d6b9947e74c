import { differences, type Facts } from './compare.ts';
import type { CaseResult } from './result.ts';
import type { SelftestCase } from './vector-file.ts';

/** What the exit code of a verifier says (docs/selftest.md); any other is a crash. */
export const ANSWERS = { valid: 0, invalid: 1, unsupported: 77 } as const;

/** What a shell answers when it cannot start a command. */
const NOT_STARTED: ReadonlySet<number> = new Set([126, 127]);

/** How a process ended: by itself with a code, or because of `fault`. */
export type Ended = {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly fault?: string;
};

type Judged = Omit<CaseResult, 'kind' | 'id' | 'way'>;

/** What the answer of a verifier is worth. */
export function judgeAnswer(one: SelftestCase, { exitCode, stdout, fault }: Ended): Judged {
  const failed = (reason: string, actual?: Facts): Judged => ({
    state: 'failed',
    reason,
    flags: one.flags,
    expected: one.expected,
    ...(actual && { actual }),
  });
  if (fault !== undefined) return failed(fault);
  if (exitCode === ANSWERS.unsupported) return { state: 'unsupported' };
  if (exitCode !== undefined && NOT_STARTED.has(exitCode))
    return { state: 'not_run', reason: `the command could not be started (exit code ${exitCode})` };
  if (exitCode !== ANSWERS.valid && exitCode !== ANSWERS.invalid)
    return failed(`it ended with ${exitCode === undefined ? 'a signal' : `exit code ${exitCode}`}`);
  const verdict = exitCode === ANSWERS.valid ? 'valid' : 'invalid';
  const said = factsOf(stdout);
  if (said === undefined) return failed('the first line of its output is no JSON object', { verdict });
  return compared(one, { ...said, verdict }, failed);
}

/** The JSON object in the first line; nothing at all counts as an empty one. */
function factsOf(stdout: string): Facts | undefined {
  const [line = ''] = stdout.split('\n', 1);
  if (line.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** What it leaves out is not compared; what it says beyond the file is wrong, for it could be a misspelt name. */
function compared(
  { expected }: SelftestCase,
  said: Facts,
  failed: (reason: string, actual: Facts) => Judged,
): Judged {
  const names = Object.keys(said);
  const known = Object.fromEntries(Object.entries(expected).filter(([name]) => names.includes(name)));
  const wrong = differences(known, said);
  if (wrong.length > 0) return failed(`wrong ${wrong.join(', ')}`, said);
  const verdictOnly = names.length === 1 && Object.keys(expected).length > 1;
  return { state: 'passed', ...(verdictOnly && { verdictOnly }) };
}
