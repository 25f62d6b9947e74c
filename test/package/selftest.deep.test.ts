import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CASE_KINDS, selftestReportSchema } from '../../src/selftest/index.ts';
import { COUNTS } from '../vectors/counts.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'built-'));
afterAll(() => rmSync(folder, { recursive: true }));

const built = (...args: string[]) =>
  spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 });

// The sources run as single modules and the package as files that were put together: only this test sees the latter.
test('the built command passes every vector in every way, with native and portable primitives', () => {
  const { status, stdout } = built('selftest', '--json');
  const report = selftestReportSchema.parse(JSON.parse(stdout));
  expect(report.failures).toEqual([]);
  expect(status).toBe(0);
  expect(Object.fromEntries(report.kinds.map(({ kind, cases }) => [kind, cases]))).toEqual(COUNTS);
  for (const { kind, cases, ways, passed } of report.kinds) {
    const names = CASE_KINDS[kind]?.ways ?? [];
    expect(ways).toEqual(['node', 'portable'].flatMap((name) => names.map((way) => `${way} (${name})`)));
    expect(passed).toBe(cases * ways.length);
  }
});

test('an error of the primitives, which are a file of their own, is not an internal error of the built command', () => {
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
