import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

const PROGRAM = `
import { verifyAttestation } from 'drillproof';
import { createClient } from 'drillproof/client';
import { operations } from 'drillproof/contract';
import { verifyDirectory } from 'drillproof/node';
import { createServer } from 'drillproof/server';
const trust = { key: 'pem', issuer: 'https://drills.example' };
export const verdict: string = verifyAttestation('{}', { asOfMs: new Date(), trust }).verdict;
export const all = [operations, createClient, verifyDirectory, createServer];
`;
const compilerOptions = {
  strict: true,
  skipLibCheck: false,
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023'],
  types: ['node'],
  noEmit: true,
};

/** Compiles a program in a project that has the built package and what it depends on, without optional packages. */
function compile(program: string): string {
  const project = mkdtempSync(join(tmpdir(), 'drillproof-consumer-'));
  const modules = join(project, 'node_modules');
  try {
    const names = { ...manifest.dependencies, '@types/node': '' };
    for (const name of Object.keys(names)) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
    cpSync(join(root, 'dist'), join(modules, 'drillproof/dist'), { recursive: true });
    cpSync(join(root, 'package.json'), join(modules, 'drillproof/package.json'));
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }));
    writeFileSync(join(project, 'main.ts'), program);
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', project], { encoding: 'utf8', stdio: 'pipe' });
    return '';
  } catch (error) {
    return String((error as { readonly stdout?: string }).stdout ?? error);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

test('a project with skipLibCheck off compiles against every entry point without the optional packages', () => {
  expect(compile(PROGRAM)).toBe('');
}, 120_000);

test('a project that uses an internal name does not compile', () => {
  expect(compile(`import { judgeKey } from 'drillproof';\nexport default judgeKey;`)).toContain('TS2305');
}, 120_000);
