import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { trustStoreJwks } from '../../src/trust/index.ts';
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

it.each([
  ['cryptography for help', ['--help'], 'crypto'],
  ['promises of files to verify', VERIFY, 'fs/promises'],
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
  const packages = packagesOf(listUrls([...VERIFY, '--second-opinion']));
  expect(packages).toEqual(expect.arrayContaining(['@noble/curves', 'yauzl']));
});

describe('the compiled code that V8 wrote during the build', () => {
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
    const args = ['--import', LOG, ...flags, main, ...VERIFY];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    return { stdout, rejected: /^(true|false|undefined)$/m.exec(stderr)?.[0] };
  };

  it.each<[how: string, rejected: string, change: () => unknown, flags?: readonly string[]]>([
    ['is as built', 'false', () => {}],
    ['is missing', 'undefined', () => caches().forEach((file) => rmSync(file))],
    ['is empty', 'true', () => replaceAll('')],
    ['is of another program', 'true', () => replaceAll(new Script('0').createCachedData())],
    ['was made with other flags', 'true', () => {}, ['--max-lazy']],
  ])(
    'the compiled code of the built command does not change the report if it %s',
    (_how, rejected, change, flags) => {
      cpSync(resolve(MAIN, '..'), join(copy, 'dist/cli'), { recursive: true });
      cpSync(resolve(MAIN, '../../../package.json'), join(copy, 'package.json'));
      change();
      const { stdout } = verify(MAIN);
      expect(stdout).toMatch(/^VERIFIED/);
      expect(verify(join(copy, 'dist/cli/main.js'), flags)).toEqual({ stdout, rejected });
    },
  );
});
