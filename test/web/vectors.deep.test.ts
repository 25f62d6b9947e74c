import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../cli/make.ts';
import { NOW } from '../support/evidence.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { readVectors } from '../vectors/read.ts';
import { BROWSERS } from './browsers.ts';
import { openPage } from './page.ts';

type Input = {
  readonly zip?: string;
  readonly part?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly trust?: string;
  readonly asOfMs?: number;
};
/** A case as the page gets it: a file, or the files of a folder, in base64. */
type Case = {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly trust: string;
  readonly asOfMs: number;
};

const isPlain = (path: string): boolean => /^[\w-]+(?:[./][\w-]+)*$/.test(path);

const CASES = ['bundles', 'exports', 'archives', 'dsse'].flatMap((kind) =>
  readVectors(kind).cases.flatMap(({ input }, at): Case[] => {
    const { zip, part, files, trust = '', asOfMs = NOW } = input as Input;
    const archive = zip ?? part;
    const name = archive === undefined ? `${kind}-${at}` : `${kind}-${at}.zip`;
    const all = archive === undefined ? files : { [name]: archive };
    return all !== undefined && Object.keys(all).every(isPlain) ? [{ name, files: all, trust, asOfMs }] : [];
  }),
);

const home = process.cwd();
const folder = await makeFolder();
const expected: string[] = [];

/** The report, or the code of the error that prevented it. */
const shorten = (json: string): string => {
  const value = JSON.parse(json) as { kind?: string; code?: string };
  return value.kind === 'export' || value.kind === 'bundle' ? json : String(value.code);
};

beforeAll(async () => {
  process.chdir(folder);
  for (const { name, files, trust, asOfMs } of CASES) {
    const bytes = Object.entries(files).map(([path, base64]) => [path, Buffer.from(base64, 'base64')]);
    await writeFiles(name in files ? '.' : name, Object.fromEntries(bytes));
    await writeFiles('.', { 'trust.json': trust });
    const keys = trust === '' ? [] : ['--trust', 'trust.json'];
    const asOf = ['--as-of', new Date(asOfMs).toISOString(), '--json'];
    expected.push(shorten((await call(['verify', name, ...keys, ...asOf])).stdout));
  }
});
afterAll(() => process.chdir(home));

// One worker of the page for all cases, because starting it takes longer than a case.
const RUN = `async (cases) => {
  const worker = new Worker(URL.createObjectURL(blobs[0]));
  const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const results = [];
  for (const { name, files, trust, asOfMs } of cases) {
    const tree = { name, folders: [], files: new Map(Object.entries(files).map(([path, base64]) => [path, new File([bytesOf(base64)], path)])) };
    const keys = trust === '' ? [] : [{ name: 'trust.json', bytes: new TextEncoder().encode(trust) }];
    results.push(await new Promise((resolve) => {
      worker.onmessage = ({ data }) => {
        if (data.kind === 'done') worker.postMessage({ kind: 'ask', row: 'json' });
        if (data.kind === 'file') resolve(data.blob.text());
        if (data.kind === 'failed') resolve(data.failure.code);
      };
      worker.postMessage({ kind: 'start', request: { trees: [tree], keys, envelopes: [], tokens: [], asOfMs }, ports: [] });
    }));
  }
  worker.terminate();
  return results;
}`;

test.each(Object.entries(BROWSERS))(
  'the report of the page in %s is that of the command, byte for byte, for every vector with an archive',
  async (_, start) => {
    const browser = await start();
    try {
      await using page = await openPage(browser);
      await page.choose('#file', [join(folder, CASES.find(({ name, files }) => name in files)!.name)]);
      await page.verify(NOW);
      const results = await page.evaluate<string[]>(`(${RUN})(${JSON.stringify(CASES)})`);
      expect(expected.filter((text) => text.startsWith('{')).length).toBeGreaterThan(300);
      for (const [at, { name }] of CASES.entries()) expect(results[at], name).toBe(expected[at]);
    } finally {
      await browser.close();
    }
  },
);
