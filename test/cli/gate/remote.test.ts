import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { makeTestFolder } from '../../support/folder.ts';
import type { CliResult } from '../make.ts';
import { servedExports } from '../mirror/served-exports.ts';
import { readDecision } from './make.ts';

let served: Awaited<ReturnType<typeof servedExports>>;
beforeAll(async () => {
  served = await servedExports();
}, 60_000);
afterAll(() => served[Symbol.asyncDispose]());

/** Gives the test a folder for temporary files of its own. */
async function useTemporaryFolder(): Promise<string> {
  const folder = await makeTestFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

const gate = (words: string): Promise<CliResult> =>
  served.call(`gate ${words} --trust trust.json --jobs 1 --json`);
const answerTo = async (words: string) => {
  const result = await gate(words);
  return [result.code, readDecision(result).answer];
};

it('gate gives an export at a control plane the decision of its mirror, and leaves no files', async () => {
  const temporary = await useTemporaryFolder();
  const [id, failed] = served.ids;
  const result = await gate(id);
  const input = { name: id, kind: 'export', id, verdict: 'verified', bundles: 2 };
  expect([result.code, readDecision(result)]).toMatchObject([1, { answer: 'no', inputs: [input] }]);
  expect(await answerTo(`${id} ${failed}`)).toEqual([1, 'no']);
  expect(readdirSync(temporary)).toEqual([]);
});

it('gate answers could_not_tell about a missing export, and reports the others', async () => {
  const temporary = await useTemporaryFolder();
  const result = await gate('evexp_999999999999');
  expect([result.code, readDecision(result).answer]).toEqual([3, 'could_not_tell']);
  expect(result.stdout).toContain('control.NOT_FOUND');
  expect(await answerTo(`${served.ids[0]} evexp_999999999999`)).toEqual([1, 'no']);
  expect(readdirSync(temporary)).toEqual([]);
});

it('gate does not pass an export with a manifest other than the expected one', async () => {
  const result = await gate(`${served.ids[0]} --expect-manifest sha256:${'0'.repeat(64)}`);
  expect(result.code).toBe(1);
});

it('gate of an id ends with 2 without a project and a token', async () => {
  const line = `gate ${served.ids[0]} --trust trust.json --url http://127.0.0.1:9`;
  expect((await served.run(line)).code).toBe(2);
});

it('gate reads a name that is not an id as a path', async () => {
  expect(await answerTo('export')).toEqual([1, 'no']);
});

/** Reads the command of the `run` line of a report as a shell does. */
function readRunLine(text: string): readonly string[] {
  const [, line = ''] = /^ *run +drillproof (.*), version /m.exec(text) ?? [];
  return execFileSync('sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
}

const withoutTimes = ({ stdout }: CliResult): string =>
  stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');

it('the run line of gate and verify is a command that gives the same answer', async () => {
  cpSync(served.path('export'), served.path("it's a mirror"), { recursive: true });
  const [id] = served.ids;
  const remote = `--url ${served.url} --project prj_000000000001 --timeout 5s --wait 1m`.split(' ');
  for (const words of [
    ['gate', id, "it's a mirror", ...remote],
    ['gate', 'second'],
    ['verify', "it's a mirror", '--as-of', '2027-01-01'],
  ]) {
    const first = await served.run([...words, '--trust', 'trust.json']);
    const line = readRunLine(first.stdout);
    expect(line.slice(0, 2)).toEqual(words.slice(0, 2));
    const second = await served.run(line);
    expect([second.code, withoutTimes(second)]).toEqual([first.code, withoutTimes(first)]);
  }
});
