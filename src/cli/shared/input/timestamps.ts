import { defined } from '../../../bytes/arguments.ts';
import { existsSync } from 'node:fs';
import { isS3Url } from '../../../node/s3/location.ts';
import type { VerifyTimestampsOptions } from '../../../node/time/timestamps.ts';
import type { CheckedTimestamp } from '../../../verify/timestamps.ts';
import type { Cli } from '../../cli.ts';
import { readEvidenceInput } from './input.ts';

/** Renewals of renewals that are looked for. */
const MAX_RENEWALS = 16;

/** The file of the token about a file or folder. A renewal is about a token, so its name has two ends. */
export const nameToken = (path: string): string => `${path.replace(/(?<=.)\/+$/, '')}.tst`;

/**
 * Reads and verifies timestamp tokens: those that the caller names, those next to the files, and their renewals.
 * @throws DrillproofError `io.NOT_FOUND`, `io.UNREADABLE`, `io.PACKAGE_MISSING`; LimitError `json.TOO_LARGE`
 */
export async function readTimestamps(
  cli: Cli,
  {
    about,
    tokens = [],
  }: { readonly about: readonly string[]; readonly tokens?: readonly string[] | undefined },
  { asOfMs, trust, clockSkewMs }: VerifyTimestampsOptions,
): Promise<readonly CheckedTimestamp[]> {
  const local = about.filter((path) => path !== '-' && !isS3Url(path));
  const names = new Set([
    ...local.flatMap(findTokens),
    ...tokens.flatMap((token) => [token, ...findTokens(token)]),
  ]);
  if (names.size === 0) return [];
  // Loaded late, because most evidence has no tokens.
  const [{ verifyTimestamps }, { MAX_TOKEN_BYTES }] = await Promise.all([
    import('../../../node/time/timestamps.ts'),
    import('../../../node/time/token.ts'),
  ]);
  const files = [];
  for (const name of names) files.push({ name, token: await readEvidenceInput(name, MAX_TOKEN_BYTES, cli) });
  return verifyTimestamps(files, { asOfMs, ...defined({ trust, clockSkewMs }) });
}

function findTokens(path: string): readonly string[] {
  const names: string[] = [];
  for (let name = nameToken(path); names.length < MAX_RENEWALS && existsSync(name); name = nameToken(name))
    names.push(name);
  return names;
}
