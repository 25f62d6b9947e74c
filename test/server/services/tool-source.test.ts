import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { nameBlob } from '../../../src/server/blobs/blobs.ts';
import { toDigest } from '../../../src/server/model/ids.ts';
import { flipBit } from '../../support/evidence.ts';
import { answerOf, inProject } from '../change.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, buildArchive, HASH, ORG, PROJECT, SOURCE, stream } from '../make.ts';
import { eachTest } from '../each-test.ts';

const plane = eachTest();

const read = (buildHash: string, packageId = 'greeter') => {
  const path = inProject(`builds/${encodeURIComponent(buildHash)}/tools/source`);
  return ask(plane, `${path}?packageId=${packageId}`, plane);
};
const readTool = async (buildHash: string | Promise<string>) =>
  answerOf('builds.tools.source', read(await buildHash));

async function ingest(source?: string): Promise<string> {
  const { bytes, buildHash } = await buildArchive(source);
  await plane.admin.ingestBuild(PROJECT, memoryAccess(bytes));
  return buildHash;
}

/** Makes the store name another archive for a build, as only an intruder could. */
const swap = async (archive: Uint8Array, buildHash: string): Promise<void> => {
  const blob = await plane.blobs.put(stream(archive));
  const row = { organizationId: ORG, projectId: PROJECT, buildHash: toDigest(buildHash), archive: blob };
  await plane.store.transaction((tx) => tx.builds.save(row));
};

it('the source has exactly the bytes locked in the build', async () => {
  const buildHash = await ingest();
  const tool = await readTool(buildHash);
  expect(tool).toMatchObject({
    organizationId: ORG,
    projectId: PROJECT,
    buildHash,
    packageId: 'greeter',
    version: '1.2.3',
    artifactHash: digestOf(toUtf8(SOURCE)),
    implementation: { kind: 'javascript', source: SOURCE, bytes: toUtf8(SOURCE).length },
  });
  expect(tool.ui?.assets.map((asset) => Object.keys(asset).toSorted())).toEqual([
    ['artifactHash', 'bytes', 'mediaType', 'path'],
  ]);
});

it.each(['', '\uFEFFexport {}', '\u0000', '𝒳'])('the source %j is served unchanged', async (source) => {
  const tool = await readTool(ingest(source));
  expect(tool.implementation).toEqual({ kind: 'javascript', source, bytes: toUtf8(source).length });
});

it('a source of 1 MiB of UTF-8 is served, and a longer one is refused', async () => {
  const most = 'é'.repeat(512 * 1024);
  const tool = await readTool(ingest(most));
  expect(tool.implementation.bytes).toBe(1024 * 1024);
  await expectEnvelope(read(await ingest(`${most}x`)), 'control.TOOL_SOURCE_TOO_LARGE');
});

it.each(['other', 'constructor'])('the source of an unknown package %s answers 404', async (packageId) => {
  await expectEnvelope(read(await ingest(), packageId), 'control.NOT_FOUND');
});

it('the source is unavailable while the build has no archive', async () => {
  const row = { organizationId: ORG, projectId: PROJECT, buildHash: HASH };
  await plane.store.transaction((tx) => tx.builds.save(row));
  await expectEnvelope(read(HASH), 'control.BUILD_NOT_AVAILABLE');
});

it('the source is never served from an archive with a flipped byte', async () => {
  const buildHash = await ingest();
  expect((await read(buildHash)).status).toBe(200);
  const { archive } = (await plane.store.builds.find(PROJECT, buildHash))!;
  const path = join(plane.folder, nameBlob(archive!.digest));
  const bytes = await readFile(path);
  for (let at = 0; at < bytes.length; at += 13) {
    await writeFile(path, flipBit(bytes, at));
    await expectEnvelope(read(buildHash), 'control.STORED_BYTES_CORRUPT');
  }
  await writeFile(path, bytes);
  expect((await read(buildHash)).status).toBe(200);
});

it('the source is verified against lock and build hash on each call', async () => {
  const { buildHash } = await buildArchive();
  const other = await buildArchive('export const greet = 2;');
  const edited = await buildArchive(SOURCE, { extra: { 'greeter/index.js': toUtf8('evil()') } });
  expect(edited.buildHash).toBe(buildHash);
  const without = await buildArchive(SOURCE, { drop: 'greeter/index.js' });
  for (const { bytes } of [other, edited, without]) {
    await swap(bytes, buildHash);
    await expectEnvelope(read(buildHash), 'control.STORED_BYTES_CORRUPT');
  }
});
