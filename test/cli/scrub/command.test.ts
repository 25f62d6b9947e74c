import { chmodSync, chownSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { exportRef, makeExport } from '../../faults/export-source.ts';
import { cleanUp as endServers, source } from '../../mirror/make.ts';
import { cleanUp, exportId, makeArchive, newFolder, partOf, rot } from '../../node/scrub/make.ts';
import { scrubSchema } from '../../../src/report/many/scrubs.ts';
import { trustStoreJwks } from '../../../src/trust/store.ts';
import { makeTrust, NOW } from '../../support/evidence.ts';
import { call, callJson, drillproof, expectResult } from '../make.ts';

afterEach(cleanUp);
afterEach(endServers);

const PART = 'parts/evidence_000000000001.zip';
const run = (line: string, env: Record<string, string> = {}) => call(line, { env, now: () => NOW });
const json = async (line: string) => scrubSchema.parse(JSON.parse((await run(`${line} --json`)).stdout));

describe('drillproof scrub', () => {
  test('scrub passes for a sound archive, and reports the number of files', async () => {
    const { root } = await makeArchive({ mirrors: 2 });
    const { code, stdout } = await run(`scrub ${root}`);
    expect([code, stdout]).toEqual([
      0,
      `good     ${root}\nmirrors  2: 2 good\nread     18 files, ${/read +18 files, (.*)/.exec(stdout)![1]}\n`,
    ]);
  });

  test('scrub ends with 1 for damage, and reports it last and in JSON', async () => {
    const { root } = await makeArchive({ mirrors: 2 });
    await rot(partOf(join(root, exportId(2))));
    await writeFile(join(root, 'stray.txt'), 'x');
    const { code, stdout } = await run(`scrub ${root} --jobs 1`);
    expect(code).toBe(1);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(
      new RegExp(`^ *damaged +${exportId(2)}/${PART} +part.DIGEST_MISMATCH`),
    );
    expect(await json(`scrub ${root}`)).toMatchObject({
      kind: 'scrub',
      outcome: 'damaged',
      mirrors: 2,
      outcomes: { good: 1, damaged: 1, unreadable: 0, unread: 0 },
      strays: ['stray.txt'],
      faults: [{ mirror: exportId(2), path: PART, found: 'damaged', code: 'part.DIGEST_MISMATCH' }],
    });
  });

  test('scrub ends with 3 for a place without a mirror, and with 2 for a missing one', async () => {
    const empty = await newFolder();
    expect((await run(`scrub ${empty}`)).code).toBe(3);
    expect((await run(`scrub ${empty}/absent`)).code).toBe(2);
    await mkdir(join(empty, exportId(1), '.drillproof-mirror'), { recursive: true });
    expect((await run(`scrub ${empty}`)).code).toBe(3);
  });

  test('scrub skips files read recently, and reports the files for which a slice had no time', async () => {
    const { root } = await makeArchive({ mirrors: 3 });
    let nowMs = NOW;
    const ticking = { now: () => (nowMs += 1_000) };
    const line = `scrub ${root} --older-than 30d --for 5s --jobs 1`;
    const counts: number[] = [];
    while (counts.length < 30 && counts.at(-1) !== 0) counts.push((await callJson(line, ticking)).unread);
    expect(counts.length).toBeGreaterThan(1);
    expect(counts.at(-1)).toBe(0);
    const last = await call(`scrub ${root} --older-than 30d`, ticking);
    expect(last.stdout).toMatch(/^recent +27 files/m);
  });

  test('scrub repairs files that a trusted key attests from a second archive, and reports the others', async () => {
    const { root, exports } = await makeArchive({ mirrors: 2 });
    const second = await newFolder();
    const trust = join(second, 'trust.json');
    await writeFile(trust, JSON.stringify(trustStoreJwks(makeTrust(exports[0]!.signer))));
    const archive = join(second, 'archive');
    await cp(join(root, exportId(1)), join(archive, exportId(1)), { recursive: true });
    for (const n of [1, 2]) await rot(partOf(join(root, exportId(n))));
    const text = await expectResult(run(`scrub ${root} --repair-from ${archive} --trust ${trust}`), 1);
    expect(text).toMatch(new RegExp(`^ *repaired +${exportId(1)}/${PART}`, 'm'));
    expect(text).toMatch(
      new RegExp(`^ *damaged, not repaired +${exportId(2)}/${PART} .*scrub.REPLICA_UNREADABLE`, 'm'),
    );
  });

  test('scrub does not repair without an expected digest or a trusted key, and names the options to pass', async () => {
    const { root, exports } = await makeArchive({ mirrors: 1 });
    const second = await newFolder();
    const mirror = join(root, exportId(1));
    await cp(mirror, join(second, exportId(1)), { recursive: true });
    await rot(partOf(mirror));
    const line = `scrub ${mirror} --repair-from ${second}`;
    expect(await expectResult(run(line), 1, 'scrub.MANIFEST_UNDECIDABLE')).toContain('--expect-manifest');
    expect((await run(`${line} --expect-manifest ${exports[0]!.packed.manifestDigest}`)).code).toBe(0);
  });

  test('scrub repairs from the control plane, and passes', async () => {
    const testExport = makeExport();
    const server = await source(testExport);
    const env = { DRILLPROOF_TOKEN: 'a-token' };
    const { evidenceExportId, projectId } = exportRef;
    const root = await newFolder();
    const from = `--project ${projectId} --url ${server.url}`;
    const mirror = `mirror ${evidenceExportId} ${from} --to ${root}/${evidenceExportId}`;
    expect((await run(mirror, env)).code).toBe(0);
    const file = partOf(join(root, evidenceExportId));
    const sound = await readFile(file);
    await rot(file, 10);
    expect((await run(`scrub ${root}`)).code).toBe(1);
    const repair = `--expect-manifest ${testExport.manifestDigest} --repair-from source ${from}`;
    const { code, stdout } = await run(`scrub ${root}/${evidenceExportId} ${repair}`, env);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ *repaired +/m)]);
    expect(await readFile(file)).toEqual(sound);
    expect((await run(`scrub ${root}`)).code).toBe(0);
  });

  test.each([
    '',
    'PLACE --for soon',
    'PLACE --older-than 400d',
    'PLACE --repair-from source',
    'PLACE --repair-from source --url http://127.0.0.1:1',
    'PLACE --url http://127.0.0.1:1',
    `PLACE --expect-manifest ${'0'.repeat(64)}`,
    'PLACE --depth deep',
    'PLACE --repair-from PLACE/absent',
  ])('refuses the call scrub %s', async (line) => {
    const { root } = await makeArchive({ mirrors: 1, parts: 1 });
    expect((await run(`scrub ${line.replaceAll('PLACE', root)}`)).code).toBe(2);
    expect(await readdir(root)).toEqual([exportId(1)]);
  });

  test('scrub reads a read-only archive with --journal', async () => {
    const { root } = await makeArchive({ mirrors: 1 });
    const journal = await newFolder();
    // Permissions do not bind root, so root runs it as another user, who owns both folders.
    const user = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    if (user.uid !== undefined) for (const path of [root, journal]) chownSync(path, user.uid, user.uid);
    chmodSync(root, 0o555);
    try {
      await expectResult(drillproof(`scrub ${root}`, user), 3, 'io.READ_ONLY');
      expect((await drillproof(`scrub ${root} --journal ${journal}/new`, user)).code).toBe(0);
    } finally {
      chmodSync(root, 0o755);
    }
    await rm(journal, { recursive: true });
  });
});
