import { BYTES, checkArguments, defined, FUNCTION, TEXT, withMembers } from '../bytes/arguments.ts';
import { digestOf } from '../bytes/hash.ts';
import { fromUtf8 } from '../bytes/text/encoding.ts';
import { type JsonValue, parseJson, parseJsonPointer } from '../bytes/json/parse.ts';
import { DrillproofError } from '../errors.ts';
import { isRule, type RuleId } from './catalogue.ts';
import { isNewer, type PolicyDocument, policySchema } from './document/document.ts';
import { bindParameters, checkParameters, type ParameterValues } from './document/parameters.ts';
import { digestLayers, type Policy } from './policy.ts';
import { documentError } from '../evidence/document.ts';
import { typeValue } from '../contract/type-value.ts';
import { listIssues } from './document/values.ts';
import { parseYaml } from './document/yaml.ts';

export const MAX_POLICY_BYTES = 1024 * 1024;

type PolicySyntax = 'json' | 'yaml';

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
type ParsedLayer = {
  readonly document: PolicyDocument;
  readonly written: JsonValue;
  readonly unused: readonly string[];
  readonly lineOf: Read['lineOf'];
};

function parseLayer(bytes: Uint8Array, path: string, values: ParameterValues): ParsedLayer {
  const { value, lineOf } = parseValue(bytes, path);
  const bound = bindParameters(value, values);
  const result = typeValue(policySchema, bound.value);
  if (result.success && bound.issues.length === 0)
    return { document: result.data, written: omitSchema(value), unused: bound.unused, lineOf };
  const all = [...bound.issues, ...(result.error?.issues ?? []).flatMap((issue) => listIssues(issue))];
  // The members of a later version are not mistakes.
  const newer = all.filter((issue) => issue.path === '/schemaVersion' && isNewer(value));
  const issues = newer.length > 0 ? newer : all;
  throw documentError(
    'policy.INVALID',
    issues.map(({ path: pointer, message }) => {
      const parameter = bound.places.get(pointer);
      const cause = parameter === undefined ? '' : `, and the parameter is ${parameter}`;
      return { path: pointer, message: message + cause + formatIssuePlace(pointer, lineOf(pointer)) };
    }),
  );
}

function omitSchema(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== '$schema'));
}

/** ` (line 5, rule outcome.verdict)`. */
export function formatIssuePlace(pointer: string, line: number | undefined): string {
  const rule = findRule(pointer);
  const words = [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(rule === undefined ? [] : [`rule ${rule}`]),
  ];
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}

/** The rule whose member a JSON pointer is in, also inside a set. */
export function findRule(pointer: string): RuleId | undefined {
  const [section = '', member] = parseJsonPointer(pointer.replace(/^(?:\/(?:anyOf|allOf)\/\d+)+/, ''));
  const rule = `${section}.${member ?? ''}`;
  return isRule(rule) ? rule : undefined;
}

type Read = { readonly value: JsonValue; readonly lineOf: (pointer: string) => number | undefined };

/** Parses a file in either syntax to plain data, with the line of each value. */
export function parseValue(bytes: Uint8Array, path: string): Read {
  if (bytes.length > MAX_POLICY_BYTES)
    throw new DrillproofError('policy.INVALID', `more than ${MAX_POLICY_BYTES} bytes`);
  try {
    if (detectSyntax(path, bytes) === 'yaml') return parseYaml(fromUtf8(bytes));
    return {
      value: parseJson(bytes, { maxBytes: MAX_POLICY_BYTES }),
      lineOf: (pointer) => findJsonLine(bytes, pointer),
    };
  } catch (cause) {
    if (!(cause instanceof DrillproofError) || cause.code === 'policy.INVALID') throw cause;
    throw new DrillproofError('policy.INVALID', cause.message, { cause });
  }
}

/** JSON is YAML, apart from rare escapes; a message without a line is still true. */
function findJsonLine(bytes: Uint8Array, pointer: string): number | undefined {
  try {
    return parseYaml(fromUtf8(bytes)).lineOf(pointer);
  } catch {
    return undefined;
  }
}

/** The bytes of a file, and the name under which its own relative paths are resolved. */
export type PolicyFile = { readonly path: string; readonly bytes: Uint8Array };

/** Opens the file at a path relative to the file `from`. @throws what reading throws */
type OpenPolicy = (path: string, from: string) => Promise<PolicyFile>;

const MAX_DEPTH = 8;
const MAX_FILES = 64;

type Reading = {
  readonly open: OpenPolicy;
  readonly values: ParameterValues;
  readonly layers: ParsedLayer[];
  readonly sources: Policy['sources'][number][];
};

/**
 * Reads a policy and everything that it extends (formats §8). A SHA-256 pins each extended file, and each layer must
 * hold by itself, so a policy cannot weaken what it extends.
 * @param open reads the file at a path relative to the file that extends it
 * @param values of the parameters that the policies declare; `sample` to read a policy without them
 * @throws DrillproofError `policy.INVALID`, `policy.EXTENDS_MISMATCH`, `policy.EXTENDS_EXCEEDED`, `policy.PARAMETER_…`;
 *   what `open` throws
 * @example
 * const file = { path: 'policy.yaml', bytes: await readFile('policy.yaml') };
 * const policy = await readPolicy(file, async (path) => ({ path, bytes: await readFile(path) }));
 */
export async function readPolicy(
  file: PolicyFile,
  open: OpenPolicy,
  values: ParameterValues = {},
): Promise<Policy> {
  checkArguments(
    { file: withMembers('a PolicyFile', { bytes: BYTES, path: TEXT }), open: FUNCTION },
    { file, open },
  );
  const reading: Reading = { open, values, layers: [], sources: [] };
  const document = await readLayer(reading, file, []);
  const layers = reading.layers.map((layer) => layer.document);
  if (values !== 'sample')
    checkParameters(Object.assign({}, ...layers.map((layer) => layer.parameters)), values);
  const unused = reading.layers.flatMap((layer) => layer.unused);
  return {
    name: document.name ?? file.path,
    // The form with {param}, so that the digest is the same for all values.
    digest: digestLayers(reading.layers.map(({ written }) => written)),
    sources: reading.sources,
    ...(values !== 'sample' && Object.keys(values).length > 0 && { parameters: values }),
    layers,
    locate: (at, pointer) => reading.layers[at]?.lineOf(pointer),
    ...(unused.length > 0 && { unusedParameters: unused }),
  };
}

async function readLayer(
  reading: Reading,
  { path, bytes }: PolicyFile,
  above: readonly string[],
): Promise<PolicyDocument> {
  const digest = digestOf(bytes);
  if (above.length >= MAX_DEPTH || reading.sources.length + above.length >= MAX_FILES) {
    const message = `${path}: more than ${MAX_DEPTH} levels or ${MAX_FILES} files of extended policies`;
    throw new DrillproofError('policy.EXTENDS_EXCEEDED', message, { path });
  }
  const layer = withPath(path, () => parseLayer(bytes, path, reading.values));
  const { document } = layer;
  for (const [at, parent] of (document.extends ?? []).entries()) {
    await readParent(reading, parent, { from: path, pointer: `/extends/${at}` }, [...above, digest]);
  }
  reading.layers.push(layer);
  reading.sources.push({ path, digest });
  return document;
}

async function readParent(
  reading: Reading,
  parent: NonNullable<PolicyDocument['extends']>[number],
  { from, pointer }: { readonly from: string; readonly pointer: string },
  above: readonly string[],
): Promise<void> {
  if (reading.sources.some(({ digest }) => digest === parent.digest)) return;
  if (isNotRelative(parent.path)) {
    const message = `${from}: the path of an extended policy must be relative, with "/" between names`;
    throw new DrillproofError('policy.INVALID', message, { path: `${pointer}/path` });
  }
  const file = await reading.open(parent.path, from);
  // The digest of a file that the policy only names could reveal its content.
  if (digestOf(file.bytes) !== parent.digest || file.bytes.length > MAX_POLICY_BYTES) {
    const message = `${from}: the SHA-256 of ${file.path} is not the expected one`;
    const details = { expected: parent.digest };
    throw new DrillproofError('policy.EXTENDS_MISMATCH', message, { path: `${pointer}/digest`, details });
  }
  await readLayer(reading, file, above);
}

const isNotRelative = (path: string): boolean => /^[/~]|\\|^[A-Za-z][A-Za-z0-9+.-]*:|\0/.test(path);

function withPath<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const issues: unknown = cause.details?.['issues'];
    const isOne = !Array.isArray(issues) || issues.length === 1;
    const message = isOne ? `${path}: ${cause.message}` : `${path} has ${issues.length} faults`;
    throw new DrillproofError(cause.code, message, {
      cause,
      ...defined({ path: cause.path, details: cause.details }),
    });
  }
}
