/**
 * The kinds of faults. Verdicts and most exit codes follow from the class, never from the code. `inaccessible` means that
 * bytes could not be read, which is never reported as a mismatch.
 */
export const CODE_CLASSES = [
  'malformed',
  'missing',
  'mismatch',
  'untrusted',
  'expired',
  'unsupported',
  'inaccessible',
  'limit',
  'extra',
  'claimed',
  'usage',
  'refused',
  'internal',
] as const;
export type CodeClass = (typeof CODE_CLASSES)[number];

/** `error` decides a verdict, `warning` needs attention, `info` states a fact. */
export const SEVERITIES = ['error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** One row of the catalogue. */
export type CodeEntry = {
  readonly class: CodeClass;
  readonly severity: Severity;
  /** What the code states, in one sentence. */
  readonly meaning: string;
  /** What to do, in one sentence. Commands and their options are in parentheses, because pages omit them. */
  readonly action: string;
  /** The clause that requires it: a section of a standard, of docs/formats.md or of the control API. */
  readonly clause: string;
};

type Define = (meaning: string, action: string, severity?: Severity) => CodeEntry;

/** Makes rows under one clause, with a function for each class: `cite('RFC 8259 §2').malformed(meaning, action)`. */
export function cite(clause: string): Readonly<Record<CodeClass, Define>> {
  const define =
    (codeClass: CodeClass): Define =>
    (meaning, action, severity = 'error') => ({ class: codeClass, severity, meaning, action, clause });
  return {
    malformed: define('malformed'),
    missing: define('missing'),
    mismatch: define('mismatch'),
    untrusted: define('untrusted'),
    expired: define('expired'),
    unsupported: define('unsupported'),
    inaccessible: define('inaccessible'),
    limit: define('limit'),
    extra: define('extra'),
    claimed: define('claimed'),
    usage: define('usage'),
    refused: define('refused'),
    internal: define('internal'),
  };
}
