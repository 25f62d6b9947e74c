import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createClient } from '../../src/client/client.ts';
import type { ClientOptions } from '../../src/client/options.ts';
import { mirrorExport } from '../../src/mirror/mirror.ts';
import type { MirrorEvent, MirrorOptions } from '../../src/mirror/run.ts';
import { mirrorDirectory } from '../../src/node/volume/mirror.ts';
import {
  exportRef,
  makeExport,
  serveExport,
  type ExportSource,
  type Fault,
  type TestExport,
} from '../faults/export-source.ts';

export const TOKEN = 'token-that-must-never-appear';

const cleanups: (() => Promise<unknown>)[] = [];

/** Closes the servers and removes the folders of a test. */
export async function cleanUp(): Promise<void> {
  await Promise.all(cleanups.splice(0).map((clean) => clean()));
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mirror-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function source(sample: TestExport, fault?: Fault): Promise<ExportSource> {
  const server = await serveExport(sample, fault);
  cleanups.push(() => server.close());
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
      timeouts: { stallMs: 20_000 }, // a busy machine is no stall
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

/** A folder with a complete mirror of an export, and the server of that export. */
export async function makeMirror(sample = makeExport(), options: Options = {}, fault?: Fault) {
  const folder = await newFolder();
  const server = await source(sample, fault);
  return { folder, server, ...(await mirror(server, folder, options)) };
}

/** A clock that only sleeping moves. */
export function makeClock() {
  let nowMs = 0;
  const slept: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    slept.push(ms);
    nowMs += ms;
  };
  return { slept, now: () => nowMs, sleep };
}

/** Every file of a folder, by its path; a symbolic link is reported as such. */
export async function filesOf(folder: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file).replaceAll('\\', '/');
    if (entry.isFile()) files.set(path, await readFile(file));
    else if ((await lstat(file)).isSymbolicLink()) files.set(path, Buffer.from('a symbolic link'));
  }
  return files;
}
