import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { selftestReportSchema } from '../../src/selftest/index.ts';
import { COUNTS } from '../vectors/counts.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'built-'));
afterAll(() => rmSync(folder, { recursive: true }));

const built = (...args: string[]) =>
  spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 });

// The sources run as single modules and the package as files that were put together: only this test sees the latter.
test('the built command judges every case as it should, on both kinds of primitives', () => {
  const { status, stdout } = built('selftest', '--json');
  const report = selftestReportSchema.parse(JSON.parse(stdout));
  expect(report.failures).toEqual([]);
  expect(status).toBe(0);
  expect(report.kinds.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(COUNTS).toSorted());
});

test('an error of the primitives, which are a file of their own, is no fault of the built command', () => {
  const { cases } = JSON.parse(readFileSync('vectors/trust-stores.json', 'utf8')) as {
    cases: { id: string; input: { base64: string } }[];
  };
  const offCurve = cases.find(({ id }) => id === 'key-off-curve')?.input.base64 ?? '';
  const path = join(folder, 'trust.json');
  writeFileSync(path, Buffer.from(offCurve, 'base64'));
  const { status, stdout } = built('keys', 'list', path, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ code: 'trust.KEY_INVALID' });
  expect(status).toBe(2);
});
