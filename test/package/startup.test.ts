import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { trustStoreJwks } from '../../src/trust/index.ts';
import { makePart, makeSigner, makeTrust } from '../support/evidence.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'startup-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HOOK = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const urls = [];
  registerHooks({ resolve(name, context, next) { const target = next(name, context); urls.push(target.url); return target; } });
  process.on('exit', () => process.stderr.write(urls.join('\\n')));
`)}`;

/** The packages that a command of the built program loads. */
function listLoaded(args: readonly string[]): string[] {
  const call = [process.execPath, '--import', HOOK, MAIN, ...args];
  const urls = execFileSync('sh', ['-c', '"$@" 2>&1 >/dev/null', 'sh', ...call], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(urls).toContain('/dist/cli/main.js');
  return [
    ...new Set(Array.from(urls.matchAll(/\/node_modules\/((?:@[^/]+\/)?[^/]+)/g), ([, name = '']) => name)),
  ];
}

it('the built command loads no package but commander to verify and to explain', async () => {
  const signer = makeSigner();
  writeFileSync(join(folder, 'part.zip'), (await makePart(1, signer)).bytes);
  writeFileSync(join(folder, 'trust.json'), JSON.stringify(trustStoreJwks(makeTrust(signer))));
  for (const args of [
    ['--help'],
    ['verify', '--help'],
    ['verify', 'part.zip', '--trust', 'trust.json'],
    ['explain', 'zip.COMMENT'],
  ])
    expect(listLoaded(args), args.join(' ')).toEqual(['commander']);
});

it('the built command loads yauzl and noble for a second opinion only', () => {
  const args = ['verify', 'part.zip', '--trust', 'trust.json', '--second-opinion'];
  expect(listLoaded(args)).toEqual(expect.arrayContaining(['@noble/curves', 'yauzl']));
});
