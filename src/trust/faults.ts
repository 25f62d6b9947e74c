import { formatJsonPointer, type JsonObject, type JsonValue } from '../bytes/json/parse.ts';
import type { Code } from '../codes/catalogue.ts';
import { DrillproofError } from '../errors.ts';

/** One broken rule of a key or trust store: its code, and a JSON pointer (RFC 6901) to what breaks it. */
export type KeyFault = { readonly code: Code; readonly path: string; readonly message: string };

/** A JSON pointer to a member of the value at a pointer. */
export const extendPointer = (parent: string, name: string | number): string =>
  parent + formatJsonPointer([name]);

/** A fault for each of these names, which are unknown members of the object at a pointer. */
export const listUnknownMembers = (code: Code, parent: string, names: readonly string[]): KeyFault[] =>
  names.map((name) => ({
    code,
    path: extendPointer(parent, name),
    message: `the member ${JSON.stringify(name)} is not known`,
  }));

export const isObject = (value: JsonValue): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/**
 * The error for a key or trust store with these faults, which are in `details.issues`. Its code is that of the first
 * fault, or that of a private key, whose owner must act at once.
 */
export function faultError(faults: readonly KeyFault[]): DrillproofError {
  const first = faults.find((fault) => fault.code === 'trust.KEY_PRIVATE') ?? faults[0];
  if (first === undefined) throw new TypeError('an error needs a fault');
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  const context = { path: first.path, details: { issues: faults } };
  return new DrillproofError(first.code, first.message + more, context);
}
