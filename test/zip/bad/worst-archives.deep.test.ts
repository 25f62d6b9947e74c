import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { inFolder } from '../outside-readers.ts';
import { worstArchives } from './worst-archives.ts';

const CHILD = fileURLToPath(new URL('worst-child.ts', import.meta.url));
const MiB = 2 ** 20;

/** The 2 seconds of requirement 21 are measured by hand; here a reader that does not end is ended. */
const KILLED_AFTER_MS = 30_000;

const readInChild = (path: string): { outcome: string; rssBytes: number } =>
  JSON.parse(
    execFileSync(
      process.execPath,
      ['--max-old-space-size=128', '--conditions=drillproof:source', CHILD, path],
      {
        encoding: 'utf8',
        env: { ...process.env, NODE_OPTIONS: '' },
        timeout: KILLED_AFTER_MS,
        killSignal: 'SIGKILL',
      },
    ),
  ) as { outcome: string; rssBytes: number };

it.each(Object.entries(worstArchives))(
  'requirement 21: an archive that costs its reader the most %s ends in its code within 256 MiB',
  (_, [code, make]) => {
    const seen = inFolder((folder) => {
      const path = join(folder, 'worst.zip');
      writeFileSync(path, make());
      return readInChild(path);
    });
    expect(seen.outcome).toBe(code);
    expect(seen.rssBytes).toBeLessThan(256 * MiB);
  },
  60_000,
);
