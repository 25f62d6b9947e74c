import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { bytesOf, extraField, joinAll, le, rawZip, type RawEntry } from '../raw-zip.ts';

const CHILD = fileURLToPath(new URL('worst-child.ts', import.meta.url));
const MiB = 2 ** 20;
const path = join(await makeFolder(), 'worst.zip');

const entry = (i: number, rest: RawEntry = {}): RawEntry => ({ name: `f${i}`, plain: '', ...rest });
const many = (count: number, make: (i: number) => RawEntry): RawEntry[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** As many empty blocks as one extra field can hold, each with a different unknown id. */
const BLOCKS = joinAll(Array.from({ length: 16_383 }, (_, i) => extraField(0xa000 + i, new Uint8Array())));
const bomb = deflateRawSync(new Uint8Array(64 * MiB));

/** Archives that cost their readers the most, with the code of each refusal. */
const worstArchives: Readonly<Record<string, readonly [code: string, make: () => Uint8Array]>> = {
  'a twin at the end of very many names': [
    'zip.ENTRY_DUPLICATE',
    () => rawZip([...many(65_000, (i) => entry(i)), entry(64_999)]),
  ],
  'a directory full of extra fields, wrong at its end': [
    'zip.RECORD_INVALID',
    () => rawZip([...many(1_000, (i) => entry(i, { extra: BLOCKS })), entry(1_000, { extra: le(1, 3) })]),
  ],
  'local headers full of extra fields, the last one wrong': [
    'zip.HEADER_MISMATCH',
    () =>
      rawZip([...many(1_000, (i) => entry(i, { localExtra: BLOCKS })), entry(1_000, { local: { time: 1 } })]),
  ],
  'a directory of very long names': [
    'zip.NAME_INVALID',
    () => rawZip(many(1_000, (i) => entry(i, { name: `${'é/'.repeat(21_000)}${i}` }))),
  ],
  'entries that all overlap': [
    'zip.ENTRY_OVERLAP',
    () => rawZip(many(65_000, (i) => entry(i, { central: { offset: 0 } }))),
  ],
  'a bomb that announces little': [
    'zip.SIZE_MISMATCH',
    () => rawZip([{ name: 'a', plain: 'x', data: bomb, method: 8 }]),
  ],
  'a bomb that announces the largest size': [
    'zip.ENTRY_OVERLAP',
    () =>
      rawZip([
        { name: 'a', data: bomb, method: 8, both: { size: 0xff_ff_ff_fe, compressed: 0xff_ff_ff_fe } },
      ]),
  ],
  'end records in a comment, one in the other': [
    'zip.BYTES_UNACCOUNTED',
    () => joinAll([rawZip([]), new Uint8Array(65_000).fill(0x50), bytesOf('PK\u0005\u0006'), le(0, 17)]),
  ],
  'an extra field that is longer than the file': [
    'zip.TRUNCATED',
    () => rawZip([{ name: 'a', localExtra: extraField(0xcafe, le(0, 1)), local: { extraLength: 0xffff } }]),
  ],
};

/** The 2 seconds of requirement 21 are measured by hand; here a reader that does not end is killed. */
const KILLED_AFTER_MS = 30_000;

it.each(Object.entries(worstArchives))(
  'requirement 21: an archive that costs its reader the most %s ends in its code within 256 MiB',
  (_, [code, make]) => {
    writeFileSync(path, make());
    const args = ['--max-old-space-size=128', '--conditions=drillproof:source', CHILD, path];
    const limits = { timeout: KILLED_AFTER_MS, killSignal: 'SIGKILL' } as const;
    const env = { ...process.env, NODE_OPTIONS: '' };
    const output = execFileSync(process.execPath, args, { encoding: 'utf8', env, ...limits });
    const { outcome, rssBytes } = JSON.parse(output) as { outcome: string; rssBytes: number };
    expect(outcome).toBe(code);
    expect(rssBytes).toBeLessThan(256 * MiB);
  },
  60_000,
);
