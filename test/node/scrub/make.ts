import { readFile, writeFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../../src/bytes/arguments.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import { bagSink } from '../../../src/mirror/bag-sink.ts';
import { mirrorExport } from '../../../src/mirror/mirror.ts';
import { replicaClient } from '../../../src/mirror/replica.ts';
import type { MirrorSink } from '../../../src/mirror/sink.ts';
import { scrubMany } from '../../../src/scrub/mirror.ts';
import type { MirrorScrub } from '../../../src/report/many/scrubs.ts';
import type { ScrubOptions } from '../../../src/scrub/options.ts';
import { mirrorDirectory } from '../../../src/node/volume/mirror.ts';
import { openScrubArchive, type ScrubArchiveOptions } from '../../../src/node/scrub-archive.ts';
import { cleanUp, newFolder } from '../../mirror/make.ts';
import { idOf, makeExport, makeSigner, NOW, PROJECT, type MadeExport } from '../../support/evidence.ts';

export const DAY = 86_400_000;
export const SOURCE = 'https://source.example';

export { cleanUp, newFolder };

export const exportId = (n: number): string => idOf('evexp', n);

/** Makes an export with the nth id. */
export const makeExportWithId = (n: number, parts = 3, signer = makeSigner()): Promise<MadeExport> =>
  makeExport({ parts, signer, input: { evidenceExportId: exportId(n) } });

/** Mirrors an export into a folder or another sink, as the command does. */
export async function mirrorInto(
  to: string | MirrorSink,
  sample: MadeExport,
  how: { bag?: boolean } = {},
): Promise<void> {
  const { evidenceExportId } = sample.packed.manifest;
  const plain = typeof to === 'string' ? mirrorDirectory(to) : to;
  await mirrorExport(
    { projectId: PROJECT, evidenceExportId },
    {
      client: replicaClient(memorySource(sample.files), SOURCE),
      to: how.bag === true ? bagSink(plain, { tool: 'drillproof/test', evidenceExportId }) : plain,
      now: () => NOW,
    },
  );
}

/** Makes a folder of mirrors of several exports. With `bags`, every second one is a bag. */
export async function makeArchive({ mirrors = 2, parts = 3, bags = false } = {}) {
  const root = await newFolder();
  const exports: MadeExport[] = [];
  for (let n = 1; n <= mirrors; n++) {
    const sample = await makeExportWithId(n, parts);
    await mirrorInto(join(root, exportId(n)), sample, { bag: bags && n % 2 === 0 });
    exports.push(sample);
  }
  return { root, exports };
}

type HowToScrub = Partial<ScrubOptions> & ScrubArchiveOptions;

/** Scrubs an archive, and returns the result of each mirror in the order of the work. */
export async function scrubArchive(
  root: string,
  { journal, env, ...options }: HowToScrub = {},
): Promise<MirrorScrub[]> {
  const archive = await openScrubArchive(root, defined({ journal, env, jobs: options.jobs }));
  const results: MirrorScrub[] = [];
  try {
    const how = { tool: 'drillproof/test', now: () => NOW, ...options };
    await scrubMany(archive, how, async (result) => void results.push(result));
  } finally {
    await archive.close();
  }
  return results;
}

/** Makes an archive of one mirror, and the functions that scrub it and list its faults. */
export async function makeOneMirror(options: { readonly parts?: number } = {}) {
  const { root, exports } = await makeArchive({ mirrors: 1, ...options });
  const scrub = async (how?: HowToScrub) => (await scrubArchive(root, how))[0]!;
  const faults = async (how?: HowToScrub) => listFaults([await scrub(how)]);
  return { root, folder: join(root, exportId(1)), sample: exports[0]!, scrub, faults };
}

/** Lists the faults as `found path code`, sorted. */
export const listFaults = (results: readonly MirrorScrub[]): string[] =>
  results
    .flatMap(({ faults }) => faults.map(({ found, path, code }) => `${found} ${path} ${code}`))
    .toSorted();

/** The path of part `n` of a mirror, from 0. */
export const partOf = (folder: string, n = 0): string =>
  join(folder, 'parts', readdirSync(join(folder, 'parts')).toSorted()[n] ?? 'none');

/** Flips one bit of a file on disk. */
export async function rot(file: string, offset = 100, bit = 3): Promise<void> {
  const bytes = await readFile(file);
  bytes[offset]! ^= 1 << bit;
  await writeFile(file, bytes);
}
