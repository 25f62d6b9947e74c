import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
import { makeFolder } from '../../support/folder.ts';

const SAMPLE = fileURLToPath(new URL('pack-sample.ts', import.meta.url));

type Packed = { node: string; zlib: string; store: string; deflate: string };

const folder = await makeFolder();
const program = join(folder, 'sample.mjs');
let usual: Packed;
beforeAll(async () => {
  // JavaScript, because older versions of Node.js do not take types.
  await build({
    entryPoints: [SAMPLE],
    outfile: program,
    bundle: true,
    format: 'esm',
    target: 'node22',
    platform: 'node',
    conditions: ['drillproof:source'],
    // What is bundled from CommonJS asks for it.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  usual = packed(process.execPath);
}, 60_000);

/** Packs in a process of its own, under a umask that the shell sets. */
const packed = (node: string, env: NodeJS.ProcessEnv = {}, umask = '022'): Packed =>
  JSON.parse(
    execFileSync('sh', ['-c', `umask ${umask}; exec "$0" "$1"`, node, program], {
      cwd: folder,
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      encoding: 'utf8',
    }),
  ) as Packed;

/** Every Node.js on the path that the package supports, this one first. */
function nodes(): string[] {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((each) => join(each, 'node'));
  const real = [process.execPath, ...onPath]
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path));
  return [...new Set(real)].filter((path) => {
    const version = spawnSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout;
    return Number(version.split('.')[0]) >= 22;
  });
}

it.each<[string, NodeJS.ProcessEnv, string]>([
  ['east of everything', { TZ: 'Pacific/Kiritimati' }, '022'],
  ['west of everything', { TZ: 'America/Los_Angeles' }, '022'],
  ['in the C locale', { LANG: 'C', LC_ALL: 'C' }, '022'],
  ['in a Turkish locale', { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' }, '022'],
  ['where files are private', {}, '077'],
  ['where files are for all', {}, '000'],
  ['with the objects in another order', { ORDER: 'reversed' }, '022'],
])('requirement 24: packing the same input gives the same bytes %s', (_, env, umask) => {
  expect(packed(process.execPath, env, umask)).toEqual(usual);
});

it('requirement 24: packing the same input gives the same bytes on every Node.js here; deflated, on one build of zlib', () => {
  const all = nodes().map((node) => packed(node));
  expect(all.length).toBeGreaterThan(0);
  expect(new Set(all.map(({ store }) => store)).size).toBe(1);
  const byZlib = new Map<string, Set<string>>();
  for (const { zlib, deflate } of all) byZlib.set(zlib, (byZlib.get(zlib) ?? new Set()).add(deflate));
  for (const [zlib, digests] of byZlib) expect([zlib, digests.size]).toEqual([zlib, 1]);
});
