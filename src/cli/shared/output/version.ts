import { packaging } from '#packaging';
import type { Run } from '../../../verify/index.ts';

/** The version of this program. */
export const ownVersion = (): Promise<string> => packaging.version();

/** Options that change how a result is shown, where it goes or how fast it comes, not what it is. */
const PRESENTATION = new Set(['format', 'json', 'quiet', 'verbose', 'force', 'jobs', 'vsaSigner']);

/** The tool and the options of a run, as reports state them. */
export const describeRun = async (options: object): Promise<Pick<Run, 'tool' | 'options'>> => ({
  tool: { name: 'drillproof', version: await ownVersion() },
  options: Object.fromEntries(
    Object.entries(options)
      .filter(([name, value]) => value !== undefined && !PRESENTATION.has(name))
      .map(([name, value]: [string, unknown]) => [toKebab(name), plainValue(value)]),
  ),
});

const toKebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function plainValue(value: unknown): Run['options'][string] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) ? value.map((item: unknown) => optionWords(item)) : optionWords(value);
}

/** A value with members as it is written on the command line: `0/8`, or `key.pem,issuer=acme`. */
function optionWords(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { index, count, file, ...members } = value as Readonly<Record<string, string | number | undefined>>;
  if (file === undefined) return `${index}/${count}`;
  const named = Object.entries(members).map(([name, member]) => `,${name}=${member}`);
  return `${file}${named.join('')}`;
}
