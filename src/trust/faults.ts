import { formatJsonPointer, type JsonObject, type JsonValue } from '../bytes/index.ts';
import type { Code } from '../codes/index.ts';
import { DrillproofError } from '../errors.ts';

/** One broken rule of a key or trust store: its code, and a JSON pointer (RFC 6901) to what breaks it. */
export type KeyFault = { readonly code: Code; readonly path: string; readonly message: string };

/** A JSON pointer to a member of what a pointer names. */
export const extendPointer = (parent: string, name: string | number): string =>
  parent + formatJsonPointer([name]);

/** Whether a value is a JSON object, and not an array or null. */
export const isObject = (value: JsonValue): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/**
 * The error for a key or trust store with these faults; `details.issues` holds all of them. It has the code of the
 * first, except that a private key comes before everything else, because its owner has to act at once.
 */
export function faultError(faults: readonly KeyFault[]): DrillproofError {
  const first = faults.find((fault) => fault.code === 'trust.KEY_PRIVATE') ?? faults[0];
  if (first === undefined) throw new TypeError('an error needs a fault');
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  const context = { path: first.path, details: { issues: faults } };
  return new DrillproofError(first.code, first.message + more, context);
}
