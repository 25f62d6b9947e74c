import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectInput } from 'drillproof';
import type { AssertionResult } from 'drillproof/contract';
import type { Package } from './packages.ts';

/** The result of one run of the drill, and the files that prove it. */
export type DrillRun = {
  readonly verdict: 'passed' | 'failed';
  readonly assertionResults: AssertionResult[];
  readonly objects: readonly ObjectInput[];
};

/** Runs the drill of the demo on one package: does the installed package match package-lock.json? */
export async function runDrill(project: string, target: Package): Promise<DrillRun> {
  const { path, locked, files } = target;
  const manifest = JSON.parse(await readFile(join(project, path, 'package.json'), 'utf8')) as {
    name?: string;
    version?: string;
  };
  const folder = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const assertionResults = [
    assertEqual(1, 'package.json has the name of its folder', folder, manifest.name),
    assertEqual(2, 'package.json has the locked version', locked.version, manifest.version),
    assertEqual(3, 'the lock has a SHA-512 digest', 'sha512', locked.integrity?.split('-')[0]),
  ];
  const passed = assertionResults.every((result) => result.status === 'passed');
  return {
    verdict: passed ? 'passed' : 'failed',
    assertionResults,
    objects: [
      recordObject(
        'evidence',
        assertionResults.map((result, i) => ({ sequence: i + 1, ...result })),
      ),
      recordObject('state', [{ path, name: manifest.name, version: manifest.version, locked }]),
      recordObject(
        'trajectory',
        files.map((file) => ({ read: file.path })),
      ),
      ...files.map((file) => ({
        path: `objects/files/${file.path}`,
        mediaType: 'application/octet-stream',
        role: 'file' as const,
        open: () => createReadStream(join(project, path, file.path)),
      })),
    ],
  };
}

function assertEqual(
  sequence: number,
  message: string,
  expected = 'missing',
  actual = 'missing',
): AssertionResult {
  return {
    schemaVersion: 1,
    assertionId: `assertion-${sequence}`,
    kind: 'state',
    status: expected === actual ? 'passed' : 'failed',
    gate: true,
    message,
    expected,
    actual,
    evidenceSequences: [sequence],
  };
}

const recordObject = (role: 'evidence' | 'state' | 'trajectory', rows: readonly object[]): ObjectInput => ({
  path: `objects/${role}.jsonl`,
  mediaType: 'application/x-ndjson',
  role,
  async *open() {
    yield Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  },
});
