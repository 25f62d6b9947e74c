import { fromUtf8 } from '../../../bytes/index.ts';
import type { Cli } from '../../cli.ts';
import { readInput } from '../input/input.ts';
import { usageError } from './usage.ts';

const MAX_TOKEN_BYTES = 4096;

/** The bearer token: from the file when one is named, else from DRILLPROOF_TOKEN. It never comes from an argument. */
export async function readToken(cli: Cli, file: string | undefined): Promise<string> {
  const { DRILLPROOF_TOKEN } = cli.env;
  const given = file === undefined ? DRILLPROOF_TOKEN : fromUtf8(await readInput(file, MAX_TOKEN_BYTES, cli));
  const token = given?.trim() ?? '';
  if (token !== '') return token;
  const where = file === undefined ? 'DRILLPROOF_TOKEN is not set' : `${file} holds no token`;
  throw usageError(
    `there is no token: ${where}`,
    'Set DRILLPROOF_TOKEN, or name a file that holds the token with --token-file.',
  );
}
