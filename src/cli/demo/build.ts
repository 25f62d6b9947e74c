import { once } from '../../bytes/once.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf, type Digest } from '../../bytes/hash.ts';
import { canonicalBytes } from '../../bytes/json/canonical.ts';
import type { BuildLock } from '../../evidence/index.ts';
import { writeZip } from '../../zip/index.ts';

/** Tools of the build: single source files of packages that are installed, with their real manifests. */
const TOOLS = [
  { packageId: 'zip-reader', folder: 'yauzl', source: 'index.js' },
  { packageId: 'zip-writer', folder: 'yazl', source: 'index.js' },
  { packageId: 'command-line', folder: 'commander', source: 'lib/command.js' },
] as const;

export type MadeBuild = {
  readonly buildHash: Digest;
  readonly lock: Uint8Array;
  archive(): AsyncIterable<Uint8Array>;
};

/** Packs a build archive (formats §7) from the sources of installed packages. */
export async function makeBuild(project: string): Promise<MadeBuild> {
  const tools = await Promise.all(TOOLS.map((tool) => readTool(project, tool)));
  const lock = canonicalBytes({
    schemaVersion: 1,
    kind: 'build',
    packages: tools.map((tool) => tool.locked),
  });
  const files = [{ name: 'build.json', bytes: lock }, ...tools.flatMap((tool) => tool.files)];
  const entries = files.map(({ name, bytes }) => ({ name, open: () => once(bytes) }));
  return { buildHash: digestOf(lock), lock, archive: () => writeZip(entries) };
}

type Tool = {
  readonly locked: BuildLock['packages'][number];
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
};

async function readTool(
  project: string,
  { packageId, folder, source }: (typeof TOOLS)[number],
): Promise<Tool> {
  const at = join(project, 'node_modules', folder);
  const [manifestBytes, sourceBytes] = await Promise.all([
    readFile(join(at, 'package.json')),
    readFile(join(at, source)),
  ]);
  const { version } = JSON.parse(manifestBytes.toString('utf8')) as { version: string };
  const names = { manifest: `tools/${packageId}/package.json`, source: `tools/${packageId}/source.js` };
  return {
    locked: {
      packageId,
      version,
      manifestHash: digestOf(manifestBytes),
      artifactHash: digestOf(sourceBytes),
      ...names,
    },
    files: [
      { name: names.manifest, bytes: manifestBytes },
      { name: names.source, bytes: sourceBytes },
    ],
  };
}
