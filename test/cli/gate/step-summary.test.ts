import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { appendStepSummary } from '../../../src/cli/gate/output.ts';
import { NO, withReasons } from '../../report/decision/makers.ts';
import { world } from '../make.ts';

const folder = await mkdtemp(join(tmpdir(), 'drillproof-step-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A step whose summary holds this already, and what the summary is afterwards. */
async function summaryAfter(before: string, decision = NO): Promise<{ text: string; said: string }> {
  const file = join(folder, 'summary.md');
  await writeFile(file, before);
  const cli = world({ env: { GITHUB_STEP_SUMMARY: file } });
  await appendStepSummary(cli, decision);
  return { text: await readFile(file, 'utf8'), said: cli.stderr.text() };
}

describe('the summary of a step', () => {
  it('gets the decision below what the step wrote before', async () => {
    const { text } = await summaryAfter('# Before\n');
    expect(text).toMatch(/^# Before\n# drillproof gate: NO: /);
  });

  it('stays within 1,024 KiB together with it', async () => {
    const { text } = await summaryAfter('x'.repeat(900 * 1024), withReasons(5000));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024 * 1024);
    expect(text).toContain('more reasons are omitted');
  });

  it('is not changed where it has no room, which is reported', async () => {
    const full = 'x'.repeat(1024 * 1024 - 100);
    const { text, said } = await summaryAfter(full);
    expect(text).toBe(full);
    expect(said).toContain('the step summary is full');
  });

  it('is nothing outside of GitHub Actions', async () => {
    for (const env of [{}, { GITHUB_STEP_SUMMARY: '' }]) await appendStepSummary(world({ env }), NO);
  });

  it('is an error where its file cannot be written', async () => {
    const cli = world({ env: { GITHUB_STEP_SUMMARY: join(folder, 'absent', 'summary.md') } });
    await expect(appendStepSummary(cli, NO)).rejects.toMatchObject({ code: 'io.NOT_FOUND' });
  });
});
