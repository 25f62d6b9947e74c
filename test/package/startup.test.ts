import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Script } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import { once } from '../../src/bytes/index.ts';
import { trustStoreJwks } from '../../src/trust/index.ts';
import {
  makeBundleInput,
  makeExport,
  makeObject,
  makePart,
  makeSigner,
  makeTrust,
} from '../support/evidence.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'startup-'));
afterAll(() => rmSync(folder, { recursive: true }));

// Threads get it too.
const HOOK = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({ resolve(name, context, next) { const target = next(name, context); writeSync(2, target.url + '\\n'); return target; } });
`)}`;

/** The URL of each module that a command of the built program resolves, a line each. */
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

/** The packages that a command of the built program loads. */
const listLoaded = (args: readonly string[]): string[] => packagesOf(listUrls(args));

it('the built command loads no package to verify and to explain', async () => {
  const signer = makeSigner();
  writeFileSync(join(folder, 'part.zip'), (await makePart(1, signer)).bytes);
  writeFileSync(join(folder, 'trust.json'), JSON.stringify(trustStoreJwks(makeTrust(signer))));
  for (const args of [
    ['--help'],
    ['verify', '--help'],
    ['verify', 'part.zip', '--trust', 'trust.json'],
    ['explain', 'zip.COMMENT'],
  ])
    expect(listLoaded(args), args.join(' ')).toEqual([]);
});

it('a thread of the built command loads no package to verify parts', async () => {
  const half = randomBytes(9 * 2 ** 20); // threads start above 16 MiB
  const big = makeObject('files/big.bin', '', { role: 'file', open: () => once(half) });
  const { objects } = makeBundleInput(1);
  const { files } = await makeExport({ parts: 2, bundle: { objects: [...objects, big] } });
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, 'export', path)), { recursive: true });
    writeFileSync(join(folder, 'export', path), bytes);
  }
  const urls = listUrls(['verify', 'export', '--accept', 'intact', '--jobs', '2']);
  expect(urls).toContain('/dist/node/verify-worker.js');
  expect(packagesOf(urls)).toEqual([]);
});

it.each([
  ['cryptography for help', ['--help'], 'crypto'],
  ['promises of files to verify', ['verify', 'part.zip', '--trust', 'trust.json'], 'fs/promises'],
])('the built command loads no %s', (_what, args, name) => {
  const log = `data:text/javascript,process.on('exit', () => console.error(process.moduleLoadList.join('\\n')))`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', log, MAIN, ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/verif/i);
  expect(stderr).toContain('NativeModule fs\n');
  expect(stderr).not.toContain(`NativeModule ${name}\n`);
});

it('the built command loads yauzl and noble for a second opinion only', () => {
  const args = ['verify', 'part.zip', '--trust', 'trust.json', '--second-opinion'];
  expect(listLoaded(args)).toEqual(expect.arrayContaining(['@noble/curves', 'yauzl']));
});

describe('what V8 made of the code during the build', () => {
  const LOG = `data:text/javascript,${encodeURIComponent(`
    import vm from 'node:vm';
    vm.Script = class extends vm.Script {
      constructor(...args) { super(...args); process.on('exit', () => console.error(this.cachedDataRejected)); }
    };
  `)}`;
  const copy = join(folder, 'copy');
  const caches = (): string[] =>
    readdirSync(join(copy, 'dist/cli')).flatMap((name) =>
      name.endsWith('.cache') ? [join(copy, 'dist/cli', name)] : [],
    );
  const replaceAll = (bytes: string | Uint8Array): void =>
    caches().forEach((file) => writeFileSync(file, bytes));
  const verify = (main: string, flags: readonly string[] = []) => {
    const args = ['--import', LOG, ...flags, main, 'verify', 'part.zip', '--trust', 'trust.json'];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    return { stdout, rejected: /^(true|false|undefined)$/m.exec(stderr)?.[0] };
  };

  it.each<[how: string, rejected: string, change: () => unknown, flags?: readonly string[]]>([
    ['is as built', 'false', () => {}],
    ['is missing', 'undefined', () => caches().forEach((file) => rmSync(file))],
    ['is empty', 'true', () => replaceAll('')],
    ['is of another program', 'true', () => replaceAll(new Script('0').createCachedData())],
    ['was made with other flags', 'true', () => {}, ['--max-lazy']],
  ])('does not change the report if it %s', (_how, rejected, change, flags) => {
    cpSync(resolve(MAIN, '..'), join(copy, 'dist/cli'), { recursive: true });
    cpSync(resolve(MAIN, '../../../package.json'), join(copy, 'package.json'));
    change();
    const { stdout } = verify(MAIN);
    expect(stdout).toMatch(/^VERIFIED/);
    expect(verify(join(copy, 'dist/cli/main.js'), flags)).toEqual({ stdout, rejected });
  });
});
