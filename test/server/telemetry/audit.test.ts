import { afterEach, beforeAll, expect, it } from 'vitest';
import {
  callableNames,
  type OperationName,
  operationRow,
} from '../../../src/contract/operations/operations.ts';
import { fillPath } from '../../../src/contract/operations/rows.ts';
import type { ControlCode } from '../../../src/contract/operations/errors.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { listen } from '../../../src/server/listen.ts';
import type { ServerOptions } from '../../../src/server/server.ts';
import type { AuditEntry } from '../../../src/server/model/log.ts';
import { inProject, post, sendArchive, UPLOADS } from '../change.ts';
import { wholeFile } from '../each-test.ts';
import { expectEnvelope } from '../envelope.ts';
import { ask, HASH, id, ORG, OTHER_ORG, PROJECT, serverOn, token } from '../make.ts';
import { REQUESTS, seed, type Seeded } from '../seeded.ts';
import { sendRaw } from '../socket.ts';

const plane = wholeFile();
const entries: AuditEntry[] = [];
let seeded: Seeded;
let tokenId: string;
beforeAll(async () => {
  tokenId = (await plane.store.tokens.list(ORG))[0]!.tokenId;
  seeded = await seed(plane);
});
afterEach(() => void entries.splice(0));

const makeServer = (options: Partial<ServerOptions> = {}) =>
  serverOn(plane, { audit: (entry) => void entries.push(entry), ...options });

/** Sends a good request for an operation. */
function send(name: OperationName, bearer: string | undefined, server = makeServer()): Promise<Response> {
  const row = operationRow(name);
  const { params, query, body } = REQUESTS[name] ?? {};
  const path = fillPath(row, { ...seeded.params, ...params });
  return ask({ server }, query === undefined ? path : `${path}?${new URLSearchParams(query)}`, {
    method: row.method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(row.idempotent && { 'idempotency-key': `key-of-${name}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(bearer !== undefined && { token: bearer }),
  });
}

const isChange = (name: OperationName): boolean => operationRow(name).method === 'POST';
const isDownload = (name: OperationName): boolean => operationRow(name).success.kind === 'bytes';

it.each(callableNames)(
  '%s is recorded if it is a change or a download, and its refusals always',
  async (name) => {
    const response = await send(name, plane.token);
    expect(response.status).toBeLessThan(300);
    const done = { actor: tokenId, action: name, facts: { organizationId: ORG, projectId: PROJECT } };
    expect(entries).toMatchObject(isChange(name) || isDownload(name) ? [done] : []);
    for (const entry of entries) {
      expect(entry).not.toHaveProperty('code');
      expect(entry.facts['correlationId']).toBe(response.headers.get('x-correlation-id'));
    }
    entries.splice(0);
    const [none, foreign] = [
      await token(plane, { permissions: [name === 'evidence.bundles.read' ? 'run.write' : 'build.read'] }),
      await token(plane, { organizationId: OTHER_ORG }),
    ];
    await send(name, undefined);
    await send(name, none);
    await send(name, foreign);
    const mayRead = !['builds.tools.source', 'builds.attempts.read', 'environments.read'].includes(name);
    expect(entries.map(({ actor, code }) => [actor === 'anonymous', code])).toEqual([
      [true, 'control.UNAUTHENTICATED'],
      ...(mayRead ? [[false, 'control.PERMISSION_DENIED']] : []),
      [false, 'control.NOT_FOUND'],
    ]);
    expect(entries.at(-1)?.facts['organizationId']).toBe(OTHER_ORG);
  },
);

it('a change is recorded with the ids that it made, a replay as such, and a failure with its code', async () => {
  const server = makeServer();
  const request = { buildHash: HASH, artifactDigest: HASH, bytes: 1 };
  const sender = { server, token: plane.token };
  const { attempt } = (await (await post(sender, UPLOADS, request, 'a-key-of-audit')).json()) as {
    attempt: { buildAttemptId: string };
  };
  await post(sender, UPLOADS, request, 'a-key-of-audit');
  await post(sender, UPLOADS, { ...request, bytes: 2 }, 'a-key-of-audit');
  const { buildAttemptId } = attempt;
  expect(entries).toMatchObject([
    { facts: { buildAttemptId } },
    { facts: { buildAttemptId, replayed: true } },
    { code: 'control.IDEMPOTENCY_KEY_REUSED' },
  ]);
  expect(entries[0]!.facts).not.toHaveProperty('replayed');
});

it('an upload is recorded for the token that requested it, and a forged address for nobody', async () => {
  const server = makeServer();
  const { announced } = seeded.archive;
  const created = await post({ server, token: plane.token }, UPLOADS, announced);
  const { uploadUrl } = (await created.json()) as { uploadUrl: string };
  const forged = uploadUrl.replace(/signature=(.)/, (_, first) => `signature=${first === 'A' ? 'B' : 'A'}`);
  await sendArchive({ server }, forged, seeded.archive);
  await sendArchive({ server }, uploadUrl, seeded.archive);
  expect(entries.slice(1)).toMatchObject([
    { actor: 'anonymous', action: 'builds.uploads.put', code: 'control.NOT_FOUND' },
    { actor: tokenId, action: 'builds.uploads.put', facts: { organizationId: ORG, projectId: PROJECT } },
  ]);
});

it('the reads of a token are recorded too with auditReads', async () => {
  const server = makeServer({ auditReads: true });
  await send('sessions.read', plane.token, server);
  await ask({ server }, '/healthz');
  expect(entries).toMatchObject([{ actor: tokenId, action: 'sessions.read' }]);
});

it('an unknown path is recorded for a token, and an open endpoint only if it refuses', async () => {
  const server = makeServer();
  await ask({ server }, '/nowhere', { token: plane.token });
  await ask({ server }, '/metrics');
  await ask({ server }, '/metrics', { token: plane.token, method: 'POST' });
  expect(entries).toMatchObject([
    { actor: tokenId, action: 'unrouted', code: 'control.NOT_FOUND', facts: { method: 'GET' } },
    { actor: 'anonymous', action: 'metrics', code: 'control.METHOD_NOT_ALLOWED' },
  ]);
});

const HOST = 'Host: control.test\r\n';
const CLOSE = 'Connection: close\r\n';
it.each<[string, string, ControlCode]>([
  ['with a dot segment', `GET /x/../metrics HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, 'control.REQUEST_INVALID'],
  ['without a Host', `GET /healthz HTTP/1.1\r\n${CLOSE}\r\n`, 'control.REQUEST_INVALID'],
  [
    'with an unknown expectation',
    `GET / HTTP/1.1\r\n${HOST}${CLOSE}Expect: 200-ok\r\n\r\n`,
    'control.EXPECTATION_FAILED',
  ],
  ['that is not HTTP', 'hello\r\n\r\n', 'control.REQUEST_INVALID'],
  ['for a proxy', 'CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n', 'control.METHOD_NOT_ALLOWED'],
  ['with a method that HTTP does not have', `FOO / HTTP/1.1\r\n${HOST}\r\n`, 'control.METHOD_NOT_ALLOWED'],
])('a request %s, which is refused before its token is read, is recorded', async (_, text, code) => {
  const listening = await listen(makeServer());
  const answer = await sendRaw(listening.port, text);
  await listening.close();
  const correlationId = /X-Correlation-Id: (\S+)/i.exec(answer)?.[1];
  expect(entries).toMatchObject([
    { actor: 'anonymous', action: 'malformed', code, facts: { client: '127.0.0.1', correlationId } },
  ]);
});

const failFull = () => {
  throw new DrillproofError('io.DISK_FULL', 'no space');
};

it('a malformed request is refused with 503 if its line cannot be written', async () => {
  const listening = await listen(makeServer({ audit: failFull }));
  expect(await sendRaw(listening.port, 'hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 503 /);
  await listening.close();
});

it('a refused read of a token is recorded whatever its status', async () => {
  const server = makeServer();
  await ask({ server }, inProject('evidence-exports?limit=0'), { token: plane.token });
  await ask({ server }, inProject('evidence-exports'), {
    token: plane.token,
    headers: { 'if-match': '"x"' },
  });
  expect(entries).toMatchObject([
    { actor: tokenId, code: 'control.REQUEST_INVALID' },
    { actor: tokenId, code: 'control.PRECONDITION_FAILED' },
  ]);
});

it('requests above the rate of a token have 100 lines, then 10 a second, and a count of the others', async () => {
  const server = makeServer({ limits: { requestBurst: 1, requestsPerSecond: 0.001 } });
  const sendMany = async (times: number) => {
    for (let n = 0; n < times; n++) await send('sessions.read', plane.token, server);
  };
  await sendMany(151);
  expect(entries).toHaveLength(100);
  expect(entries.at(-1)).toMatchObject({ actor: tokenId, code: 'control.RATE_LIMITED' });
  expect(entries.at(-1)!.facts).not.toHaveProperty('omitted');
  plane.clock.nowMs += 1000;
  await sendMany(30);
  expect(entries).toHaveLength(110);
  expect(entries[100]!.facts).toMatchObject({ omitted: 50 });
  expect(entries[101]!.facts).not.toHaveProperty('omitted');
  await send('sessions.read', undefined, server);
  expect(entries.at(-1)).toMatchObject({ actor: 'anonymous' });
  expect(entries.at(-1)!.facts).not.toHaveProperty('omitted');
});

it('a line has the address of the client, and no more of a long path than 256 characters', async () => {
  const listening = await listen(makeServer());
  await fetch(`${listening.url}/v1/projects/${'a'.repeat(5_000)}/sessions/${id('ses', 1)}`);
  await listening.close();
  expect(entries).toMatchObject([
    { actor: 'anonymous', facts: { projectId: 'a'.repeat(256), client: '127.0.0.1' } },
  ]);
});

it('requests without a token cannot fill the audit log, and do not displace those with one', async () => {
  const server = makeServer();
  for (let n = 0; n < 150; n++) await send('sessions.read', undefined, server);
  expect(entries).toHaveLength(100);
  for (let n = 0; n < 20; n++) await send('evidence.exports.manifest', plane.token, server);
  expect(entries).toHaveLength(120);
});

it('nothing is answered before it is recorded, and a change whose line failed is recorded when it is replayed', async () => {
  let works = false;
  const server = makeServer({
    audit(entry) {
      if (!works) failFull();
      entries.push(entry);
    },
  });
  await expectEnvelope(send('evidence.exports.parts.download', plane.token, server), 'control.UNAVAILABLE');
  const request = { buildHash: HASH, artifactDigest: HASH, bytes: 3 };
  const change = () => post({ server, token: plane.token }, UPLOADS, request, 'a-key-while-full');
  await expectEnvelope(change(), 'control.UNAVAILABLE');
  works = true;
  expect((await change()).status).toBe(200);
  expect(entries).toMatchObject([{ action: 'builds.uploads.create', facts: { replayed: true } }]);
});
