import { BYTES, checkArguments, defined, digestOf, FUNCTION, TEXT, withMembers } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { PolicyDocument } from './document.ts';
import { checkParameters, type ParameterValues } from './parameters.ts';
import { MAX_POLICY_BYTES, parseLayer, type ParsedLayer } from './parse.ts';
import { digestLayers, type Policy } from '../policy.ts';

/** The bytes of a file, and the name under which its own relative paths are resolved. */
export type PolicyFile = { readonly path: string; readonly bytes: Uint8Array };

/** Opens the file at a path relative to the file `from`. @throws what reading throws */
export type OpenPolicy = (path: string, from: string) => Promise<PolicyFile>;

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
  const digest = digestOf(file.bytes);
  if (digest !== parent.digest || file.bytes.length > MAX_POLICY_BYTES) {
    const message = `${from}: the SHA-256 of ${parent.path} does not match: it is ${digest}`;
    const details = { expected: parent.digest, actual: digest };
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
