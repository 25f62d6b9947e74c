import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentOf, type Content } from './support.ts';

/** An archive as a program reads it: each name with the SHA-256 of its bytes, or the reason of its refusal. */
export type Sight = Readonly<Record<string, string>> | string;

const sightOf = (content: Content): Sight =>
  Object.fromEntries(content.map(([name, bytes]) => [name, sha256(bytes)] as const));

export const ourSight = async (archive: Uint8Array): Promise<Sight> => sightOf(await contentOf(archive));

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const PYTHON = `
import hashlib, json, sys, zipfile
def sight(path):
    try:
        with zipfile.ZipFile(path) as z:
            names = z.namelist()
            if len(names) != len(set(names)): return 'a name occurs twice'
            return {n: hashlib.sha256(z.read(n)).hexdigest() for n in sorted(names)}
    except Exception as e: return repr(e)
print(json.dumps([sight(p) for p in sys.argv[1:]]))
`;

/** Runs with a temporary folder. */
export function inFolder<Result>(act: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'drillproof-readers-'));
  try {
    return act(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** All archives through one start of Python's `zipfile`. */
export const pythonSights = (archives: readonly Uint8Array[]): Sight[] =>
  inFolder((folder) => {
    const paths = archives.map((bytes, i) => saved(folder, i, bytes));
    return JSON.parse(execFileSync('python3', ['-c', PYTHON, ...paths], { encoding: 'utf8' })) as Sight[];
  });

/** Each archive through `7zz`: what it lists, and the bytes that it extracts. */
export const sevenZipSights = (archives: readonly Uint8Array[]): Sight[] =>
  inFolder((folder) => archives.map((bytes, i) => sevenZipSight(folder, saved(folder, i, bytes), i)));

function sevenZipSight(folder: string, path: string, i: number): Sight {
  const out = join(folder, `out${i}`);
  mkdirSync(out);
  const done = spawnSync('7zz', ['x', '-tzip', '-bd', '-sccUTF-8', `-o${out}`, path], { encoding: 'utf8' });
  // Exit code 1 is a warning, such as about needless ZIP64 records.
  if (done.status !== 0 && done.status !== 1) return done.stdout + done.stderr;
  const listed = execFileSync('7zz', ['l', '-tzip', '-ba', '-slt', '-sccUTF-8', path], { encoding: 'utf8' });
  const names = [...listed.matchAll(/^Path = (.*)$/gm)].map(([, name]) => name ?? '');
  return Object.fromEntries(
    names.toSorted().map((name) => [name, sha256(readFileSync(join(out, name)))] as const),
  );
}

function saved(folder: string, i: number, bytes: Uint8Array): string {
  const path = join(folder, `${i}.zip`);
  writeFileSync(path, bytes);
  return path;
}
