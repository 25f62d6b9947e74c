import type * as z from 'zod';
import { parseJson, type JsonValue } from '../../bytes/json/parse.ts';
import { fromUtf8 } from '../../bytes/text/utf8.ts';
import { DrillproofError } from '../../errors.ts';
import { brokenDocument, jsonPointer, type DocumentIssue } from '../../evidence/document.ts';
import { BETWEEN_UNKNOWN, policySchema, type PolicyDocument } from './document.ts';
import { parseYaml } from './yaml.ts';

/** Bytes of a policy file. */
export const MAX_POLICY_BYTES = 1024 * 1024;

/** The two ways to write a policy. */
export type PolicySyntax = 'json' | 'yaml';

/** How a file is written: as its name says, else JSON where it begins with a brace. */
export function syntaxOf(path: string, bytes: Uint8Array): PolicySyntax {
  if (/\.json$/i.test(path)) return 'json';
  if (/\.ya?ml$/i.test(path)) return 'yaml';
  const first = bytes.find((byte) => byte > 0x20);
  return first === 0x7b ? 'json' : 'yaml';
}

/**
 * Types a policy. Every fault is collected in `details.issues`, with a JSON pointer and, in YAML, its line.
 * @throws DrillproofError `policy.INVALID`
 */
export function parsePolicy(bytes: Uint8Array, path: string): PolicyDocument {
  const { value, lineOf } = valueOf(bytes, path);
  const result = policySchema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.flatMap((issue) => issuesOf(issue, []));
  throw brokenDocument(
    'policy.INVALID',
    issues.map(({ path: pointer, message }) => ({ path: pointer, message: message + lineOf(pointer) })),
  );
}

type Read = { readonly value: JsonValue; readonly lineOf: (pointer: string) => string };

/** Plain data of a file in either syntax, with where each value stands. */
export function valueOf(bytes: Uint8Array, path: string): Read {
  if (bytes.length > MAX_POLICY_BYTES)
    throw new DrillproofError('policy.INVALID', `more than ${MAX_POLICY_BYTES} bytes`);
  try {
    if (syntaxOf(path, bytes) === 'json')
      return { value: parseJson(bytes, { maxBytes: MAX_POLICY_BYTES }), lineOf: () => '' };
    const { value, lineOf } = parseYaml(fromUtf8(bytes));
    const at = (pointer: string): string => {
      const line = lineOf(pointer);
      return line === undefined ? '' : ` (line ${line})`;
    };
    return { value, lineOf: at };
  } catch (cause) {
    if (!(cause instanceof DrillproofError) || cause.code === 'policy.INVALID') throw cause;
    throw new DrillproofError('policy.INVALID', cause.message, { cause });
  }
}

type Issue = z.core.$ZodIssue;

/** Of a union the faults of the branch that was probably meant: the one whose kind of value it has. */
function issuesOf(issue: Issue, parent: readonly PropertyKey[]): DocumentIssue[] {
  const path = [...parent, ...issue.path];
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.filter((branch) => !branch.some(isOfOtherKind));
    if (meant.length === 1) return meant[0]!.flatMap((one) => issuesOf(one, path));
  }
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split(BETWEEN_UNKNOWN);
    return issue.keys.map((key, at) => ({
      path: jsonPointer([...path, key]),
      message: messages[at] ?? issue.message,
    }));
  }
  return [{ path: jsonPointer(path), message: issue.message }];
}

const isOfOtherKind = ({ code, path }: Issue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
