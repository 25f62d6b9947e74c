import type { Code } from './codes/index.ts';

export type ErrorContext = {
  /** Where in the input: a JSON pointer, an entry of an archive, a file. */
  readonly path?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
};

const BRAND: unique symbol = Symbol.for('drillproof.error');

/**
 * Work could not go on. `code` is a row of the catalogue (`drillproof explain CODE`), `message` says what happened
 * here, in one line and without the code. A caller's mistake in using this library is a `TypeError` instead.
 */
export class DrillproofError extends Error {
  override readonly name: string = 'DrillproofError';
  readonly code: Code;
  readonly path?: string;
  readonly details?: Readonly<Record<string, unknown>>;

  // The command has its own copy of this class in one file, and the primitives that it loads have another: an error of
  // theirs must be known for one here too.
  get [BRAND](): true {
    return true;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== DrillproofError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && BRAND in value;
  }

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
