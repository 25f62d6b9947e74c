import { readFile, stat } from 'node:fs/promises';
import { DrillproofError } from '../../errors.ts';
import { awaitCall, awaitOptional } from '../../node/fs-errors.ts';
import type { TrustedKey } from '../../trust/trusted-key.ts';
import { trustStore, type TrustStore, trustStoreJwks } from '../../trust/store.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';
import { MAX_STORE_BYTES, parseTrustFile } from '../shared/input/trust.ts';
import { usageError } from '../shared/options/values.ts';
import { writeOutputFile } from '../shared/output/output-file.ts';

export type TrustFile = {
  readonly path: string;
  readonly current?: { readonly store: TrustStore; readonly bytes: Uint8Array; readonly mode: number };
};

/** Reads a trust store before a change; a missing one has no `current`. */
export async function openTrustFile(cli: Cli, path: string): Promise<TrustFile> {
  if (path === '-') throw usageError('only a trust store in a file can be changed', 'Name a file.');
  const stats = await awaitOptional(path, 'read', stat(path));
  if (stats === undefined) return { path };
  const bytes = await readInput(path, MAX_STORE_BYTES, cli);
  return { path, current: { store: parseTrustFile(path, bytes), bytes, mode: stats.mode & 0o777 } };
}

export function requireStore({ path, current }: TrustFile): TrustStore {
  if (current === undefined) throw new DrillproofError('io.NOT_FOUND', `${path} does not exist`, { path });
  return current.store;
}

/**
 * Replaces the keys of a trust store atomically, sorted and with one member per line, for readable diffs. Nothing is
 * written if another program has changed the file since it was read, or through a symbolic link, as with every output.
 */
export async function rewriteTrustFile(
  file: TrustFile,
  keys: readonly TrustedKey[],
  certificates = file.current?.store.certificates,
): Promise<TrustStore> {
  const store = trustStore(keys, certificates);
  const bytes = Buffer.from(`${JSON.stringify(trustStoreJwks(store), null, 2)}\n`);
  if (bytes.length > MAX_STORE_BYTES)
    throw usageError(
      `${file.path} would have more than ${MAX_STORE_BYTES} bytes`,
      'Use several trust stores.',
    );
  const { current, path } = file;
  if (current !== undefined) await refuseChanged(file, current.bytes);
  const options = current === undefined ? {} : { force: true, mode: current.mode };
  await writeOutputFile({ inputs: new Set() }, path, [bytes], options); // it is also the input
  return store;
}

async function refuseChanged({ path }: TrustFile, before: Uint8Array): Promise<void> {
  const now = await awaitCall(path, 'read', readFile(path));
  if (now.equals(before)) return;
  const hint = 'Run the command again.';
  const message = `${path} was changed by another program in the meantime; nothing was written`;
  throw new DrillproofError('io.CHANGED', message, { path, details: { hint } });
}

/** The minimum length of the beginning of a key id; `keys list` shows more. */
const LEAST = 12;

/** Finds a key by its key id or, if no key has it, by the beginning of its key id. */
export function findKey(store: TrustStore, name: string, issuer: string | undefined): TrustedKey {
  const keys = store.keys.filter((key) => issuer === undefined || key.issuer === issuer);
  const exact = keys.filter(({ keyId }) => keyId === name);
  const beginning = name.replace(/…$/, '');
  const near = beginning.length < LEAST ? [] : keys.filter(({ keyId }) => keyId.startsWith(beginning));
  const [key, ...more] = exact.length > 0 ? exact : near;
  const quoted = JSON.stringify(name);
  const whose = issuer === undefined ? '' : ` of issuer ${JSON.stringify(issuer)}`;
  if (key === undefined)
    throw usageError(
      `the trust store has no key ${quoted}${whose}`,
      'See its keys with "drillproof keys list FILE".',
    );
  if (more.length === 0) return key;
  const several = `${more.length + 1} keys of the trust store are called ${quoted}${whose}`;
  throw usageError(several, 'Select one with its complete key id and --issuer NAME.');
}

export const listAliases = (store: TrustStore, key: TrustedKey): readonly TrustedKey[] =>
  store.keys.filter((other) => other !== key && Buffer.compare(other.point, key.point) === 0);

export function isTrusted(store: TrustStore | undefined, { issuer, keyId, point }: TrustedKey): boolean {
  const existing = store?.find(issuer, keyId);
  return existing !== undefined && Buffer.compare(existing.point, point) === 0;
}
