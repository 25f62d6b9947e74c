import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { trustStoreJwks } from '../../src/trust/store.ts';
import { makeLargeExport, makePart, makeSigner, makeTrust } from '../support/evidence.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = await makeFolder();
const signer = makeSigner();
await writeFiles(folder, {
  'part.zip': (await makePart(1, signer)).bytes,
  'trust.json': JSON.stringify(trustStoreJwks(makeTrust(signer))),
});
const VERIFY = ['verify', 'part.zip', '--trust', 'trust.json'];

// Threads inherit it.
const HOOK = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({ resolve(name, context, next) { const target = next(name, context); writeSync(2, target.url + '\\n'); return target; } });
`)}`;

/** The URLs of the modules that a command of the built program resolves, one per line. */
function listUrls(args: readonly string[]): string {
  const call = [process.execPath, '--import', HOOK, MAIN, ...args];
  const urls = execFileSync('sh', ['-c', '"$@" 2>&1 >/dev/null', 'sh', ...call], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(urls).toContain('/dist/cli/main.js');
  return urls;
}

const packagesOf = (urls: string): string[] => [
  ...new Set(Array.from(urls.matchAll(/\/node_modules\/((?:@[^/]+\/)?[^/]+)/g), ([, name = '']) => name)),
];

it.each([[['--help']], [['verify', '--help']], [VERIFY], [['explain', 'zip.COMMENT']]])(
  'the built command loads no package for %j',
  (args) => expect(packagesOf(listUrls(args))).toEqual([]),
);

it('a thread of the built command loads no package to verify parts', async () => {
  await writeFiles(join(folder, 'export'), (await makeLargeExport()).files);
  const urls = listUrls(['verify', 'export', '--accept', 'intact', '--jobs', '2']);
  expect(urls).toContain('/dist/node/verify-worker.js');
  expect(packagesOf(urls)).toEqual([]);
});

it('the built command loads yauzl and noble for a second opinion only', () => {
  const packages = packagesOf(listUrls([...VERIFY, '--second-opinion']));
  expect(packages).toEqual(expect.arrayContaining(['@noble/curves', 'yauzl']));
});
