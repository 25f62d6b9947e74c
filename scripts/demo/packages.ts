import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** An installed package, with what package-lock.json says about it. */
export type Package = {
  /** Path from the project, such as `node_modules/zod`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly locked: LockedPackage;
  readonly files: readonly PackageFile[];
};
export type LockedPackage = {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
};
export type PackageFile = { readonly path: string; readonly bytes: number };

const MAX_PACKAGES = 100;
const MAX_BYTES = 80_000_000;

/** File names that mean the same on every file system; the format allows no others. */
const PORTABLE = /^(?:\.?[\w@+-]+(?:\.[\w@+-]+)*(?:\/|$))+$/;
const RESERVED = /(?:^|\/)(?:con|prn|aux|nul|com\d|lpt\d)(?:[./]|$)/i;

/**
 * Chooses the packages for the demo, in the order of package-lock.json: locked, installed as locked, and small enough
 * to fit the limits. The same installation gives the same packages.
 */
export async function selectPackages(project: string): Promise<Package[]> {
  const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const selected: Package[] = [];
  let bytes = 0;
  for (const [path, locked] of Object.entries(lock.packages)) {
    const candidate = path === '' ? undefined : await readPackage(project, path, locked);
    const size = candidate?.files.reduce((sum, file) => sum + file.bytes, 0) ?? 0;
    if (candidate === undefined || bytes + size > MAX_BYTES) continue;
    selected.push(candidate);
    bytes += size;
    if (selected.length === MAX_PACKAGES) break;
  }
  return selected;
}

/** Returns nothing for a package that the drill cannot pass, or whose file names are not portable. */
async function readPackage(
  project: string,
  path: string,
  locked: LockedPackage,
): Promise<Package | undefined> {
  const manifest = await readFile(join(project, path, 'package.json'), 'utf8').catch(() => undefined);
  if (manifest === undefined) return undefined; // an optional dependency for another platform
  const { name, version } = JSON.parse(manifest) as { name: string; version: string };
  const matches = path.endsWith(`node_modules/${name}`) && version === locked.version;
  if (!matches || locked.integrity === undefined || locked.license === undefined) return undefined;
  const files = await listFiles(join(project, path));
  const names = new Set(files.map((file) => file.path.toLowerCase()));
  const portable = files.every((file) => PORTABLE.test(file.path) && !RESERVED.test(file.path));
  return portable && names.size === files.length ? { path, name, version, locked, files } : undefined;
}

/** The files of a package, sorted by path, without those of packages nested in it. */
async function listFiles(folder: string): Promise<PackageFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split('/').includes('node_modules'));
  return Promise.all(
    paths.toSorted().map(async (path) => ({ path, bytes: (await stat(join(folder, path))).size })),
  );
}
