import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, scratch, writeEvidence, type Ended } from '../cli/make.ts';

const page = readFileSync('README.md', 'utf8');
const home = process.cwd();
const PART = 'mirror/parts/evidence_000000000002.zip';

/** The arguments and the output of a block of the page: the first line is the command. */
function sampleOf(name: string): { readonly args: readonly string[]; readonly output: string } {
  const [, block = ''] = new RegExp(`^\`\`\`text ${name}\\n([\\s\\S]*?)\\n\`\`\`$`, 'm').exec(page) ?? [];
  const [command = '', ...lines] = block.split('\n');
  return { args: command.replace('$ drillproof ', '').split(' '), output: lines.join('\n') };
}

/** Without what differs from run to run: digests, the id of the export and sizes that depend on signatures. */
const normalize = (text: string): string =>
  text
    .trim()
    .replaceAll(/sha256:[0-9a-f]{64}/g, 'sha256:…')
    .replaceAll(/evexp_[0-9a-z]+/g, 'evexp_…')
    .replaceAll(/[0-9.]+ (%|KiB)/g, '… $1');

let dir: Awaited<ReturnType<typeof scratch>>;
beforeAll(async () => {
  dir = await scratch();
  await writeEvidence(dir.root);
  process.chdir(dir.root);
  renameSync('export', 'mirror');
});
afterAll(async () => {
  process.chdir(home);
  await dir[Symbol.asyncDispose]();
});

describe('README.md', () => {
  it('shows what verify prints for a good export', async () => {
    const { args, output } = sampleOf('good');
    const { code, stdout }: Ended = await call(args);
    expect(normalize(stdout)).toBe(normalize(output));
    expect(code).toBe(0);
  });

  it('shows what verify prints after one byte of a part changed', async () => {
    const bytes = readFileSync(PART);
    const at = bytes.indexOf('nothing special');
    expect(at).toBeGreaterThan(0);
    writeFileSync(PART, bytes.with(at, bytes[at]! ^ 1));
    const { args, output } = sampleOf('bad');
    const { code, stdout } = await call(args);
    writeFileSync(PART, bytes);
    expect(normalize(stdout)).toBe(normalize(output));
    expect(code).toBe(1);
  });
});
