import { digestOf } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import type { PolicyDocument } from './document.ts';
import { MAX_POLICY_BYTES, parsePolicy } from './parse.ts';
import { policyDigest, type Policy } from '../policy.ts';

/** The bytes of a file, and the name under which its own relative paths are resolved. */
export type PolicyFile = { readonly path: string; readonly bytes: Uint8Array };

/** Opens the file at a path, which is relative to the file that names it. @throws what reading throws */
export type OpenPolicy = (path: string, from: string) => Promise<PolicyFile>;

const MAX_DEPTH = 8;
/** Of all files, the first among them. */
const MAX_FILES = 64;

type Reading = {
  readonly open: OpenPolicy;
  readonly layers: PolicyDocument[];
  readonly sources: Policy['sources'][number][];
};

/**
 * Reads a policy and everything that it extends. An extended file counts by the SHA-256 that is named for it, so that
 * nobody changes it unseen; each layer has to hold by itself, so that no policy weakens what it extends.
 * @throws DrillproofError `policy.INVALID`, `policy.EXTENDS_MISMATCH`, `policy.EXTENDS_EXCEEDED`, each naming the file;
 *   what `open` throws
 */
export async function readPolicy(file: PolicyFile, open: OpenPolicy): Promise<Policy> {
  const reading: Reading = { open, layers: [], sources: [] };
  const document = await readLayer(reading, file, []);
  return {
    name: document.name ?? file.path,
    digest: policyDigest(reading.layers),
    sources: reading.sources,
    layers: reading.layers,
  };
}

async function readLayer(
  reading: Reading,
  { path, bytes }: PolicyFile,
  above: readonly string[],
): Promise<PolicyDocument> {
  const digest = digestOf(bytes);
  if (above.length >= MAX_DEPTH || reading.sources.length + above.length >= MAX_FILES) {
    const message = `${path}: policies extend each other more than ${MAX_DEPTH} deep, or are more than ${MAX_FILES}`;
    throw new DrillproofError('policy.EXTENDS_EXCEEDED', message, { path });
  }
  const document = named(path, () => parsePolicy(bytes, path));
  for (const [at, parent] of (document.extends ?? []).entries()) {
    await readParent(reading, parent, { from: path, pointer: `/extends/${at}` }, [...above, digest]);
  }
  reading.layers.push(document);
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
  if (isElsewhere(parent.path)) {
    const message = `${from}: a policy is extended by a relative path, with "/" between names`;
    throw new DrillproofError('policy.INVALID', message, { path: `${pointer}/path` });
  }
  const file = await reading.open(parent.path, from);
  const digest = digestOf(file.bytes);
  if (digest !== parent.digest || file.bytes.length > MAX_POLICY_BYTES) {
    const message = `${from}: ${parent.path} is not the file that was named: its SHA-256 is ${digest}`;
    const details = { expected: parent.digest, actual: digest };
    throw new DrillproofError('policy.EXTENDS_MISMATCH', message, { path: `${pointer}/digest`, details });
  }
  await readLayer(reading, file, above);
}

const isElsewhere = (path: string): boolean => /^[/~]|\\|^[A-Za-z][A-Za-z0-9+.-]*:|\0/.test(path);

function named<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    throw new DrillproofError(cause.code, `${path}: ${cause.message}`, {
      cause,
      ...(cause.path !== undefined && { path: cause.path }),
      ...(cause.details !== undefined && { details: cause.details }),
    });
  }
}
