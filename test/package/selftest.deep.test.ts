import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { selftestReportSchema } from '../../docs/make/selftest-report.ts';
import { CASE_KINDS } from '../../src/selftest/result.ts';
import { makeFolder } from '../support/folder.ts';
import { COUNTS } from '../vectors/counts.ts';
import { readVectors } from '../vectors/read.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = await makeFolder();

const run = (args: readonly string[]) =>
  spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 });

// Other tests run the sources; only this one runs the vectors on the bundled files.
test('the built command passes every vector in every way', () => {
  const { status, stdout } = run(['selftest', '--json']);
  const report = selftestReportSchema.parse(JSON.parse(stdout));
  expect(report.failures).toEqual([]);
  expect(status).toBe(0);
  expect(Object.fromEntries(report.kinds.map(({ kind, cases }) => [kind, cases]))).toEqual(COUNTS);
  for (const { kind, cases, ways, passed } of report.kinds) {
    const names = CASE_KINDS[kind]?.ways ?? [];
    expect(ways).toEqual(names.map((way) => `${way} (node)`));
    expect(passed).toBe(cases * ways.length);
  }
}, 120_000);

test('an error of the primitives is not an internal error of the built command', () => {
  const offCurve = readVectors('trust-stores').cases.find(({ id }) => id === 'key-off-curve');
  const { base64 } = z.object({ base64: z.string() }).parse(offCurve?.input);
  const path = join(folder, 'trust.json');
  writeFileSync(path, Buffer.from(base64, 'base64'));
  const { status, stdout } = run(['keys', 'list', path, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ code: 'trust.KEY_INVALID' });
  expect(status).toBe(2);
});
