import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/evidence/source.ts';
import { directorySource } from '../../../src/node/evidence/directory-source.ts';
import { openEvidence } from '../../../src/node/open-evidence.ts';
import { openBucket } from '../../../src/node/s3/bucket.ts';
import { loadSdk } from '../../../src/node/s3/sdk.ts';
import { s3Source } from '../../../src/node/s3/objects.ts';
import { stableJson } from '../../../src/report/json.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import { verifyPart } from '../../../src/verify/part/part.ts';
import type { VerifyOptions } from '../../../src/verify/options.ts';
import { failureOf } from '../../client/make.ts';
import { codesOf, flipBit, makeExport, makeSigner, makeTrust, NOW, pack } from '../../support/evidence.ts';
import { s3Proxy, type S3Proxy } from '../../support/s3-proxy.ts';
import { startS3 } from '../../support/s3.ts';
import { locationOf, store } from './make.ts';
import { makeFolder, writeFiles } from '../../support/folder.ts';

const s3 = await startS3();
const folder = await makeFolder();

const MIB = 1024 * 1024;
const signer = makeSigner();
const how: VerifyOptions = { asOfMs: NOW, trust: makeTrust(signer) };
const sample = await makeExport({ signer });
const files = sample.files;
let bucket: string;
let proxy: S3Proxy;
beforeEach(async () => {
  bucket = await s3.bucket();
  proxy = await s3Proxy(s3.endpoint);
});
afterEach(() => proxy.close());

const put = async (prefix: string, tree: Readonly<Record<string, Uint8Array | string>>): Promise<void> => {
  for (const [path, bytes] of Object.entries(tree)) await store(s3, bucket, prefix + path, bytes);
};
const address = (prefix: string): string => s3.url(bucket, prefix, proxy.endpoint);
const openSource = async (prefix: string) =>
  s3Source(openBucket(await loadSdk(), locationOf(address(prefix)), { env: s3.env }), prefix);

async function verifyPrefix(prefix: string) {
  const evidence = await openEvidence(address(prefix), s3.env);
  try {
    if (evidence.kind === 'part') return await verifyPart(evidence.access, how);
    return await verifyExport(evidence.source, { ...how, concurrency: 4 });
  } finally {
    await evidence.close();
  }
}

describe('an export in S3', () => {
  it('is verified to the same report, byte by byte, as one in a folder', async () => {
    await writeFiles(folder, files);
    await put('a/', files);
    const expected = await verifyExport(directorySource(folder), how);
    expect(expected.verdict).toBe('verified');
    for (const prefix of ['a', 'a/'])
      expect(stableJson(await verifyPrefix(prefix))).toBe(stableJson(expected));
  });

  it('has the objects below its prefix, and no others', async () => {
    await put('a/b/', files);
    const others = ['a/b2/parts/x.zip', 'a/bc', 'a/b.txt', 'b/manifest.json', 'a/b-'];
    for (const key of others) await store(s3, bucket, key, 'x');
    const rows = await (await openSource('a/b/')).files();
    expect(rows.map(({ path }) => path)).toEqual(Object.keys(files).toSorted());
    expect((await verifyPrefix('a/b')).verdict).toBe('verified');
  });

  it('lists keys that are not valid paths, but no folder markers', async () => {
    await put('a/', files);
    const odd = ['x//y', '../z', 'a b+c%25é&<>\u0001', 'back\\slash', 'é/😀', 'ends/'];
    for (const name of odd) await store(s3, bucket, `a/${name}`, 'x');
    for (const marker of ['a/', 'a/parts/', 'a/empty/']) await store(s3, bucket, marker, new Uint8Array());
    const paths = (await (await openSource('a/')).files()).map(({ path }) => path);
    expect(paths.filter((path) => !Object.hasOwn(files, path)).toSorted()).toEqual(odd.toSorted());
    const report = await verifyPrefix('a');
    const uncovered = report.findings.filter(({ code }) => code === 'export.FILE_UNCOVERED');
    expect(uncovered).toHaveLength(odd.length);
  });

  it('lists more than one page', async () => {
    const names = Array.from({ length: 1_003 }, (_, n) => `a/file-${String(n).padStart(5, '0')}`);
    for (let at = 0; at < names.length; at += 50) {
      await Promise.all(names.slice(at, at + 50).map((name) => store(s3, bucket, name, 'x')));
    }
    expect(await (await openSource('a/')).files()).toHaveLength(names.length);
    expect(proxy.seen.filter((line) => line.includes('list-type=2'))).toHaveLength(2);
  });

  it('is incomplete, not failed, if its bytes are unavailable', { timeout: 120_000 }, async () => {
    await put('a/', files);
    proxy.fate = (method, target) => (method === 'GET' && target.includes('/parts/') ? 'cut' : 'pass');
    const report = await verifyPrefix('a');
    expect(report.verdict).toBe('incomplete');
    const parts = 'parts' in report ? report.parts : [];
    expect(new Set(parts.flatMap(codesOf))).toEqual(new Set(['io.UNREADABLE']));
  });

  it('is incomplete if it cannot be listed', { timeout: 120_000 }, async () => {
    await put('a/', files);
    const source = await openSource('a/');
    proxy.fate = () => 'cut';
    const report = await verifyExport(source, how);
    expect([report.verdict, ...codesOf(report)]).toEqual(['incomplete', 'io.UNREADABLE']);
  });

  it.each(['cut-answer', 'slow-down', 'cut'] as const)(
    'is read although some answers fail: %s',
    async (fate) => {
      await put('a/', files);
      let n = 0;
      proxy.fate = (method) => (method === 'GET' && n++ % 3 === 1 ? fate : 'pass');
      expect((await verifyPrefix('a')).verdict).toBe('verified');
    },
  );

  it('is not read further if an object is replaced, even by one of the same size', async () => {
    const bytes = new Uint8Array(10 * MIB).map((_, at) => at % 251);
    await put('a/', { big: bytes });
    const source = await openSource('a/');
    const access = await source.open('big');
    expect(await access.read(5, 10)).toEqual(bytes.slice(5, 15));
    await store(s3, bucket, 'a/big', flipBit(bytes, 9 * MIB));
    expect((await failureOf(Promise.resolve(access.read(9 * MIB, 10)))).code).toBe('io.CHANGED');
    await access.close();
    expect((await failureOf(source.open('absent'))).code).toBe('io.NOT_FOUND');
  });

  it('is read with few requests and the next block in advance', async () => {
    const bytes = new Uint8Array(18 * MIB).map((_, at) => at % 251);
    await put('a/', { big: bytes });
    const access = await (await openSource('a/')).open('big');
    proxy.seen.splice(0);
    for (let at = 0; at < bytes.length; at += 300_000) {
      const length = Math.min(300_000, bytes.length - at);
      expect(Buffer.compare(await access.read(at, length), bytes.subarray(at, at + length))).toBe(0);
    }
    expect(proxy.seen).toHaveLength(5);
  });
});

describe('one object in S3', () => {
  it('is a part, or the ZIP of an export', async () => {
    const path = Object.keys(files).find((name) => name.startsWith('parts/')) ?? '';
    const zip = await pack(Object.entries(files));
    await put('', { 'x/part.zip': files[path]!, 'x/export.zip': zip });
    const part = await verifyPrefix('x/part.zip');
    expect([part.kind, part.verdict]).toEqual(['bundle', 'verified']);
    const all = await verifyPrefix('x/export.zip');
    expect([all.kind, all.verdict]).toEqual(['export', 'verified']);
    expect(stableJson((await verifyExport(memorySource(files), how)).parts)).toBe(
      stableJson('parts' in all ? all.parts : []),
    );
  });

  it('is refused if its name is a prefix too', async () => {
    await put('a/', files);
    await store(s3, bucket, 'a', 'x');
    expect((await failureOf(verifyPrefix('a'))).code).toBe('io.KIND');
    expect((await verifyPrefix('a/')).verdict).toBe('verified');
  });

  it('is not an export if it does not exist, or if the prefix has other objects', async () => {
    await store(s3, bucket, 'other/notes.txt', 'x');
    for (const prefix of ['absent', 'other'])
      expect((await failureOf(verifyPrefix(prefix))).code).toBe('export.NOT_AN_EXPORT');
  });
});
