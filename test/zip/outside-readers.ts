import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { contentOf } from './support.ts';

/** An archive as a program reads it: each name with the SHA-256 of its bytes, or the reason of its refusal. */
export type Sight = Readonly<Record<string, string>> | string;

export const ourSight = async (archive: Uint8Array): Promise<Sight> =>
  Object.fromEntries((await contentOf(archive)).map(([name, bytes]) => [name, digestOf(bytes)] as const));

const PYTHON = `
import hashlib, json, sys, zipfile
def sight(path):
    try:
        with zipfile.ZipFile(path) as z:
            names = z.namelist()
            if len(names) != len(set(names)): return 'a name occurs twice'
            return {n: 'sha256:' + hashlib.sha256(z.read(n)).hexdigest() for n in sorted(names)}
    except Exception as e: return repr(e)
print(json.dumps([sight(p) for p in sys.argv[1:]]))
`;

/** Writes archives to a folder, which the end of the test removes. */
function save(archives: readonly Uint8Array[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'drillproof-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return archives.map((bytes, n) => {
    const path = join(folder, `${n}.zip`);
    writeFileSync(path, bytes);
    return path;
  });
}

/** All archives through one start of Python's `zipfile`. */
export const pythonSights = (archives: readonly Uint8Array[]): Sight[] =>
  JSON.parse(execFileSync('python3', ['-c', PYTHON, ...save(archives)], { encoding: 'utf8' })) as Sight[];

/** Each archive through `7zz`: what it lists, and the bytes that it extracts. */
export const sevenZipSights = (archives: readonly Uint8Array[]): Sight[] =>
  save(archives).map((path) => sevenZipSight(path));

function sevenZipSight(path: string): Sight {
  const out = `${path}.out`;
  mkdirSync(out);
  const done = spawnSync('7zz', ['x', '-tzip', '-bd', '-sccUTF-8', `-o${out}`, path], { encoding: 'utf8' });
  // Exit code 1 is a warning, such as about needless ZIP64 records.
  if (done.status !== 0 && done.status !== 1) return done.stdout + done.stderr;
  const listed = execFileSync('7zz', ['l', '-tzip', '-ba', '-slt', '-sccUTF-8', path], { encoding: 'utf8' });
  const names = [...listed.matchAll(/^Path = (.*)$/gm)].map(([, name]) => name ?? '');
  return Object.fromEntries(
    names.toSorted().map((name) => [name, digestOf(readFileSync(join(out, name)))] as const),
  );
}
