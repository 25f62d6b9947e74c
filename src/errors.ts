import type { Code } from './codes/catalogue.ts';

export type ErrorContext = {
  /** A place in the input: a JSON pointer, an entry of an archive, a file. */
  readonly path?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
};

const BRAND: unique symbol = Symbol.for('drillproof.error');

/**
 * An operation could not be completed. `code` is a row of the catalogue (docs/codes.md; `drillproof explain CODE`),
 * `message` describes the failure in one line, `path` is its place, and `details` has further values. A wrong argument is a
 * `TypeError` instead.
 * @example
 * try {
 *   await openEvidence('export');
 * } catch (error) {
 *   if (!(error instanceof DrillproofError) || error.code !== 'io.NOT_FOUND') throw error;
 * }
 */
export class DrillproofError extends Error {
  override readonly name: string = 'DrillproofError';
  /** A row of docs/codes.md, which never changes its meaning. */
  readonly code: Code;
  /** A place in the input: a JSON pointer, an entry of an archive, a file. */
  readonly path?: string;
  /** Further values, which depend on the code. */
  readonly details?: Readonly<Record<string, unknown>>;

  // A process can have two copies of this class, one from a bundle. Errors of both must be instances of each.
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

/** The network or the server failed (codes `transport.*`). The same request may succeed later. */
export class TransportError extends DrillproofError {
  override readonly name = 'TransportError';
}

/** Input exceeded a limit (formats, Limits). The caller may raise the limit and try again. */
export class LimitError extends DrillproofError {
  override readonly name = 'LimitError';
}

/** Whether this is a `DrillproofError` with this code. */
export const hasCode = (error: unknown, code: Code): error is DrillproofError =>
  error instanceof DrillproofError && error.code === code;
