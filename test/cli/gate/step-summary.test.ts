import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendStepSummary } from '../../../src/cli/gate/output.ts';
import { NO, withReasons } from '../../report/decision/makers.ts';
import { makeFolder } from '../../support/folder.ts';
import { world } from '../make.ts';

const folder = await makeFolder();

/** Appends a decision to a summary with this text; returns the summary and what is printed. */
async function append(before: string, decision = NO): Promise<{ text: string; stderr: string }> {
  const file = join(folder, 'summary.md');
  await writeFile(file, before);
  const cli = world({ env: { GITHUB_STEP_SUMMARY: file } });
  await appendStepSummary(cli, decision);
  return { text: await readFile(file, 'utf8'), stderr: cli.stderr.text() };
}

describe('the summary of a step', () => {
  it('gets the decision after the text of the step', async () => {
    const { text } = await append('# Before\n');
    expect(text).toMatch(/^# Before\n# drillproof gate: NO: /);
  });

  it('stays within 1,024 KiB in total', async () => {
    const { text } = await append('x'.repeat(900 * 1024), withReasons(5000));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024 * 1024);
    expect(text).toContain('more reasons are omitted');
  });

  it('is not changed if it is full, which is reported', async () => {
    const full = 'x'.repeat(1024 * 1024 - 100);
    const { text, stderr } = await append(full);
    expect(text).toBe(full);
    expect(stderr).toContain('the step summary is full');
  });

  it('is not written outside GitHub Actions', async () => {
    for (const env of [{}, { GITHUB_STEP_SUMMARY: '' }]) await appendStepSummary(world({ env }), NO);
  });

  it('reports an error if its file cannot be written', async () => {
    const cli = world({ env: { GITHUB_STEP_SUMMARY: join(folder, 'absent', 'summary.md') } });
    await expect(appendStepSummary(cli, NO)).rejects.toMatchObject({ code: 'io.NOT_FOUND' });
  });
});
