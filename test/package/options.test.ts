import { describe, expect, test } from 'vitest';
import { join } from 'node:path';
import { memorySource } from '../../src/evidence/index.ts';
import { discoverExports, mirrorMany } from '../../src/mirror/index.ts';
import {
  mirrorDirectory,
  mirrorS3,
  openPartStore,
  openScrubArchive,
  repairMirror,
  scrubMany,
  scrubMirror,
} from '../../src/node.ts';
import type { ScrubPlace } from '../../src/scrub/index.ts';
import { createServer, createWorker, listen, openEmbedded } from '../../src/server.ts';
import { makeFolder } from '../support/folder.ts';

const folder = await makeFolder();

type Options = Record<string, unknown>;

const none = (): Promise<never> => Promise.reject(new Error('not called'));
const place: ScrubPlace = {
  name: 'evexp_000000000001',
  place: 'memory',
  journal: {
    read: async () => Buffer.alloc(0),
    append: async () => undefined,
    replace: async () => undefined,
  },
  look: async () => ({ source: memorySource({}), files: new Map(), unfinished: false }),
  sink: none,
  close: async () => undefined,
};
const bucket = { bucket: 'b', prefix: '', forcePathStyle: false };
const lock = { waitMs: 0 };

/** A call with some options, and options that it takes. What a caller in JavaScript passes has no type. */
type Case = readonly [name: string, call: (options: never) => unknown, options: Options];

const CASES: readonly Case[] = [
  ['scrubMirror', (options) => scrubMirror(place, options), { tool: 'x', olderThanMs: 0, jobs: 1 }],
  [
    'scrubMany',
    (options) => scrubMany({ mirrors: [], open: () => place }, options, none),
    { tool: 'x', untilMs: 0 },
  ],
  [
    'repairMirror',
    (options) => repairMirror(place, { faults: [] } as never, none, options),
    { tool: 'x', projectId: 'prj_000000000001' },
  ],
  ['openScrubArchive', (options) => openScrubArchive(folder, options), { jobs: 1, env: {} }],
  ['mirrorDirectory', (options) => mirrorDirectory(folder, options), { lock }],
  ['mirrorDirectory, lock', (wait) => mirrorDirectory(folder, { lock: wait }), lock],
  ['mirrorS3', (options) => mirrorS3(bucket, options), { env: {}, lock }],
  ['mirrorS3, retention', (retention) => mirrorS3(bucket, { retention }), { legalHold: true }],
  [
    'mirrorS3, retain',
    (retain) => mirrorS3(bucket, { retention: { retain } }),
    { mode: 'COMPLIANCE', untilMs: 1 },
  ],
  ['openPartStore', (options) => openPartStore(folder, options), { link: 'copy' }],
  ['mirrorMany', (options) => mirrorMany([], none, options), { atOnce: 1 }],
  [
    'discoverExports',
    (options) => discoverExports({ exports: () => [] } as never, 'p', options),
    { sinceMs: 0 },
  ],
  [
    'createServer',
    (options) => createServer(options),
    { store: {}, blobs: {}, publicUrl: () => 'https://x' },
  ],
  [
    'createServer, limits',
    (limits) => createServer({ store: {}, blobs: {}, limits } as never),
    { bodyBytes: 1 },
  ],
  ['createWorker', (options) => createWorker(options), { store: {}, drainMs: 0, maxAttempts: 1 }],
  [
    'listen',
    async (options) => (await listen({ answer: () => Promise.reject(new Error('unused')) }, options)).close(),
    { port: 0, hostname: '127.0.0.1' },
  ],
  [
    'openEmbedded',
    async (options) => (await openEmbedded(join(folder, 'data'), options)).store.close(),
    { now: () => 0 },
  ],
];

const attempt = async (call: Case[1], options: Options): Promise<unknown> => {
  try {
    await call(options as never);
    return 'accepted';
  } catch (error) {
    return error;
  }
};

describe.each(CASES)('%s', (_, call, options) => {
  test('takes its options', async () => {
    expect(await attempt(call, options)).toBe('accepted');
  });

  test.each(Object.keys(options))('refuses a misspelt %s and suggests the near name', async (name) => {
    const error = await attempt(call, { ...options, [`${name}s`]: options[name] });
    expect(error).toBeInstanceOf(TypeError);
    expect((error as TypeError).message).toContain(`has the unknown member "${name}s"`);
    expect((error as TypeError).message).toContain(name);
  });

  test.each(Object.keys(options))('refuses a %s of the wrong kind and names it', async (name) => {
    const error = await attempt(call, { ...options, [name]: Symbol('x') });
    expect(error).toBeInstanceOf(TypeError);
    expect((error as TypeError).message).toContain(`${name} is a symbol. Pass `);
  });

  test('refuses a member with a name that every object inherits', async () => {
    expect(await attempt(call, { ...options, toString: () => '' })).toBeInstanceOf(TypeError);
  });
});
