import { setTimeout as wait } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { pack } from '../../support/evidence.ts';
import { HOLD_BYTES } from '../../../src/web/blob-access.ts';
import type { PartAnswer, PartJob } from '../../../src/web/worker/messages.ts';
import { createPortPool, verifyRequest } from '../../../src/web/worker/verify-request.ts';
import type { BundleReport } from '../../../src/verify/report.ts';
import type { Listing } from '../../../src/verify/part/context.ts';

test.each([
  ['as large as the memory of all parts waits until it is free', HOLD_BYTES, 1],
  ['a byte smaller goes out ahead', HOLD_BYTES - 1, 2],
  ['that is streamed goes out ahead', HOLD_BYTES + 1, 2],
])('the second part for a helper, if it is %s', async (_, size, ahead) => {
  const { port1, port2 } = new MessageChannel();
  const received: PartJob[] = [];
  port2.addEventListener('message', ({ data }: MessageEvent<object>) => {
    if (Array.isArray(data)) received.push(...(data as PartJob[]));
  });
  port2.start();
  const pool = createPortPool([port1], { asOfMs: 0 });
  const [blob, listed] = [{ size } as Blob, {} as Listing];
  const results = [1, 2, 3].map(() => pool.verify({ path: 'a', blob, listed }));
  await wait(20);
  expect(received).toHaveLength(ahead);
  for (let at = 0; at < results.length; at++) {
    while (received[at] === undefined) await wait(1);
    port2.postMessage([{ id: received[at]!.id, report: {} as BundleReport }] satisfies PartAnswer[]);
  }
  expect(await Promise.all(results)).toHaveLength(3);
  port1.close();
});

const verify = (
  name: string,
  files: Readonly<Record<string, Uint8Array | string>>,
  tokens: readonly string[] = [],
) => {
  const entries = Object.entries(files).map(
    ([path, bytes]) => [path, new Blob([bytes as BlobPart])] as const,
  );
  const tree = { name, files: new Map(entries), folders: [] };
  const context = { ports: [], onRead: () => {}, onOpen: () => {}, onProgress: () => {} };
  return verifyRequest({ trees: [tree], keys: [], envelopes: [], tokens, asOfMs: 0 }, context);
};

test.each([
  ['build.json', '{"schemaVersion":"dr.build-lock.v1"}', 'a JSON document'],
  ['SHA256SUMS', 'aa  manifest.json\n', 'a text file'],
  ['empty.txt', '', 'an empty file'],
  ['build.zip', await pack([['build.json', new Uint8Array()]]), 'a build archive'],
  [
    'again.zip',
    await pack(['a', 'b'].map((name) => [`${name}/manifest.json`, new Uint8Array()] as const)),
    'a ZIP of several folders or other files',
  ],
])('a chosen file %s that is not evidence is refused by its name', async (name, bytes, kind) => {
  const message = `${name} is ${kind}, not evidence`;
  await expect(verify(name, { [name]: bytes })).rejects.toMatchObject({
    code: 'export.NOT_AN_EXPORT',
    message,
  });
});

test.each<[string, string, string]>([
  ['a damaged part as a file', 'part.zip', 'part.zip'],
  ['a damaged part with the name of a document', 'part.json', 'part.json'],
  ['a text as the only part of a folder', 'folder', 'parts/evidence_000000000001.zip'],
])('%s is failed evidence', async (_, name, path) => {
  vi.stubGlobal('VERSION', '0');
  const bytes = name === 'folder' ? 'kind: policy\n' : Uint8Array.of(0x80, 0, 1, 2);
  const { writeFile } = await verify(name, { [path]: bytes });
  expect(JSON.parse([...writeFile.json()].join(''))).toMatchObject({ verdict: 'failed' });
});

const part = { 'parts/evidence_000000000001.zip': 'damaged' };
test.each<[string, Readonly<Record<string, string>>, readonly string[], string | undefined]>([
  ['without tokens', part, [], undefined],
  ['with a token next to the evidence', part, ['part.zip.tst'], 'part.zip.tst'],
  ['with a token inside the evidence', { ...part, 'manifest.json.tst': '' }, [], 'manifest.json.tst'],
  ['with a token that is listed twice', { ...part, 'a.tst': '' }, ['folder/a.tst'], 'a.tst'],
  ['with two tokens', part, ['a.tst', 'b.tst'], 'a.tst and 1 more'],
  ['with a token whose name commands a terminal', part, ['\u001b[2J.tst'], '\\u{1b}[2J.tst'],
])('evidence %s has at most one warning, and the same result', async (_, files, tokens, named) => {
  vi.stubGlobal('VERSION', '0');
  const { verified } = await verify('folder', files, tokens);
  const warning = `The page does not check timestamps (${named}). The command "drillproof verify" does.`;
  expect(verified.notes).toEqual(named === undefined ? [] : [warning]);
  expect(verified.view.verdict).toBe('failed');
});

test('a saved report next to its token is shown with the warning', async () => {
  vi.stubGlobal('VERSION', '0');
  const { writeFile } = await verify('folder', part);
  const json = [...writeFile.json()].join('');
  const saved = await verify('saved.json', { 'saved.json': json }, ['saved.json.tst']);
  expect(saved.verified.notes).toHaveLength(2);
  expect(saved.verified.notes[1]).toContain('saved.json.tst');
});
