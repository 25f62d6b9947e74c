import { describe, expect, test } from 'vitest';
import { join } from 'node:path';
import { discoverExports, mirrorMany } from '../../src/mirror/archive.ts';
import {
  mirrorDirectory,
  mirrorS3,
  openPartStore,
  openScrubArchive,
  repairMirror,
  scrubMany,
  scrubMirror,
} from '../../src/node.ts';
import { createServer, createWorker, listen, openStores } from '../../src/server.ts';
import { makeFolder } from '../support/folder.ts';
import { makePlace } from './scrub-place.ts';

const folder = await makeFolder();

type Options = Record<string, unknown>;

const reject = (): Promise<never> => Promise.reject(new Error('not called'));
const place = makePlace();
const bucket = { bucket: 'b', prefix: '', forcePathStyle: false };
const lock = { waitMs: 0 };

/** A call, and options that it accepts. They have no type, like those of a caller in JavaScript. */
type Case = readonly [name: string, call: (options: never) => unknown, options: Options];

const CASES: readonly Case[] = [
  ['scrubMirror', (options) => scrubMirror(place, options), { tool: 'x', olderThanMs: 0, jobs: 1 }],
  [
    'scrubMany',
    (options) => scrubMany({ mirrors: [], open: () => place }, options, reject),
    { tool: 'x', untilMs: 0 },
  ],
  [
    'repairMirror',
    (options) => repairMirror(place, { faults: [] } as never, reject, options),
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
  ['mirrorMany', (options) => mirrorMany([], reject, options), { atOnce: 1 }],
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
    'openStores',
    async (options) => (await openStores({}, join(folder, 'data'), options)).store.close(),
    { databaseConnections: 1 },
  ],
];

const attempt = async (call: Case[1], options: Options): Promise<string> => {
  try {
    await call(options as never);
    return 'accepted';
  } catch (error) {
    return String(error);
  }
};

describe.each(CASES)('%s', (title, call, options) => {
  test(`${title} accepts its options`, async () => {
    expect(await attempt(call, options)).toBe('accepted');
  });

  test.each(Object.keys(options))(
    `${title} refuses a misspelt %s and suggests the near name`,
    async (name) => {
      const message = await attempt(call, { ...options, [`${name}s`]: options[name] });
      expect(message).toMatch(new RegExp(`^TypeError: .*has the unknown member "${name}s".*${name}`));
    },
  );

  test.each(Object.keys(options))(`${title} refuses a %s of the wrong kind and names it`, async (name) => {
    const message = await attempt(call, { ...options, [name]: Symbol('x') });
    expect(message).toMatch(new RegExp(`^TypeError: .*${name} is a symbol\\. Pass `));
  });

  test(`${title} refuses a member with a name that every object inherits`, async () => {
    expect(await attempt(call, { ...options, toString: () => '' })).toMatch(/^TypeError/);
  });
});
