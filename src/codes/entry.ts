/**
 * What kind of thing went wrong. Verdicts and exit codes are derived from the class, never from the code:
 * `inaccessible` means the bytes could not be read, which is never reported as bytes that do not match.
 */
export type CodeClass =
  | 'malformed'
  | 'missing'
  | 'mismatch'
  | 'untrusted'
  | 'expired'
  | 'unsupported'
  | 'inaccessible'
  | 'limit'
  | 'extra'
  | 'claimed'
  | 'usage'
  | 'refused'
  | 'internal';

/** `error` decides a verdict, `warning` asks for a look, `info` states a fact. */
export type Severity = 'error' | 'warning' | 'info';

/** One row of the catalogue: everything there is to say about a code apart from the case at hand. */
export type CodeEntry = {
  readonly class: CodeClass;
  readonly severity: Severity;
  /** One sentence: what the code states. */
  readonly meaning: string;
  /** One sentence: what the person who reads it should do. */
  readonly action: string;
  /** The clause it stands for: a standard and section, or a section of docs/formats.md or docs/control-api.md. */
  readonly clause: string;
};

export type CodeTable = Readonly<Record<string, CodeEntry>>;
