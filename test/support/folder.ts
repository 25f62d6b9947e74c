import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** Creates a folder. Call it at the top of a test file, after whose tests it is removed. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'drillproof-test-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a folder in a test or in `beforeEach`. The end of the test removes it. */
export async function makeTestFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'drillproof-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files by their path below a folder. */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, Uint8Array | string>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** Creates a folder with these files in a folder of `makeFolder`. */
export async function makeFolderIn(
  root: string,
  files: Readonly<Record<string, Uint8Array | string>> = {},
): Promise<string> {
  const folder = await mkdtemp(join(root, 'folder-'));
  await writeFiles(folder, files);
  return folder;
}
