import type { Code } from './codes/index.ts';

export type ErrorContext = {
  /** Where in the input: a JSON pointer, an entry of an archive, a file. */
  readonly path?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
};

/**
 * Work could not go on. `code` is a row of the catalogue (`drillproof explain CODE`), `message` says what happened
 * here, in one line and without the code. A caller's mistake in using this library is a `TypeError` instead.
 */
export class DrillproofError extends Error {
  override readonly name: string = 'DrillproofError';
  readonly code: Code;
  readonly path?: string;
  readonly details?: Readonly<Record<string, unknown>>;

  constructor(code: Code, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    if (context.path !== undefined) this.path = context.path;
    if (context.details !== undefined) this.details = context.details;
  }
}

/** The network or the server failed; the same request may succeed later. */
export class TransportError extends DrillproofError {
  override readonly name = 'TransportError';
}

/** Input went past a limit; the caller may raise the limit and try again. */
export class LimitError extends DrillproofError {
  override readonly name = 'LimitError';
}
