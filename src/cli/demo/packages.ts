import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../../bytes/json/parse.ts';
import { compareUtf8 } from '../../bytes/text/utf8.ts';
import { DrillproofError } from '../../errors.ts';
import { errnoOf, ioError } from '../../node/fs-errors.ts';

const lockedPackageSchema = z.looseObject({
  version: z.string().optional(),
  integrity: z.string().optional(),
  license: z.string().optional(),
});
const lockSchema = z.looseObject({ packages: z.record(z.string(), lockedPackageSchema) });

/** What package-lock.json says of the package at one place of the tree. */
export type LockedPackage = z.infer<typeof lockedPackageSchema>;

/** The lock file of a project, by the path of each package (`node_modules/…`). */
export type PackageLock = {
  readonly bytes: Uint8Array;
  readonly packages: ReadonlyMap<string, LockedPackage>;
};

/**
 * Reads package-lock.json.
 * @throws DrillproofError `io.NOT_FOUND`, `io.UNREADABLE`, `usage.INVALID` for a file of another form
 */
async function readPackageLock(project: string): Promise<PackageLock> {
  const path = join(project, 'package-lock.json');
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw ioError(cause, path, 'read');
  });
  const lock = lockSchema.safeParse(parseJson(bytes));
  if (!lock.success) throw new DrillproofError('usage.INVALID', `${path} is no lock file of npm`, { path });
  return { bytes, packages: new Map(Object.entries(lock.data.packages)) };
}

/**
 * Every package that is installed, as a path from the project: each folder of node_modules that has a package.json,
 * those nested in other packages included.
 */
async function installedPackages(project: string): Promise<string[]> {
  const found: string[] = [];
  const pending = ['node_modules'];
  for (let modules = pending.pop(); modules !== undefined; modules = pending.pop()) {
    for (const path of await packageFolders(project, modules)) {
      found.push(path);
      pending.push(`${path}/node_modules`);
    }
  }
  return found.toSorted(compareUtf8);
}

/** What a project has installed, and the lock that says what it should be. */
export type Installed = { readonly lock: PackageLock; readonly packages: readonly string[] };

/** @throws DrillproofError as `readPackageLock`; `io.NOT_FOUND` when nothing is installed */
export async function readInstalled(project: string): Promise<Installed> {
  const lock = await readPackageLock(project);
  const packages = await installedPackages(project);
  if (packages.length > 0) return { lock, packages };
  const path = join(project, 'node_modules');
  throw new DrillproofError('io.NOT_FOUND', `${path} holds no installed package; run "npm ci" first`, {
    path,
  });
}

async function packageFolders(project: string, modules: string): Promise<string[]> {
  const names = await folders(join(project, modules));
  const paths: string[] = [];
  for (const name of names.filter((one) => !one.startsWith('.'))) {
    const path = `${modules}/${name}`;
    if (!name.startsWith('@')) paths.push(path);
    else paths.push(...(await folders(join(project, path))).map((inner) => `${path}/${inner}`));
  }
  return paths;
}

async function folders(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return []; // most packages have no packages of their own
    throw ioError(cause, path, 'read');
  }
}

/** The files of one package, as paths from its folder, without the packages nested in it; links are left out. */
export async function packageFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  const pending = [''];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory() && path !== 'node_modules') pending.push(path);
      else if (entry.isFile()) found.push(path);
    }
  }
  return found.toSorted(compareUtf8);
}
