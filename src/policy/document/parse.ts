import { BYTES, checkArguments, fromUtf8, type JsonValue, parseJson, TEXT } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { brokenDocument } from '../../evidence/index.ts';
import { isNewer, policySchema, type PolicyDocument } from './document.ts';
import { typeValue } from '../../contract/index.ts';
import { listIssues } from './issues.ts';
import { bindParameters, type ParameterValues } from './parameters.ts';
import { parseYaml } from './yaml.ts';

/** Bytes of a policy file. */
export const MAX_POLICY_BYTES = 1024 * 1024;

export type PolicySyntax = 'json' | 'yaml';

/** The syntax by the name of the file; otherwise JSON if the text begins with a brace. */
export function detectSyntax(path: string, bytes: Uint8Array): PolicySyntax {
  if (/\.json$/i.test(path)) return 'json';
  if (/\.ya?ml$/i.test(path)) return 'yaml';
  const first = bytes.find((byte) => byte > 0x20);
  return first === 0x7b ? 'json' : 'yaml';
}

/**
 * Parses one policy document, in YAML or JSON (formats §8). Use `readPolicy` for one that extends others.
 * @param path the path of the file, for messages; its ending selects the syntax, or else the first character
 * @throws DrillproofError `policy.INVALID`; `details.issues` has every problem, with a JSON pointer and, in YAML, its
 *   line
 * @example
 * const document = parsePolicy(await readFile('policy.yaml'), 'policy.yaml');
 */
export function parsePolicy(bytes: Uint8Array, path: string): PolicyDocument {
  checkArguments({ bytes: BYTES, path: TEXT }, { bytes, path });
  return parseLayer(bytes, path, {}).document;
}

/** A document with its parameters bound, and as it is written, without `$schema`. */
export type ParsedLayer = {
  readonly document: PolicyDocument;
  readonly written: JsonValue;
  readonly unused: readonly string[];
};

/** Parses one policy document, with these values of its parameters. @throws what `parsePolicy` throws */
export function parseLayer(bytes: Uint8Array, path: string, values: ParameterValues): ParsedLayer {
  const { value, lineOf } = parseValue(bytes, path);
  const bound = bindParameters(value, values);
  const result = typeValue(policySchema, bound.value);
  if (result.success && bound.issues.length === 0)
    return { document: result.data, written: withoutSchema(value), unused: bound.unused };
  const all = [...bound.issues, ...(result.error?.issues ?? []).flatMap((issue) => listIssues(issue))];
  // The members of a later version are not mistakes.
  const newer = all.filter((issue) => issue.path === '/schemaVersion' && isNewer(value));
  const issues = newer.length > 0 ? newer : all;
  throw brokenDocument(
    'policy.INVALID',
    issues.map(({ path: pointer, message }) => ({ path: pointer, message: message + lineOf(pointer) })),
  );
}

function withoutSchema(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== '$schema'));
}

type Read = { readonly value: JsonValue; readonly lineOf: (pointer: string) => string };

/** Parses a file in either syntax to plain data, with the line of each value. */
export function parseValue(bytes: Uint8Array, path: string): Read {
  if (bytes.length > MAX_POLICY_BYTES)
    throw new DrillproofError('policy.INVALID', `more than ${MAX_POLICY_BYTES} bytes`);
  try {
    if (detectSyntax(path, bytes) === 'json')
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
