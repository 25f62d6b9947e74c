import { readFile, writeFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { memorySource } from '../../../src/evidence/index.ts';
import { bagSink, mirrorExport, replicaClient } from '../../../src/mirror/index.ts';
import { scrubMany, type MirrorScrub, type ScrubOptions } from '../../../src/scrub/index.ts';
import { mirrorDirectory } from '../../../src/node/volume/mirror.ts';
import { openScrubArchive, type ScrubArchiveOptions } from '../../../src/node/scrub-archive.ts';
import { cleanUp, newFolder } from '../../mirror/make.ts';
import { idOf, makeExport, makeSigner, NOW, PROJECT, type MadeExport } from '../../support/evidence.ts';

export const DAY = 86_400_000;
export const SOURCE = 'https://source.example';

export { cleanUp, newFolder };

export const exportId = (n: number): string => idOf('evexp', n);

/** An export with an id of its own. */
export const madeExport = (n: number, parts = 3, signer = makeSigner()): Promise<MadeExport> =>
  makeExport({ parts, signer, input: { evidenceExportId: exportId(n) } });

/** Mirrors an export into a folder, as the command does. */
export async function mirrorInto(
  folder: string,
  made: MadeExport,
  how: { bag?: boolean } = {},
): Promise<void> {
  const { evidenceExportId } = made.packed.manifest;
  const plain = mirrorDirectory(folder);
  await mirrorExport(
    { projectId: PROJECT, evidenceExportId },
    {
      client: replicaClient(memorySource(made.files), SOURCE),
      to: how.bag === true ? bagSink(plain, { tool: 'drillproof/test', evidenceExportId }) : plain,
      now: () => NOW,
    },
  );
}

/** A folder of mirrors of several exports; every second one as a bag, where asked for. */
export async function makeArchive({ mirrors = 2, parts = 3, bags = false } = {}) {
  const root = await newFolder();
  const exports: MadeExport[] = [];
  for (let n = 1; n <= mirrors; n++) {
    const made = await madeExport(n, parts);
    await mirrorInto(join(root, exportId(n)), made, { bag: bags && n % 2 === 0 });
    exports.push(made);
  }
  return { root, exports };
}

type How = Partial<ScrubOptions> & ScrubArchiveOptions;

/** Scrubs an archive, and gives the result of each mirror in the order of the work. */
export async function scrubbed(root: string, how: How = {}): Promise<MirrorScrub[]> {
  const { journal, env, ...options } = how;
  const archive = await openScrubArchive(root, {
    ...(journal !== undefined && { journal }),
    ...(env !== undefined && { env }),
    ...(how.jobs !== undefined && { jobs: how.jobs }),
  });
  const results: MirrorScrub[] = [];
  try {
    const given = { tool: 'drillproof/test', now: () => NOW, ...options };
    await scrubMany(archive, given, (result) => Promise.resolve(void results.push(result)));
  } finally {
    await archive.close();
  }
  return results;
}

/** What is wrong, as `found path code`, sorted. */
export const told = (results: readonly MirrorScrub[]): string[] =>
  results
    .flatMap(({ faults }) => faults.map(({ found, path, code }) => `${found} ${path} ${code}`))
    .toSorted();

/** The path of the nth part of a mirror, from 0. */
export const partOf = (folder: string, n = 0): string =>
  join(folder, 'parts', readdirSync(join(folder, 'parts')).toSorted()[n] ?? 'none');

/** Flips one bit of a file on disk. */
export async function rot(file: string, offset = 100, bit = 3): Promise<void> {
  const bytes = await readFile(file);
  bytes[offset]! ^= 1 << bit;
  await writeFile(file, bytes);
}
