import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { makeFolder } from './folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** A folder with a project that has the built package and its dependencies, without the optional packages. */
export async function makeProject(make = makeFolder): Promise<string> {
  const project = await make();
  const modules = join(project, 'node_modules');
  for (const name of [...Object.keys(manifest.dependencies), '@types/node']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  cpSync(join(ROOT, 'dist'), join(modules, 'drillproof/dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(modules, 'drillproof/package.json'));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  return project;
}

/** The errors of the compiler about modules in a project. */
export function compile(project: string, modules: Readonly<Record<string, string>>, options = {}): string {
  const base = { strict: true, module: 'nodenext', target: 'es2023', types: ['node'], noEmit: true };
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(project, name), text);
  const config = { compilerOptions: { ...base, ...options }, files: Object.keys(modules) };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const { status, stdout, stderr } = spawnSync(tsc, ['-p', project], { encoding: 'utf8' });
  return status === 0 ? '' : `exit code ${status}: ${stdout}${stderr}`;
}
