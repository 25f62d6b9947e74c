import { once } from '../../bytes/once.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { canonicalBytes, canonicalJson } from '../../bytes/json/canonical.ts';
import { pathTwin, portablePathProblem } from '../../bytes/portable-path.ts';
import { toUtf8 } from '../../bytes/text/utf8.ts';
import type { AssertionResult } from '../../contract/index.ts';
import type { BundleInput, ObjectInput } from '../../evidence/index.ts';
import { errnoOf, ioError } from '../../node/fs-errors.ts';
import { mediaTypeOf } from '../pack/media-types.ts';
import { fileBytes } from '../pack/walk.ts';
import { packageFiles, type LockedPackage } from './packages.ts';

/** The drill of the demonstration: is an installed package the one that package-lock.json locks? */
export const DRILL_ID = 'installed-package';

/** What a run of the drill left behind: its outcome, and the objects of its evidence. */
export type DrillRun = {
  readonly targetId: string;
  readonly license: string;
  readonly files: number;
  readonly verdict: 'passed' | 'failed';
  readonly assertionResults: readonly AssertionResult[];
  readonly lastSequence: number;
  readonly objects: BundleInput['objects'];
};

const packageSchema = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  license: z.unknown().optional(),
});
type PackageJson = z.infer<typeof packageSchema>;

/** The package at hand: its folder below the project, what it says of itself, and what the lock says of it. */
type Target = {
  readonly path: string;
  readonly json: PackageJson;
  readonly locked: LockedPackage | undefined;
  readonly files: readonly string[];
};

type Assertion = {
  readonly id: string;
  readonly message: string;
  readonly expected: (target: Target) => string;
  readonly actual: (target: Target) => string;
};

const ASSERTIONS: readonly Assertion[] = [
  {
    id: 'name-is-that-of-its-place',
    message: 'the name in package.json is that of the folder',
    expected: ({ path }) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    actual: ({ json }) => json.name ?? 'absent',
  },
  {
    id: 'version-is-locked',
    message: 'the version in package.json is the one that package-lock.json locks',
    expected: ({ locked }) => locked?.version ?? 'not locked',
    actual: ({ json }) => json.version ?? 'absent',
  },
  {
    id: 'integrity-is-recorded',
    message: 'package-lock.json records the integrity of the package',
    expected: () => 'sha512',
    actual: ({ locked }) => locked?.integrity?.split('-')[0] ?? 'absent',
  },
  {
    id: 'license-is-present',
    message: 'the package names its licence or carries a licence file',
    expected: () => 'present',
    actual: (target) => (licenseOf(target) === 'absent' ? 'absent' : 'present'),
  },
];

function licenseOf({ json, files }: Pick<Target, 'json' | 'files'>): string {
  if (typeof json.license === 'string') return json.license;
  return files.find((path) => /^(?:licen[cs]e|copying)/i.test(path)) ?? 'absent';
}

/** Runs the drill on one installed package: really reads it, and writes down what it saw. */
export async function runDrill(
  project: string,
  path: string,
  locked: LockedPackage | undefined,
): Promise<DrillRun> {
  const folder = join(project, path);
  const files = await packageFiles(folder);
  const target: Target = { path, json: await readPackageJson(folder), locked, files };
  const journal = createJournal();
  journal.write('package.read', { path, files: files.length });
  const assertionResults = ASSERTIONS.map((assertion) => judge(assertion, target, journal));
  const verdict = assertionResults.every((result) => result.status === 'passed') ? 'passed' : 'failed';
  const objects = fileObjects(folder, files, journal);
  const lastSequence = journal.write('drill.finished', { verdict });
  return {
    targetId: `${target.json.name ?? path}@${target.json.version ?? 'unknown'}`.slice(0, 128),
    license: licenseOf(target),
    files: files.length,
    verdict,
    assertionResults,
    lastSequence,
    objects: [...recordObjects(target, journal), ...objects],
  };
}

async function readPackageJson(folder: string): Promise<PackageJson> {
  const path = join(folder, 'package.json');
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    if (errnoOf(cause) === 'ENOENT') return '';
    throw ioError(cause, path, 'read');
  });
  try {
    // npm itself reads it so: packages in the wild carry byte order marks and duplicate members.
    return packageSchema.parse(JSON.parse(text));
  } catch {
    return {}; // a package whose package.json is absent or says nothing fails its assertions
  }
}

type Journal = {
  /** Writes a line and gives its sequence number. */
  write(event: string, facts: Readonly<Record<string, unknown>>): number;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
};

function createJournal(): Journal {
  const lines: Readonly<Record<string, unknown>>[] = [];
  return {
    lines,
    write: (event, facts) => lines.push({ sequence: lines.length + 1, event, ...facts }),
  };
}

function judge(assertion: Assertion, target: Target, journal: Journal): AssertionResult {
  const expected = assertion.expected(target);
  const actual = assertion.actual(target);
  const status = expected === actual ? 'passed' : 'failed';
  const sequence = journal.write('assertion.judged', { assertionId: assertion.id, expected, actual, status });
  return {
    schemaVersion: 1,
    assertionId: assertion.id,
    kind: 'state',
    status,
    gate: true,
    message: assertion.message,
    expected,
    actual,
    evidenceSequences: [sequence],
  };
}

/** The journal is the evidence, what the package says of itself the state, and what was read the trajectory. */
function recordObjects({ path, json, locked, files }: Target, journal: Journal): ObjectInput[] {
  const state = canonicalBytes({
    path,
    name: json.name,
    version: json.version,
    license: licenseOf({ json, files }),
    locked: locked && { version: locked.version, integrity: locked.integrity },
  });
  return [
    object('journal.jsonl', 'evidence', 'application/x-ndjson', lines(journal.lines)),
    object('state.json', 'state', 'application/json', state),
    object('trajectory.jsonl', 'trajectory', 'application/x-ndjson', lines(files.map((read) => ({ read })))),
  ];
}

const lines = (rows: readonly unknown[]): Uint8Array =>
  toUtf8(rows.map((row) => `${canonicalJson(row)}\n`).join(''));

const object = (
  name: string,
  role: NonNullable<ObjectInput['role']>,
  mediaType: string,
  bytes: Uint8Array,
): ObjectInput => ({
  path: `objects/${name}`,
  mediaType,
  role,
  open: () => once(bytes),
});

/** The files of the package as objects; a name that is not the same on every file system gets a plain one, noted. */
function fileObjects(folder: string, files: readonly string[], journal: Journal): ObjectInput[] {
  const twins = new Set<string>();
  return files.map((file, i) => {
    const wanted = `objects/files/${file}`;
    const plain = portablePathProblem(wanted) === undefined && !twins.has(pathTwin(wanted));
    const path = plain ? wanted : `objects/renamed/${i}`;
    twins.add(pathTwin(path));
    if (!plain) journal.write('file.renamed', { file, path });
    return { path, mediaType: mediaTypeOf(file), role: 'file', open: () => fileBytes(join(folder, file)) };
  });
}
