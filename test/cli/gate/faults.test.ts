import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { POLICY_RULES } from '../../../src/policy/rules/sets.ts';
import { decisionRenderers, type DecisionFormat } from '../../../src/report/decision-renderers.ts';
import { call, collectResult, expectPass, PROGRAM, SIGNER, useEvidenceFolder } from '../make.ts';

useEvidenceFolder(async () => {
  await expectPass(`export part-1.zip ${SIGNER} --out good`);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const gate = (options = '') => call(`gate good --trust trust.json --jobs 1 ${options}`);
const boom = (): never => {
  throw new RangeError('boom');
};

describe('a fault inside a gate that would answer yes', () => {
  it('is the only reason: without it the answer is yes', async () => {
    expect((await gate()).code).toBe(0);
  });

  it('gate ends with 3 if the evaluation of a rule throws', async () => {
    vi.spyOn(POLICY_RULES, 'outcome.verdict').mockReturnValue({
      value: true,
      evaluate: boom,
      sentence: '',
      doubts: [],
    });
    const { code, stdout, stderr } = await gate();
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('internal.BUG');
  });

  it.each(Object.keys(decisionRenderers) as DecisionFormat[])(
    'ends with 3 while %s is written, and leaves no file',
    async (kind) => {
      vi.spyOn(decisionRenderers, kind).mockImplementation(boom);
      const before = await readdir('.');
      for (const format of [kind, `${kind}=out.file`]) {
        const { code, stdout } = await gate(`--format ${format}`);
        expect(code).toBe(3);
        expect(stdout).not.toMatch(/YES|"answer"/);
      }
      expect(await readdir('.')).toEqual(before);
    },
  );
});

it('gate ends with 3 if the disk is full, prints the decision, and leaves no half-written file', async () => {
  const before = await readdir('.');
  const args = 'gate good --trust trust.json --format json=out.json'.split(' ');
  const limited = ['-c', 'ulimit -f 0; exec "$@"', 'bash', process.execPath, ...PROGRAM, ...args];
  const stdout = expect.stringMatching(/^YES/) as string;
  expect(await collectResult(spawn('bash', limited))).toMatchObject({ code: 3, stdout });
  expect(await readdir('.')).toEqual(before);
});
