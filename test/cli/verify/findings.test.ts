import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isDeep } from '../../support/deep.ts';
import { makeFolder, writeFiles } from '../../support/folder.ts';
import { drillproof, expectResult, call } from '../make.ts';
import { once } from '../../../src/bytes/async.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { readPartFacts } from '../../../src/evidence/bundle/part.ts';
import { packExport } from '../../../src/evidence/export/pack-export.ts';
import { writeZip } from '../../../src/zip/write/write.ts';
import { collect, editJson, hashOf, makeExportInput, makePart, unpack } from '../../support/evidence.ts';

/** An unsigned export whose small parts list many objects that do not exist, so that each of them is a finding. */
async function makeBomb(parts: number, objects: number): Promise<Record<string, Uint8Array>> {
  const absent = Array.from({ length: objects }, (_, i) => ({
    path: `objects/zz/${String(i).padStart(6, '0')}`,
    mediaType: 'a/b',
    digest: hashOf('absent'),
    bytes: 1,
  }));
  const files: Record<string, Uint8Array> = {};
  const facts = [];
  for (let n = 1; n <= parts; n++) {
    const entries = await unpack((await makePart(n)).bytes);
    entries.set(
      'manifest.json',
      editJson<{ objects: object[] }>(entries.get('manifest.json'), (manifest) => {
        manifest.objects.push(...absent);
      }),
    );
    const inputs = Array.from(entries, ([name, bytes]) => ({ name, open: () => once(bytes) }));
    const bytes = await collect(writeZip(inputs, { compression: 'deflate' }));
    const part = await readPartFacts(memoryAccess(bytes));
    files[`parts/${part.manifest.evidenceBundleId}.zip`] = bytes;
    facts.push(part);
  }
  const { documents } = await packExport(makeExportInput(facts));
  return { ...files, ...Object.fromEntries(documents.map(({ path, bytes }) => [path, bytes])) };
}

const root = await makeFolder();
const [PARTS, OBJECTS] = [120, 300];
await writeFiles(root, await makeBomb(PARTS, OBJECTS));

it('verify lists 83 findings of a code for each of 120 parts, and counts the others in every format', async () => {
  const text = await expectResult(call(`verify ${root}`), 1, 'object.MISSING (36,000 times)');
  expect(text).toContain('and 35,990 more; --format json lists 9,950 of them, and counts the others');
  expect(text.length).toBeLessThan(50_000);
  const json = await call(`verify ${root} --json`);
  const { parts } = JSON.parse(json.stdout) as { parts: { findings: { code: string; more?: number }[] }[] };
  for (const { findings } of parts) {
    const missing = findings.filter(({ code }) => code === 'object.MISSING');
    expect([missing.length, missing.at(-1)?.more]).toEqual([83, OBJECTS - 83]);
  }
  const page = await call(`verify ${root} --format html`);
  expect(page.stdout).toContain('object.MISSING</code>, 36,000 times');
  expect(page.stdout).toContain('26,040 more were only counted');
});

if (isDeep)
  it('verify of parts that list millions of absent objects ends with 1 in a heap of 256 MB', async () => {
    const folder = join(root, 'bomb');
    await writeFiles(folder, await makeBomb(20, 99_990));
    const { code } = await drillproof(`verify ${folder} -q`, {
      env: { NODE_OPTIONS: '--max-old-space-size=256' },
    });
    expect(code).toBe(1);
  }, 240_000);
