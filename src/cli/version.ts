import { readFile } from 'node:fs/promises';

/** The version of this program, from its package. */
export async function ownVersion(): Promise<string> {
  const file = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(file) as { version: string };
  return version;
}
