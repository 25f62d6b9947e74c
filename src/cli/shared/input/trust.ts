import { quoteShellWord } from '../../../report/printable.ts';
import { realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { DrillproofError } from '../../../errors.ts';
import { EXPORT_MANIFEST } from '../../../evidence/export/pack-export.ts';
import { readVerifyingKeys } from '../../../node/keys/keys.ts';
import { isObject } from '../../../trust/faults.ts';
import { MAX_KEY_SET_BYTES, openKeySetFile } from '../../../trust/key/key-file.ts';
import {
  joinTrust,
  parseTrustStore,
  SIGNER_PURPOSES,
  trustStore,
  type TrustStore,
} from '../../../trust/store.ts';
import type { TrustedKey } from '../../../trust/trusted-key.ts';
import type { Cli } from '../../cli.ts';
import type { KeySpec, TrustOptions } from '../options/options.ts';
import { usageError } from '../options/values.ts';
import { withFileName, readInput } from './input.ts';

export const MAX_STORE_BYTES = 16 * 1024 * 1024;

/** Joins the keys of all stores and single keys; `undefined` if none is named. */
export async function readTrust(cli: Cli, options: TrustOptions): Promise<TrustStore | undefined> {
  const { trust = [], key = [] } = options;
  if (trust.length === 0 && key.length === 0) return undefined;
  const stores = await Promise.all(trust.map((file) => readTrustFile(cli, file)));
  const single = (await Promise.all(key.map((spec) => readTrustedKeys(cli, spec)))).flat();
  return joinTrust(single.length === 0 ? stores : [...stores, trustStore(single)]);
}

export async function requireTrust(cli: Cli, options: TrustOptions): Promise<TrustStore> {
  const trust = await readTrust(cli, options);
  if (trust !== undefined) return trust;
  throw usageError('no trusted keys given', 'Pass --trust FILE or --key FILE,issuer=NAME.');
}

export async function readTrustFile(cli: Cli, file: string): Promise<TrustStore> {
  const bytes = await readInput(file, MAX_STORE_BYTES, cli);
  if (detectKind(bytes) === 'key')
    throw usageError(
      `${file} is a single key, and --trust needs a trust store`,
      `Pass it with --key ${quoteShellWord(file)},issuer=NAME, or add it to a store with "drillproof keys add".`,
    );
  return parseTrustFile(file, bytes);
}

/** Detects the kind of a key file. Only the keys of a trust store have an issuer. */
function detectKind(bytes: Uint8Array): 'key' | 'store' | 'other' {
  try {
    const file = openKeySetFile(bytes);
    if (file.kind !== 'jwks') return 'key';
    const keys = file.set['keys'];
    const named = Array.isArray(keys) && keys.some((key) => isObject(key) && Object.hasOwn(key, 'issuer'));
    return named || Object.hasOwn(file.set, 'certificates') ? 'store' : 'other';
  } catch (error) {
    if (error instanceof DrillproofError) return 'other';
    throw error;
  }
}

export const parseTrustFile = (file: string, bytes: Uint8Array): TrustStore =>
  withFileName(
    file,
    () => parseTrustStore(bytes),
    (code) => (code.startsWith('trust.') ? code : 'trust.STORE_INVALID'),
  );

async function readTrustedKeys(cli: Cli, { file, issuer, keyId }: KeySpec): Promise<TrustedKey[]> {
  const bytes = await readInput(file, MAX_KEY_SET_BYTES, cli);
  if (detectKind(bytes) === 'store')
    throw usageError(
      `${file} is a trust store, and --key needs a public key`,
      `Pass --trust ${quoteShellWord(file)} instead.`,
    );
  if (issuer === undefined)
    throw usageError(
      `--key ${file} does not name the issuer of the key`,
      `Ask the owner of the key for the issuer, then pass --key ${quoteShellWord(file)},issuer=NAME.`,
    );
  const keys = withFileName(file, () => readVerifyingKeys(bytes));
  if (keyId !== undefined && keys.length > 1)
    throw usageError(`keyId names one key, and ${file} contains ${keys.length}`, 'Omit keyId=.');
  return keys.map((key) => ({
    ...key,
    keyId: keyId ?? key.keyId,
    issuer,
    compromised: true,
    purposes: SIGNER_PURPOSES,
  }));
}

export function findInside(
  evidence: readonly string[],
  files: readonly string[],
): { readonly evidence: string; readonly file: string } | undefined {
  const places = files.map((file) => ({ file, place: resolvePath(file) }));
  for (const path of files.length === 0 ? [] : evidence) {
    const root = findRoot(path);
    const inside = places.find(
      ({ place }) => root !== undefined && place?.startsWith(`${root}${sep}`) === true,
    );
    if (inside !== undefined) return { evidence: path, file: inside.file };
  }
  return undefined;
}

function findRoot(path: string): string | undefined {
  const place = resolvePath(path);
  if (place === undefined || basename(dirname(place)) !== 'parts') return place;
  const above = dirname(dirname(place));
  return resolveExisting(join(above, EXPORT_MANIFEST)) === undefined ? place : above;
}

/** The path without links; of a file that does not exist yet, from its folder. */
function resolvePath(path: string): string | undefined {
  return resolveExisting(path) ?? joinTo(resolveExisting(dirname(path)), basename(path));
}

const joinTo = (folder: string | undefined, name: string): string | undefined =>
  folder === undefined ? undefined : join(folder, name);

// A path whose folder does not exist on this machine is inside no folder.
function resolveExisting(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
