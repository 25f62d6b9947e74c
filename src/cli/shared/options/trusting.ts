import { DrillproofError } from '../../../errors.ts';
import { readVerifyingKeys } from '../../../node/keys/key-set.ts';
import {
  parseTrustStore,
  trustStore,
  type Purpose,
  type TrustedKey,
  type TrustStore,
} from '../../../trust/index.ts';
import { MAX_KEY_SET_BYTES } from '../../../trust/key/key-file.ts';
import type { Cli } from '../../cli.ts';
import { readInput } from '../input/input.ts';
import { usageError } from './usage.ts';
import type { KeySpec, TrustOptions } from './trust.ts';

/** Bytes of a trust store, as `parseTrustStore` limits it. */
export const MAX_STORE_BYTES = 16 * 1024 * 1024;

/** What a key that is named on the command line speaks for: bundles and lists of bundles. */
export const SIGNER_PURPOSES: readonly Purpose[] = ['evidence', 'export'];

/**
 * The keys that count, from all stores and single keys together; `undefined` when none was named.
 * @throws DrillproofError `trust.…`, each naming the file
 */
export async function readTrust(cli: Cli, options: TrustOptions): Promise<TrustStore | undefined> {
  const { trust = [], key = [] } = options;
  if (trust.length === 0 && key.length === 0) return undefined;
  const stores = await Promise.all(trust.map((file) => readTrustFile(cli, file)));
  const single = await Promise.all(key.map((spec) => readTrustedKeys(cli, spec)));
  return trustStore([...stores.flatMap(({ keys }) => keys), ...single.flat()]);
}

export async function readTrustFile(cli: Cli, file: string): Promise<TrustStore> {
  const bytes = await readInput(file, MAX_STORE_BYTES, cli);
  return parseTrustFile(file, bytes);
}

/** The trust store of a file. @throws DrillproofError `trust.…`, naming the file */
export const parseTrustFile = (file: string, bytes: Uint8Array): TrustStore =>
  naming(file, () => parseTrustStore(bytes), 'trust.STORE_INVALID');

async function readTrustedKeys(cli: Cli, { file, issuer, keyId }: KeySpec): Promise<TrustedKey[]> {
  const bytes = await readInput(file, MAX_KEY_SET_BYTES, cli);
  const keys = naming(file, () => readVerifyingKeys(bytes));
  if (keyId !== undefined && keys.length > 1)
    throw usageError(`keyId names one key, and ${file} holds ${keys.length}`, 'Leave keyId= out.');
  return keys.map((key) => ({
    ...key,
    keyId: keyId ?? key.keyId,
    issuer,
    compromised: true,
    purposes: SIGNER_PURPOSES,
  }));
}

/** Puts the name of the file before what is wrong with it; JSON that does not parse is the store's fault. */
export function naming<T>(file: string, read: () => T, jsonCode?: 'trust.STORE_INVALID'): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const code = jsonCode !== undefined && !cause.code.startsWith('trust.') ? jsonCode : cause.code;
    throw new DrillproofError(code, `${file}: ${cause.message}`, {
      cause,
      ...(cause.path !== undefined && { path: cause.path }),
      ...(cause.details !== undefined && { details: cause.details }),
    });
  }
}
