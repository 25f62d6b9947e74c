import { expect, it } from 'vitest';
import { verifyDirectory } from '../../src/node/verify-directory.ts';
import { renderJson } from '../../src/report/json.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { flipBit, makeExport, makeTrust, NOW } from '../support/evidence.ts';

const PARTS = 2_000;
const root = await makeFolder();

it('many small parts have the same report with one thread and with several', async () => {
  const sample = await makeExport({ parts: PARTS });
  const paths = Object.keys(sample.files).filter((path) => path.startsWith('parts/'));
  const damaged = new Set(paths.filter((_, at) => at % 300 === 7));
  const missing = paths[1_000]!;
  const { [missing]: _, ...files } = sample.files;
  for (const path of damaged) files[path] = flipBit(files[path]!, 100);
  await writeFiles(root, files);
  const options = { asOfMs: NOW, trust: makeTrust(sample.signer) };
  const alone = await verifyDirectory(root, { ...options, jobs: 1 });
  expect(alone.parts.filter(({ verdict }) => verdict === 'verified')).toHaveLength(PARTS - damaged.size - 1);
  for (const jobs of [2, 3])
    expect(renderJson(await verifyDirectory(root, { ...options, jobs }))).toBe(renderJson(alone));
});
