import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Decision } from '../../../src/policy/index.ts';
import type { CliResult } from '../make.ts';
import { servedExports } from '../mirror/served-exports.ts';

let served: Awaited<ReturnType<typeof servedExports>>;
beforeAll(async () => {
  served = await servedExports();
}, 60_000);
afterAll(() => served[Symbol.asyncDispose]());

const left = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('drillproof-gate-'));
const gate = (line: string): Promise<CliResult> => served.call(`gate ${line} --trust trust.json --jobs 1 --json`);
const answerIn = ({ stdout }: CliResult): string => (JSON.parse(stdout) as Decision).answer;

it('gate gives an export at a control plane the decision of its mirror, and leaves no files', async () => {
  const before = left();
  const [both, failed] = served.ids;
  const ended = await gate(both);
  expect([ended.code, answerIn(ended)]).toEqual([1, 'no']);
  const decision = JSON.parse(ended.stdout) as Decision;
  expect(decision.inputs).toMatchObject([
    { name: both, kind: 'export', id: both, verdict: 'verified', bundles: 2 },
  ]);
  expect((await gate(`${both} ${failed}`)).code).toBe(1);
  expect(left()).toEqual(before);
});

it('could not tell about a missing export, and reports the others', async () => {
  const before = left();
  const ended = await gate('evexp_999999999999');
  expect([ended.code, answerIn(ended)]).toEqual([3, 'could_not_tell']);
  expect(ended.stdout).toContain('control.NOT_FOUND');
  const beside = await gate(`${served.ids[0]} evexp_999999999999`);
  expect([beside.code, answerIn(beside)]).toEqual([1, 'no']);
  expect(left()).toEqual(before);
});

it('answers no to a manifest other than the expected one', async () => {
  const ended = await gate(`${served.ids[0]} --expect-manifest sha256:${'0'.repeat(64)}`);
  expect(ended.code).not.toBe(0);
});

it('wants a project, and a token', async () => {
  const line = `gate ${served.ids[0]} --trust trust.json --url http://127.0.0.1:9`;
  expect((await served.run(line)).code).toBe(2);
});

it('takes a name that is not an id for a path', async () => {
  const ended = await gate('export');
  expect([ended.code, answerIn(ended)]).toEqual([1, 'no']);
});
