import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { listen, type Listening } from '../../../src/server/listen.ts';
import { openStores } from '../../../src/server/open-stores.ts';
import { createClient } from '../../../src/client/client.ts';
import { start } from '../../cli/make.ts';
import { startS3 } from '../../support/s3.ts';
import { startStallingProxy, type StallingProxy } from './stalling-proxy.ts';
import { inProject } from '../change.ts';
import { expectEnvelope } from '../envelope.ts';
import {
  buildArchive,
  createTenants,
  EXPORT,
  id,
  ingestExport,
  makePlane,
  part,
  PROJECT,
  serverOn,
  token,
  type Plane,
} from '../make.ts';

const s3 = await startS3();
const MIB = 1024 * 1024;
const IDLE_MS = 1_500; // Ceph may need most of a second
const PARTS = inProject(`evidence-exports/${EXPORT}/parts/`);
const [SMALL, LARGE] = [PARTS + id('evidence', 1), PARTS + id('evidence', 2)];

let proxy: StallingProxy;
let plane: Plane;
let listening: Listening;
let bearer: string;
let environment: Record<string, string>;

beforeAll(async () => {
  proxy = await startStallingProxy(Number(new URL(s3.endpoint).port));
  const bucket = await s3.bucket();
  environment = { ...s3.env, BLOBS_URL: s3.url(bucket, 'p/', `http://127.0.0.1:${proxy.port}`) };
  plane = await makePlane({}, (folder) => openStores(environment, folder, { storageIdleMs: IDLE_MS }));
  await createTenants(plane);
  await ingestExport(plane, { parts: [await part(1), await part(2, { padding: 32 * MIB })] });
  bearer = await token(plane);
  let url = '';
  const log = (entry: (typeof plane.log)[number]) => void plane.log.push(entry);
  listening = await listen(serverOn(plane, { publicUrl: () => url, log }));
  ({ url } = listening);
});
beforeEach(() => {
  proxy.resume();
  plane.log.splice(0);
});
afterAll(async () => {
  await listening.close();
  await plane.close();
  await proxy.close();
});

const get = (path: string): Promise<Response> =>
  fetch(listening.url + path, { headers: { authorization: `Bearer ${bearer}` } });

/** Downloads all bytes of a path. */
async function download(path: string): Promise<number> {
  const response = await get(path);
  await response.arrayBuffer();
  return response.status;
}

/** Expects an error in the log that names S3. */
const expectLogged = (event: string): void =>
  expect(plane.log).toContainEqual(
    expect.objectContaining({
      event,
      error: expect.objectContaining({
        code: 'control.UNAVAILABLE',
        message: expect.stringContaining('S3 cannot be used: it does not answer in time'),
      }),
    }),
  );

it.each([SMALL, LARGE])(
  'a download of %s from S3 that hangs gets 503, and succeeds when S3 answers again',
  async (path) => {
    proxy.stall();
    const startedMs = Date.now();
    await expectEnvelope(get(path), 'control.UNAVAILABLE');
    expect(Date.now() - startedMs).toBeLessThan(20 * IDLE_MS);
    expectLogged('control.UNAVAILABLE');
    proxy.resume();
    await expect.poll(() => download(path)).toBe(200);
  },
);

it('a download whose S3 hangs after the first bytes is cut, and the log names S3', async () => {
  expect(await download(LARGE)).toBe(200); // verified, so that the next read streams at once
  const [response] = (await once(
    request(listening.url + LARGE, { headers: { authorization: `Bearer ${bearer}` } }).end(),
    'response',
  )) as [IncomingMessage];
  await once(response, 'readable');
  proxy.stall();
  response.on('error', () => undefined).resume();
  await expect.poll(() => plane.log.map(({ event }) => event)).toContain('download.interrupted');
  expectLogged('download.interrupted');
});

it('an upload to S3 that hangs gets 503, and can be sent again', async () => {
  const { announced, bytes } = await buildArchive();
  const client = createClient({ baseUrl: listening.url, token: bearer });
  const upload = await client.builds.uploads.create({ projectId: PROJECT, ...announced });
  const send = () =>
    fetch(upload.uploadUrl, { method: 'PUT', headers: upload.headers, body: bytes as BodyInit });
  proxy.stall();
  await expectEnvelope(send(), 'control.UNAVAILABLE');
  expectLogged('control.UNAVAILABLE');
  proxy.resume();
  await expect.poll(async () => (await send()).status).toBe(200);
});

it('serve whose S3 hangs exits when --drain is over', async () => {
  const options = [
    '--data',
    plane.folder,
    '--port',
    '0',
    '--json',
    '--drain',
    '1',
    '--storage-timeout',
    '60',
  ];
  const child = start(['serve', ...options], { env: environment });
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.includes('\n}')) break;
  }
  const { url } = JSON.parse(output) as { url: string };
  proxy.stall();
  const answer = fetch(url + LARGE, { headers: { authorization: `Bearer ${bearer}` } }).catch(() => 'cut');
  await sleep(500);
  const startedMs = Date.now();
  const ended = once(child, 'close');
  child.kill('SIGTERM');
  expect((await ended)[0]).toBe(0);
  expect(Date.now() - startedMs).toBeLessThan(10_000);
  expect(await answer).toBe('cut');
});
