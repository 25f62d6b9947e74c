import { type Code, type CodeClass, codeFacts } from '../../../codes/index.ts';
import { EXIT, type ExitCode } from './exit.ts';

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

// Answers of the network and the control plane are not evidence: nothing was checked, whatever the class.
const REMOTE = ['control.', 'transport.'];

export function exitOfCode(code: Code): ExitCode {
  const exit = BY_CLASS[codeFacts(code).class];
  return exit === EXIT.bad && REMOTE.some((namespace) => code.startsWith(namespace)) ? EXIT.unchecked : exit;
}

// Of several results, the one that says most against the evidence: bad, then a wrong call, then not checked.
const WORST_FIRST: readonly ExitCode[] = [EXIT.interrupted, EXIT.bad, EXIT.usage, EXIT.unchecked];

/** The exit code of several results together; of none at all, "could not check". */
export function worstExit(exits: readonly ExitCode[]): ExitCode {
  if (exits.length === 0) return EXIT.unchecked;
  return WORST_FIRST.find((exit) => exits.includes(exit)) ?? EXIT.pass;
}
