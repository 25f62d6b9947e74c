import { execFileSync } from 'node:child_process';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { parseExportResource } from '../../src/evidence/export/manifest.ts';
import { parseReceipt } from '../../src/evidence/export/receipt.ts';
import { mirrorExport } from '../../src/mirror/mirror.ts';
import { mirrorDirectory } from '../../src/node/volume/mirror.ts';
import { failureOf, testClient } from '../client/make.ts';
import { answerAt, makeExport, refuse, sendBytes } from '../faults/export-source.ts';
import { envelope, json } from '../faults/server.ts';
import { cleanUp, filesOf, makeMirror, mirror, newFolder, source, TOKEN } from './make.ts';

afterEach(cleanUp);
const sample = makeExport();
const other = makeExport({ seed: 2 });
const ALL = [...sample.files.keys()];
const PART = ALL[0] ?? '';
const REPORT = ALL.at(-1) ?? '';
const DOCUMENTS = ['SHA256SUMS', 'export-attestation.json', 'export.json', 'manifest.json'];

/** Checks a mirror with sha256sum, and returns the checked paths. */
function checkSums(cwd: string): string[] {
  const output = execFileSync('sha256sum', ['--strict', '-c', 'SHA256SUMS'], { cwd, stdio: 'pipe' });
  return [...String(output).matchAll(/^(.+): OK$/gm)].map(([, path]) => path!);
}

describe('a mirror', () => {
  it('writes every file of the export, its documents, checksums and a receipt, but nothing else and no token', async () => {
    const folder = join(await newFolder(), 'several', 'new', 'folders');
    const server = await source(sample);
    const { receipt, events } = await mirror(server, folder, { now: () => 1_700_000_000_000 });
    const files = await filesOf(folder);
    for (const [path, bytes] of sample.files) expect(files.get(path), path).toEqual(Buffer.from(bytes));
    expect(files.get('manifest.json')).toEqual(Buffer.from(sample.manifest));
    expect(files.get('export-attestation.json')).toEqual(Buffer.from(sample.attestation));
    expect(parseExportResource(files.get('export.json')!)).toEqual(sample.resource);
    const receipts = [...files.keys()].filter((path) => path.startsWith('receipts/'));
    expect(receipts).toEqual([expect.stringMatching(/^receipts\/20231114T221320\.000Z-[0-9a-f]{12}\.json$/)]);
    expect([...files.keys()].toSorted()).toEqual([...ALL, ...DOCUMENTS, ...receipts].toSorted());
    expect(checkSums(folder).toSorted()).toEqual([...ALL, ...DOCUMENTS.slice(1)].toSorted());
    expect(receipt).toEqual(parseReceipt(files.get(receipts[0]!)!));
    const { manifestDigest } = sample;
    const run = { source: server.url, tool: 'drillproof/test' };
    expect(receipt).toMatchObject({ outcome: 'complete', manifestDigest, ...run, failures: [] });
    expect(receipt.files.map(({ path, state }) => [path, state])).toEqual(
      [...ALL, 'export-attestation.json'].map((path) => [path, 'fetched']),
    );
    const plan = { files: 4, bytes: 20_000, missingFiles: 4, missingBytes: 20_000 };
    expect(events.find(({ type }) => type === 'planned')).toEqual({ type: 'planned', ...plan });
    expect(events.filter(({ type }) => type === 'part-done')).toHaveLength(4);
    expect(events.at(-1)).toEqual({ type: 'done', outcome: 'complete', receipt: receipts[0] });
    for (const [path, bytes] of files) expect(Buffer.from(bytes).includes(TOKEN), path).toBe(false);
    expect(server.seen.some(({ url }) => url.includes(TOKEN))).toBe(false);
  });

  it('that is run again keeps verified files, fetches nothing and writes nothing', async () => {
    const { folder, server } = await makeMirror();
    const before = await filesOf(folder);
    const { receipt } = await mirror(server, folder);
    expect(receipt.files.every(({ state }) => state === 'kept')).toBe(true);
    for (const path of ALL) expect(server.requests(path)).toHaveLength(1);
    const after = await filesOf(folder);
    expect(after).toEqual(before);
  });

  it.each([
    ['a byte', (bytes: Buffer) => bytes.fill(0, 7, 8)],
    ['its end', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['an extra byte', (bytes: Buffer) => Buffer.concat([bytes, Buffer.of(0)])],
    ['everything', () => Buffer.of()],
  ])('fetches a file with a change in %s again, and only that file', async (_, damage) => {
    const { folder, server } = await makeMirror();
    await writeFile(join(folder, PART), damage(await readFile(join(folder, PART))));
    const { receipt } = await mirror(server, folder);
    expect(receipt.files.filter(({ state }) => state !== 'kept').map(({ path }) => path)).toEqual([PART]);
    expect(await readFile(join(folder, PART))).toEqual(Buffer.from(sample.files.get(PART)!));
  });

  it('keeps a damaged file if the source has no valid one', async () => {
    const { folder } = await makeMirror();
    await writeFile(join(folder, PART), 'damaged');
    const corrupt = await source(sample, refuse(PART, 500, 'control.STORED_BYTES_CORRUPT'));
    expect(await failureOf(mirror(corrupt, folder))).toMatchObject({ code: 'mirror.SOURCE_INCOMPLETE' });
    expect(await readFile(join(folder, PART), 'utf8')).toBe('damaged');
  });

  it.each(DOCUMENTS)('writes %s again if it is damaged or missing', async (name) => {
    const { folder, server } = await makeMirror();
    const before = await filesOf(folder);
    for (const damage of [() => writeFile(join(folder, name), '{"damaged":'), () => rm(join(folder, name))]) {
      await damage();
      await mirror(server, folder);
      expect((await filesOf(folder)).get(name)).toEqual(before.get(name));
    }
  });

  it.each([
    ['export.json', 'archivist', 'archivisu'],
    ['export-attestation.json', 'MAYCAQECAQE', 'MAYCAQECAQF'],
  ])('repairs a changed byte of %s that the manifest does not cover', async (name, right, rotten) => {
    const { folder, server } = await makeMirror();
    const sound = await filesOf(folder);
    const text = await readFile(join(folder, name), 'utf8');
    expect(text).toContain(right);
    await writeFile(join(folder, name), text.replace(right, rotten));
    const { receipt } = await mirror(server, folder);
    expect(receipt.outcome).toBe('complete');
    const files = await filesOf(folder);
    for (const path of [name, 'SHA256SUMS']) expect(files.get(path)).toEqual(sound.get(path));
    checkSums(folder);
  });

  it('of an export without attestation and reports is complete without them', async () => {
    const fault = refuse('export-attestation.json', 404, 'control.NOT_FOUND');
    const { folder, receipt } = await makeMirror(makeExport({ reports: 0, parts: 1 }), {}, fault);
    expect(receipt.outcome).toBe('complete');
    expect((await filesOf(folder)).has('export-attestation.json')).toBe(false);
  });

  it('with a manifest from the caller does not request one', async () => {
    const { manifest, manifestDigest: expectManifest } = sample;
    const { folder, server, receipt } = await makeMirror(sample, { manifest, expectManifest });
    expect(receipt.manifestFrom).toBe('caller');
    expect(server.requests('manifest.json')).toEqual([]);
    expect(await readFile(join(folder, 'manifest.json'))).toEqual(Buffer.from(manifest));
  });
});

const invalid = (code: string) => ({ code: 'mirror.SOURCE_INVALID', details: { code } });

describe('the documents of a mirror', () => {
  it.each(['export.json', 'manifest.json', 'export-attestation.json'])(
    'report the retries of %s',
    async (path) => {
      const retry = { retryable: true, retryAfterMs: 700 };
      const fault = answerAt(
        path,
        ({ response }) => envelope(response, 503, 'control.UNAVAILABLE', retry),
        1,
      );
      const { events } = await makeMirror(sample, {}, fault);
      const error: unknown = expect.objectContaining({ code: 'control.UNAVAILABLE' });
      expect(events).toContainEqual({ type: 'retry', path, delayMs: 700, error });
    },
  );

  it('of an export that is not available create no folder', async () => {
    const folder = join(await newFolder(), 'absent');
    const deletion = { state: 'requested', version: 1, operationId: 'op_000000000001', requestedAtMs: 1 };
    for (const [code, change] of [
      ['export.NOT_AVAILABLE', { state: 'generating' as const }],
      ['control.EVIDENCE_DELETED', { deletion }],
    ] as const) {
      const server = await source({ ...sample, resource: { ...sample.resource, ...change } });
      expect(await failureOf(mirror(server, folder))).toMatchObject({ code });
      await expect(readFile(folder)).rejects.toThrow('ENOENT');
    }
  });

  const changed = (resource: object) => ({ resource: { ...sample.resource, ...resource } });
  const longer = Buffer.concat([sample.manifest, Buffer.from(' ')]);

  it.each([
    [
      'the manifest has a different digest',
      { manifest: other.manifest },
      invalid('export.RESOURCE_MISMATCH'),
    ],
    ['the manifest is too long', { manifest: longer }, { code: 'transport.BODY_TOO_LONG' }],
    [
      'the manifest is cut',
      { manifest: sample.manifest.subarray(0, -1) },
      invalid('export.RESOURCE_MISMATCH'),
    ],
    ['the count differs', changed({ bundleCount: 4 }), invalid('export.RESOURCE_MISMATCH')],
    [
      'the organization differs',
      changed({ organizationId: 'org_000000000002' }),
      invalid('export.RESOURCE_MISMATCH'),
    ],
    ['the size is absurd', changed({ manifestBytes: '9'.repeat(38) }), invalid('json.TOO_LARGE')],
    [
      'a different export is described',
      changed({ evidenceExportId: 'evexp_000000000009' }),
      { code: 'transport.ANSWER_MISMATCH' },
    ],
  ])('are refused, and nothing is written, if %s', async (_, change, failure) => {
    const folder = await newFolder();
    const server = await source({ ...sample, ...change });
    expect(await failureOf(mirror(server, folder))).toMatchObject(failure);
    expect(await filesOf(folder)).toEqual(new Map());
  });

  it.each([
    [
      'does not match the expected digest',
      { expectManifest: other.manifestDigest },
      'expect.MANIFEST_MISMATCH',
    ],
    ['of the caller is not that of the export', { manifest: other.manifest }, 'export.RESOURCE_MISMATCH'],
  ])('are refused if the manifest %s', async (_, options, code) => {
    const work = mirror(await source(sample), await newFolder(), options);
    expect(await failureOf(work)).toMatchObject({ code });
  });

  it.each([
    '../../outside.zip',
    '/etc/passwd',
    'http://169.254.169.254/latest',
    'file:///etc/passwd',
    'parts/x.zip',
    'receipts/x.json',
  ])('are refused if the manifest has the path %s, and no request is made for it', async (path) => {
    const manifest = Buffer.from(Buffer.from(sample.manifest).toString().replace(PART, path));
    const manifestDigest = digestOf(manifest);
    const server = await source({
      ...sample,
      manifest,
      ...changed({ manifestDigest, manifestBytes: String(manifest.length) }),
    });
    const folder = await newFolder();
    expect(await failureOf(mirror(server, folder))).toMatchObject(invalid('export.MANIFEST_INVALID'));
    expect(server.seen).toHaveLength(2);
    expect(await filesOf(folder)).toEqual(new Map());
  });

  it('do not include an attestation of another export', async () => {
    const folder = await newFolder();
    const server = await source({ ...sample, attestation: other.attestation });
    const failure = await failureOf(mirror(server, folder));
    const code = 'export.ATTESTATION_SUBJECT_MISMATCH';
    expect(failure.details?.['failures']).toMatchObject([{ path: 'export-attestation.json', code }]);
    expect((await filesOf(folder)).has('export-attestation.json')).toBe(false);
    expect(server.requests('export-attestation.json')).toHaveLength(2);
  });

  it.each([
    ['manifest.json', sample.manifest],
    ['export-attestation.json', sample.attestation],
  ])('are fetched once more if %s was damaged in transit', async (path, bytes) => {
    const fault = answerAt(path, ({ response, seen }) => sendBytes(response, seen, bytes.toReversed()), 1);
    const { folder, server, events } = await makeMirror(sample, {}, fault);
    expect(server.requests(path)).toHaveLength(2);
    expect(events).toContainEqual(expect.objectContaining({ type: 'retry', path, delayMs: 0 }));
    expect((await filesOf(folder)).get(path)).toEqual(Buffer.from(bytes));
  });
});

describe('a mirror into a target', () => {
  it('that contains something else changes nothing', async () => {
    const folder = await newFolder();
    await writeFile(join(folder, 'thesis.txt'), 'mine');
    const failure = await failureOf(mirror(await source(sample), folder));
    expect(failure).toMatchObject({ code: 'mirror.TARGET_FOREIGN' });
    expect([...(await filesOf(folder)).keys()]).toEqual(['thesis.txt']);
  });

  it.each([
    ['complete', undefined],
    ['interrupted', refuse(PART, 404, 'control.NOT_FOUND')],
  ])('that is a %s mirror of another export changes nothing', async (_, fault) => {
    const folder = await newFolder();
    await mirror(await source(sample, fault), folder).catch(() => undefined);
    const before = await filesOf(folder);
    const id = 'evexp_000000000009';
    const { resource, manifest } = makeExport({ seed: 3, id });
    const { client } = testClient('http://control.example', {
      fetch: () => Promise.resolve(Response.json(resource)),
    });
    const work = mirrorExport(
      { projectId: 'prj_000000000001', evidenceExportId: id },
      { client, to: mirrorDirectory(folder), manifest },
    );
    expect(await failureOf(work)).toMatchObject({ code: 'mirror.TARGET_FOREIGN' });
    expect(await filesOf(folder)).toEqual(before);
  });

  it('that contains this export with another manifest changes nothing', async () => {
    const { folder } = await makeMirror();
    const before = await filesOf(folder);
    expect(await failureOf(mirror(await source(other), folder))).toMatchObject({ code: 'export.CHANGED' });
    expect(await filesOf(folder)).toEqual(before);
  });

  it('with a symbolic link in place of a file or folder does not follow it', async () => {
    const { folder, server } = await makeMirror();
    const outside = await newFolder();
    await rm(join(folder, PART));
    await symlink(join(outside, 'stolen'), join(folder, PART));
    expect(await failureOf(mirror(server, folder))).toMatchObject({ code: 'io.KIND' });
    await rm(join(folder, 'parts'), { recursive: true });
    await symlink(outside, join(folder, 'parts'));
    expect(await failureOf(mirror(server, folder))).toMatchObject({ code: 'mirror.TARGET_EXTRA' });
    expect(await filesOf(outside)).toEqual(new Map());
  });

  it('that is a file is refused', async () => {
    const file = join(await newFolder(), 'file');
    await writeFile(file, '');
    expect(await failureOf(mirror(await source(sample), file))).toMatchObject({ code: 'io.KIND' });
  });

  it('that another mirror of this process writes to is refused', async () => {
    const folder = await newFolder();
    const fault = answerAt(PART, ({ response }) =>
      setTimeout(() => envelope(response, 404, 'control.NOT_FOUND'), 100),
    );
    const slow = await source(sample, fault);
    const first = failureOf(mirror(slow, folder));
    await expect.poll(() => slow.requests(PART).length).toBe(1);
    expect(await failureOf(mirror(slow, folder))).toMatchObject({ code: 'io.LOCKED' });
    expect(await first).toMatchObject({ code: 'mirror.SOURCE_INCOMPLETE' });
  });
});

describe('a mirror with failures', () => {
  it('of some files fetches the others and lists all failures', async () => {
    const folder = await newFolder();
    const corrupt = refuse(PART, 500, 'control.STORED_BYTES_CORRUPT');
    const missing = refuse(REPORT, 404, 'control.NOT_FOUND');
    const server = await source(sample, (request) => corrupt(request) || missing(request));
    const failure = await failureOf(mirror(server, folder));
    const message = 'made for a test';
    expect(failure).toMatchObject({ code: 'mirror.SOURCE_INCOMPLETE' });
    expect(failure.details?.['failures']).toEqual([
      { path: PART, code: 'control.STORED_BYTES_CORRUPT', message },
      { path: REPORT, code: 'control.NOT_FOUND', message },
    ]);
    const files = await filesOf(folder);
    const absent = [PART, REPORT, 'manifest.json', 'SHA256SUMS'];
    for (const path of [...ALL, ...absent]) expect(files.has(path), path).toBe(!absent.includes(path));
    const receipt = parseReceipt(files.get(String(failure.details?.['receipt']))!);
    expect(receipt).toMatchObject({ outcome: 'incomplete', failures: [{ path: PART }, { path: REPORT }] });
    const healthy = await mirror(await source(sample), folder);
    expect(healthy.receipt.outcome).toBe('complete');
    expect(healthy.receipt.files.filter(({ state }) => state === 'kept')).toHaveLength(2 + 1);
    expect((await filesOf(folder)).has('manifest.json')).toBe(true);
  });

  it('of local reports succeeds without them if the caller allows it', async () => {
    const folder = await newFolder();
    const fault = answerAt(REPORT, ({ response }) => json(response, 404, 'no such route'));
    const server = await source(sample, fault);
    expect(await failureOf(mirror(server, folder))).toMatchObject({ code: 'mirror.SOURCE_INCOMPLETE' });
    const { receipt, events } = await mirror(server, folder, { withoutLocalReports: true });
    expect(events.find(({ type }) => type === 'planned')).toMatchObject({ files: 3, missingFiles: 0 });
    expect(receipt).toMatchObject({ outcome: 'complete', withoutLocalReports: true });
    checkSums(folder);
  });

  it('of the credential ends at once', async () => {
    const server = await source(makeExport({ parts: 30 }), refuse(/^parts/, 401, 'control.UNAUTHENTICATED'));
    const failure = await failureOf(mirror(server, await newFolder()));
    expect(failure).toMatchObject({ code: 'control.UNAUTHENTICATED' });
    expect(server.seen.length).toBeLessThan(12);
  });

  it('of a server that becomes unavailable does not try every file', async () => {
    const folder = await newFolder();
    const fault = answerAt(/^parts\//, ({ response }) => json(response, 503, 'away'));
    const server = await source(makeExport({ parts: 100, bytes: 10 }), fault);
    const failure = await failureOf(mirror(server, folder, { client: { retry: { retries: 1 } } }));
    expect(failure).toMatchObject({ code: 'mirror.SOURCE_INCOMPLETE' });
    expect(failure.details?.['failures']).toHaveLength(100 + 1);
    expect(server.seen.length).toBeLessThan(40);
  });

  it('is resumed by the next run after the caller aborted it', async () => {
    const folder = await newFolder();
    const stop = new AbortController();
    const server = await source(sample, ({ path, n }) => {
      if (path === ALL[2] && n === 0) stop.abort('enough');
      return false;
    });
    const work = mirror(server, folder, { signal: stop.signal, concurrency: 1 });
    await expect(work).rejects.toBe('enough');
    expect((await filesOf(folder)).has('manifest.json')).toBe(false);
    const { receipt } = await mirror(server, folder);
    expect(receipt.files.filter(({ state }) => state === 'kept').length).toBeGreaterThanOrEqual(2);
  });
});
