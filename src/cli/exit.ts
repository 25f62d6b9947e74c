import type { Code } from '../codes/catalogue.ts';
import type { CodeClass } from '../codes/entry.ts';
import { codeFacts } from '../codes/facts.ts';

/** The exit codes of all commands. */
export const EXIT = { pass: 0, bad: 1, usage: 2, unchecked: 3, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit codes of envelopes and chains of signed reports, by their verdict. */
export const EXIT_OF_SIGNED = { valid: EXIT.pass, invalid: EXIT.bad, not_checked: EXIT.unchecked } as const;

const BY_CLASS: Readonly<Record<CodeClass, ExitCode>> = {
  malformed: EXIT.bad,
  missing: EXIT.bad,
  mismatch: EXIT.bad,
  untrusted: EXIT.bad,
  expired: EXIT.bad,
  unsupported: EXIT.bad,
  limit: EXIT.bad,
  extra: EXIT.bad,
  claimed: EXIT.bad,
  usage: EXIT.usage,
  inaccessible: EXIT.unchecked,
  refused: EXIT.unchecked,
  internal: EXIT.unchecked,
};

// Errors of the network and the control plane are not evidence, so nothing was checked.
const REMOTE = ['client.', 'control.', 'transport.'];

export function exitOfCode(code: Code): ExitCode {
  const exit = BY_CLASS[codeFacts(code).class];
  return exit === EXIT.bad && REMOTE.some((namespace) => code.startsWith(namespace)) ? EXIT.unchecked : exit;
}

const WORST_FIRST: readonly ExitCode[] = [EXIT.interrupted, EXIT.bad, EXIT.usage, EXIT.unchecked];

/** Finds the exit code of several results; without a result, nothing was checked. */
export function worstExit(exits: readonly ExitCode[]): ExitCode {
  if (exits.length === 0) return EXIT.unchecked;
  return WORST_FIRST.find((exit) => exits.includes(exit)) ?? EXIT.pass;
}
