import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyDirectory } from '../../src/node/verify-directory.ts';
import { renderJson } from '../../src/report/index.ts';
import { flipped, makeExport, makeTrust, NOW } from '../support/evidence.ts';

const PARTS = 2_000;

it('many small parts have the same report with one thread, and with threads that this one helps', async () => {
  const root = await mkdtemp(join(tmpdir(), 'drillproof-small-'));
  try {
    const made = await makeExport({ parts: PARTS });
    const paths = Object.keys(made.files).filter((path) => path.startsWith('parts/'));
    const damaged = new Set(paths.filter((_, at) => at % 300 === 7));
    const missing = paths[1_000];
    for (const [path, bytes] of Object.entries(made.files)) {
      if (path === missing) continue;
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), damaged.has(path) ? flipped(bytes, 100) : bytes);
    }
    const options = { asOfMs: NOW, trust: makeTrust(made.signer) };
    const alone = await verifyDirectory(root, { ...options, jobs: 1 });
    expect(alone.parts.filter(({ verdict }) => verdict === 'verified')).toHaveLength(
      PARTS - damaged.size - 1,
    );
    for (const jobs of [2, 3])
      expect(renderJson(await verifyDirectory(root, { ...options, jobs }))).toBe(renderJson(alone));
  } finally {
    await rm(root, { recursive: true });
  }
});
