import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { POLICY_RULES } from '../../../src/policy/rules/table.ts';
import { decisionRenderers, type DecisionFormat } from '../../../src/report/decision/renderers.ts';
import { call, type CliResult, PROGRAM, useEvidenceFolder } from '../make.ts';

const dir = useEvidenceFolder(async () => {
  await call(['export', 'part-1.zip', '--key', 'key.pem', '--issuer', 'acme-ci', '--out', 'good']);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const gate = (...args: readonly string[]): Promise<CliResult> =>
  call(['gate', 'good', '--trust', 'trust.json', '--jobs', '1', ...args]);
const boom = (): never => {
  throw new RangeError('boom');
};

describe('a fault inside of a gate that would say yes', () => {
  it('answers yes without one', async () => {
    expect((await gate()).code).toBe(0);
  });

  it('gate ends with 3 if the evaluation of a rule throws', async () => {
    vi.spyOn(POLICY_RULES, 'outcome.verdict').mockReturnValue({ evaluate: boom, sentence: '', doubts: [] });
    const { code, stdout, stderr } = await gate();
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('internal.BUG');
  });

  it.each(Object.keys(decisionRenderers) as DecisionFormat[])(
    'ends with 3 where %s is written, and leaves no file of it',
    async (kind) => {
      vi.spyOn(decisionRenderers, kind).mockImplementation(boom);
      const before = await readdir('.');
      for (const format of [kind, `${kind}=out.file`]) {
        const { code, stdout } = await gate('--format', format);
        expect(code).toBe(3);
        expect(stdout).not.toMatch(/YES|"answer"/);
      }
      expect(await readdir('.')).toEqual(before);
    },
  );
});

describe('a format that cannot be written to its file', () => {
  it.each([
    ['its folder is not there', 'absent/out.json'],
    ['it is a folder', 'folder'],
    ['its folder is a file', 'part-1.zip/out.json'],
  ])('where %s, is never 0, and nothing says yes', async (_, file) => {
    await mkdir('folder', { recursive: true });
    const before = await readdir('.');
    const { code, stdout } = await gate('--format', `json=${file}`, '--force');
    expect(code).toBeGreaterThan(1);
    expect(stdout).not.toContain('YES');
    expect(await readdir('.')).toEqual(before);
  });

  it('on a full disk is 3, the decision is shown, and no half-written file remains', async () => {
    const before = await readdir('.');
    const line = 'ulimit -f 0; exec "$@"';
    const program = [process.execPath, ...PROGRAM];
    const args = ['gate', 'good', '--trust', 'trust.json', '--format', 'json=out.json'];
    const child = spawn('bash', ['-c', line, 'bash', ...program, ...args], { cwd: dir.root });
    const chunks: string[] = [];
    child.stdout.on('data', (chunk) => chunks.push(String(chunk)));
    const [code] = (await once(child, 'close')) as [number];
    expect([code, chunks.join('')]).toEqual([3, expect.stringMatching(/^YES/)]);
    expect(await readdir('.')).toEqual(before);
  });
});
