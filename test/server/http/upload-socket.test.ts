import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import type { BuildUpload } from '../../../src/contract/resources/build.ts';
import { listen, type Listening } from '../../../src/server/listen.ts';
import { wholeFile } from '../each-test.ts';
import { openSocket } from '../socket.ts';
import { inProject } from '../change.ts';
import { expectEnvelope } from '../envelope.ts';
import { buildArchive, EXPORT, PROJECT, serverOn, token, type BuildArchive } from '../make.ts';

const plane = wholeFile();
let listening: Listening;
let archive: BuildArchive;
let begin: () => Promise<BuildUpload>;
beforeAll(async () => {
  archive = await buildArchive();
  let url = '';
  const limits = { requestTimeoutMs: 300 };
  listening = await listen(serverOn(plane, { publicUrl: () => url, limits }), { limits });
  ({ url } = listening);
  const client = createClient({ baseUrl: url, token: plane.token });
  begin = () => client.builds.uploads.create({ projectId: PROJECT, ...archive.announced });
});
afterAll(() => listening.close());

const sendWhole = ({ uploadUrl, method, headers }: BuildUpload): Promise<Response> =>
  fetch(uploadUrl, { method, headers, body: archive.bytes as BodyInit });

/** Sends a PUT over a socket, with its body only after 100 Continue. */
async function sendAfterContinue(upload: BuildUpload, headers: Record<string, string>) {
  let continued = false;
  const sending = request(upload.uploadUrl, {
    method: upload.method,
    headers: { ...upload.headers, expect: '100-continue', ...headers },
  });
  sending.on('continue', () => {
    continued = true;
    sending.end(archive.bytes);
  });
  sending.on('error', () => undefined); // the server may close the connection after its answer
  sending.flushHeaders();
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  const body = await text(response);
  sending.destroy();
  return { status: response.statusCode, body, continued };
}

/** Sends only the first bytes of an upload and returns the answer. */
async function sendPart(upload: BuildUpload, end = false): Promise<string> {
  const { port, pathname, search } = new URL(upload.uploadUrl);
  const { socket, answer, closed } = openSocket(Number(port));
  const head = [
    `PUT ${pathname}${search} HTTP/1.1`,
    'Host: control.test',
    'Content-Type: application/zip',
    `Content-Length: ${archive.bytes.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(archive.bytes.subarray(0, 100));
  if (end) socket.end();
  await closed;
  return answer();
}

it('an upload that stops is answered, and can be sent again', async () => {
  const upload = await begin();
  expect(await sendPart(upload)).toContain('"code":"control.REQUEST_TIMEOUT"');
  expect((await sendWhole(upload)).status).toBe(200);
});

it('an upload whose client closes its half is answered, and the bytes that arrived are stored', async () => {
  const upload = await begin();
  const answer = await sendPart(upload, true);
  expect(answer).toContain('HTTP/1.1 400');
  expect(answer).toContain('"code":"control.REQUEST_INVALID"');
  const progress = await (await fetch(upload.uploadUrl)).json();
  expect(progress).toMatchObject({ receivedBytes: 100, state: 'awaiting_upload' });
});

it('an upload to the address from the answer succeeds', async () => {
  const response = await sendWhole(await begin());
  expect([response.status, await response.json()]).toEqual([
    200,
    expect.objectContaining({ state: 'succeeded', buildHash: archive.buildHash }),
  ]);
});

it('the server sends 100 Continue only for an upload that it would accept', async () => {
  const upload = await begin();
  const length = String(archive.bytes.length);
  const short = await sendAfterContinue(upload, { 'content-length': '1' });
  expect([short.status, short.continued]).toEqual([422, false]);
  const other = await sendAfterContinue(upload, { 'content-length': length, 'content-type': 'text/plain' });
  expect([other.status, other.continued]).toEqual([415, false]);
  const forged = { ...upload, uploadUrl: upload.uploadUrl.replace(/signature=./, 'signature=*') };
  expect((await sendAfterContinue(forged, { 'content-length': length })).continued).toBe(false);
  const good = await sendAfterContinue(upload, { 'content-length': length });
  expect([good.status, good.continued]).toEqual([200, true]);
  expect(JSON.parse(good.body)).toMatchObject({ state: 'succeeded' });
});

it('uploads have slots of their own, of which a token may have a quarter and an organization half', async () => {
  let url = '';
  const other = await listen(serverOn(plane, { publicUrl: () => url, limits: { uploads: 4, downloads: 1 } }));
  ({ url } = other);
  const start = async (bearer: string) => {
    const client = createClient({ baseUrl: url, token: bearer });
    return client.builds.uploads.create({ projectId: PROJECT, ...archive.announced });
  };
  const [second, third] = [await token(plane), await token(plane)];
  const held = [];
  for (const bearer of [plane.token, second]) {
    const upload = await start(bearer);
    const headers = { ...upload.headers, 'content-length': archive.bytes.length, expect: '100-continue' };
    const sending = request(upload.uploadUrl, { method: 'PUT', headers });
    sending.on('error', () => undefined).flushHeaders();
    await once(sending, 'continue');
    held.push(sending);
  }
  await expectEnvelope(sendWhole(await start(plane.token)), 'control.RATE_LIMITED');
  await expectEnvelope(sendWhole(await start(third)), 'control.RATE_LIMITED');
  const source = `${url}${inProject(`evidence-exports/${EXPORT}/manifest`)}`;
  const { status } = await fetch(source, { headers: { authorization: `Bearer ${plane.token}` } });
  expect(status).toBe(404); // it is looked up, because downloads have other slots
  for (const sending of held) sending.destroy();
  await expect.poll(async () => (await sendWhole(await start(third))).status).toBe(200);
  await other.close();
});
