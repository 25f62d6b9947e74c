import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createClient, type ClientOptions } from '../../src/client/index.ts';
import { mirrorExport, type MirrorEvent, type MirrorOptions } from '../../src/mirror/index.ts';
import { mirrorDirectory } from '../../src/node/volume/mirror.ts';
import {
  exportRef,
  serveExport,
  type ExportSource,
  type Fault,
  type TestExport,
} from '../faults/export-source.ts';

export const TOKEN = 'token-that-must-never-appear';

const rubbish: (() => Promise<unknown>)[] = [];

/** Ends the servers and removes the folders that a test made. */
export async function cleanUp(): Promise<void> {
  await Promise.all(rubbish.splice(0).map((remove) => remove()));
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mirror-'));
  rubbish.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function source(made: TestExport, fault?: Fault): Promise<ExportSource> {
  const server = await serveExport(made, fault);
  rubbish.push(() => server.close());
  return server;
}

type Options = Partial<Omit<MirrorOptions, 'client'>> & { readonly client?: Partial<ClientOptions> };

/** Mirrors from a server into a folder, without waiting between retries. */
export async function mirror(server: { readonly url: string }, folder: string, options: Options = {}) {
  const events: MirrorEvent[] = [];
  const { client, onProgress, ...rest } = options;
  const receipt = await mirrorExport(exportRef, {
    client: createClient({
      baseUrl: server.url,
      token: TOKEN,
      random: () => 0,
      sleep: () => Promise.resolve(),
      timeouts: { stallMs: 500 },
      ...client,
    }),
    to: mirrorDirectory(folder),
    onProgress: (event) => {
      events.push(event);
      onProgress?.(event);
    },
    tool: 'drillproof/test',
    sleep: () => Promise.resolve(),
    ...rest,
  });
  return { receipt, events };
}

/** Every file of a folder, by its path; symbolic links are told as such. */
export async function filesOf(folder: string): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file).replaceAll('\\', '/');
    if (entry.isFile()) found.set(path, await readFile(file));
    else if ((await lstat(file)).isSymbolicLink())
      found.set(path, new TextEncoder().encode('a symbolic link'));
  }
  return found;
}
