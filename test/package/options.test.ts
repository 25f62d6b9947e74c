import { describe, expect, test } from 'vitest';
import { join } from 'node:path';
import { mirrorDirectory, mirrorS3 } from '../../src/node.ts';
import { createServer, createWorker, listen, openStores } from '../../src/server.ts';
import { makeFolder } from '../support/folder.ts';

const folder = await makeFolder();

type Options = Record<string, unknown>;

const bucket = { bucket: 'b', prefix: '', forcePathStyle: false };
const lock = { waitMs: 0 };

/** A call, and options that it accepts. They have no type, like those of a caller in JavaScript. */
type Case = readonly [name: string, call: (options: never) => unknown, options: Options];

const CASES: readonly Case[] = [
  ['mirrorDirectory', (options) => mirrorDirectory(folder, options), { lock }],
  ['mirrorDirectory, lock', (wait) => mirrorDirectory(folder, { lock: wait }), lock],
  ['mirrorS3', (options) => mirrorS3(bucket, options), { env: {}, lock }],
  ['mirrorS3, retention', (retention) => mirrorS3(bucket, { retention }), { legalHold: true }],
  [
    'mirrorS3, retain',
    (retain) => mirrorS3(bucket, { retention: { retain } }),
    { mode: 'COMPLIANCE', untilMs: 1 },
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
