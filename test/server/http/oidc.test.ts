import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ControlServer } from '../../../src/server/server.ts';
import { createOidc } from '../../../src/server/http/oidc.ts';
import type { AuditEntry, LogEntry } from '../../../src/server/model/log.ts';
import { wholeFile } from '../each-test.ts';
import { EXPORT, FOREIGN_PROJECT, NOW_MS, ORG, OTHER_ORG, PROJECT, serverOn } from '../make.ts';
import { thrownBy } from '../thrown.ts';

// A real issuer on this machine: its keys are made by node:crypto, and an HTTP server publishes them.
const AUDIENCE = 'https://control.example';
const ISSUER = 'https://issuer.example';
type Algorithm = 'ES256' | 'RS256' | 'EdDSA';
type Key = {
  readonly kid: string;
  readonly alg: Algorithm;
  readonly privateKey: KeyObject;
  readonly jwk: object;
};

function makeKey(kid: string, alg: Algorithm = 'ES256'): Key {
  const pair = {
    ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    EdDSA: () => generateKeyPairSync('ed25519'),
  }[alg]();
  return {
    kid,
    alg,
    privateKey: pair.privateKey,
    jwk: { ...pair.publicKey.export({ format: 'jwk' }), kid, alg },
  };
}
const [first, second] = [makeKey('first'), makeKey('second')];

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const claims = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'repo:acme/web:ref:refs/heads/main',
  iat: NOW_MS / 1000,
  exp: NOW_MS / 1000 + 300,
  repository: 'acme/web',
  ref: 'refs/heads/main',
};
function makeJwt(over: Readonly<Record<string, unknown>> = {}, key = first, header: object = {}): string {
  const text = `${base64url({ alg: key.alg, kid: key.kid, ...header })}.${base64url({ ...claims, ...over })}`;
  const digest = key.alg === 'EdDSA' ? null : 'sha256';
  const signature = sign(digest, Buffer.from(text), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

const plane = wholeFile();
const published = { status: 200, body: '' };
let [fetches, close] = [0, (): unknown => undefined];
let jwksUrl: string;
let server: ControlServer;
const audited: AuditEntry[] = [];
const logged: LogEntry[] = [];

const publish = (...keys: readonly Key[]): void =>
  void Object.assign(published, { status: 200, body: JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }) });
const RULES = [
  {
    claims: { repository: 'acme/web', ref: ['refs/heads/main', 'refs/heads/release-*'] },
    organizationId: ORG,
    projects: [PROJECT],
    permissions: ['evidence.read'],
  },
];
const makeDocument = (over: object = {}) => ({
  schemaVersion: 1,
  issuers: [{ issuer: ISSUER, audience: AUDIENCE, jwksUrl, rules: RULES, ...over }],
});
const serve = async (over: object = {}, cooldownMs = 0): Promise<void> => {
  server = serverOn(plane, {
    oidc: await createOidc(makeDocument(over), { cooldownMs }),
    audit: (entry) => void audited.push(entry),
    log: (entry) => void logged.push(entry),
  });
};
beforeEach(async () => {
  const issuer = createHttpServer((_, response) => {
    fetches++;
    response.writeHead(published.status).end(published.body);
  });
  await new Promise<void>((resolve) => void issuer.listen(0, '127.0.0.1', resolve));
  jwksUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/jwks`;
  close = () => issuer.close();
  [fetches, audited.length, logged.length] = [0, 0, 0];
  publish(first);
  await serve();
});
afterEach(() => close());

const readExports = (jwt: string, project = PROJECT): Promise<Response> =>
  server.fetch(
    new Request(`http://x/v1/projects/${project}/evidence-exports`, {
      headers: { authorization: `Bearer ${jwt}` },
    }),
  );
const statusOf = async (jwt: string): Promise<number> => (await readExports(jwt)).status;

describe('a JWT of a configured issuer', () => {
  it.each(['ES256', 'RS256', 'EdDSA'] as const)(
    'that is signed with %s gives the rights of its rule',
    async (alg) => {
      const key = makeKey('key', alg);
      publish(key);
      expect(await statusOf(makeJwt({}, key))).toBe(200);
    },
  );

  it('gives no right to another project, nor the permission for another operation', async () => {
    expect((await readExports(makeJwt(), FOREIGN_PROJECT)).status).toBe(404);
    const headers = {
      authorization: `Bearer ${makeJwt()}`,
      'idempotency-key': 'key-0123456789',
      'content-type': 'application/json',
    };
    const path = `http://x/v1/projects/${PROJECT}/build-uploads`;
    expect((await server.fetch(new Request(path, { method: 'POST', headers, body: '{}' }))).status).toBe(403);
  });

  it('is recorded with its issuer and subject, and its text nowhere', async () => {
    const jwt = makeJwt();
    await server.fetch(
      new Request(`http://x/v1/projects/${PROJECT}/evidence-exports/${EXPORT}/manifest`, {
        headers: { authorization: `Bearer ${jwt}` },
      }),
    );
    const identity = `${ISSUER} ${claims.sub}`;
    expect(audited).toMatchObject([
      { actor: expect.stringMatching(/^oidc_[a-z0-9]{24}$/), facts: { identity } },
    ]);
    expect(JSON.stringify([audited, logged])).not.toContain(jwt.split('.')[2]);
  });

  it('has its own rate of requests, which its other tokens share', async () => {
    const limits = { requestBurst: 1, requestsPerSecond: 0.001 };
    server = serverOn(plane, { oidc: await createOidc(makeDocument()), limits });
    expect(await statusOf(makeJwt())).toBe(200);
    expect(await statusOf(makeJwt({ jti: 'another' }))).toBe(429);
    expect(await statusOf(makeJwt({ sub: 'another' }))).toBe(200);
  });

  it('gives the rights of the first rule that it matches', async () => {
    const other = { ...RULES[0], organizationId: OTHER_ORG, projects: [FOREIGN_PROJECT] };
    await serve({ rules: [{ ...other, claims: { repository: 'acme/*' } }, ...RULES] });
    expect((await readExports(makeJwt(), FOREIGN_PROJECT)).status).toBe(200);
    expect((await readExports(makeJwt(), PROJECT)).status).toBe(404);
  });

  it('is accepted up to 30 s after it expires, and 30 s before it begins', async () => {
    const seconds = NOW_MS / 1000;
    for (const [over, status] of [
      [{ exp: seconds - 29 }, 200],
      [{ exp: seconds - 30 }, 401],
      [{ nbf: seconds + 30 }, 200],
      [{ nbf: seconds + 31 }, 401],
      [{ iat: seconds + 30, exp: seconds + 300 }, 200],
      [{ iat: seconds + 31, exp: seconds + 300 }, 401],
      [{ iat: seconds - 86_430, exp: seconds + 60 }, 200],
      [{ iat: seconds - 86_431, exp: seconds + 60 }, 401],
    ] as const)
      expect([over, await statusOf(makeJwt(over))]).toEqual([over, status]);
  });
});

describe('a JWT is refused with 401', () => {
  const [header, payload] = [base64url({ alg: 'none', kid: 'first' }), base64url(claims)];
  const hmac = (): string => {
    const text = `${base64url({ alg: 'HS256', kid: 'first' })}.${payload}`;
    return `${text}.${createHmac('sha256', JSON.stringify(first.jwk)).update(text).digest('base64url')}`;
  };
  const [stolen, own] = [makeJwt().split('.'), makeJwt({ repository: 'evil/web' }).split('.')];

  it.each([
    ['alg none without a signature', () => `${header}.${payload}.`],
    ['alg none with one', () => `${header}.${payload}.AAAA`],
    ['HS256 with the public key as the secret', hmac],
    ['the key of another issuer under this kid', () => makeJwt({}, makeKey('first'))],
    ['an algorithm that the key does not have', () => makeJwt({}, first, { alg: 'RS256' })],
    ['an unknown kid', () => makeJwt({}, makeKey('unknown'))],
    ['a key in its own header', () => makeJwt({}, makeKey('x'), { jwk: makeKey('x').jwk })],
    ['a header that must be understood', () => makeJwt({}, first, { crit: ['x'], x: 1 })],
    ['the signature of another payload', () => [stolen[0], own[1], stolen[2]].join('.')],
    ['another audience', () => makeJwt({ aud: `${AUDIENCE}/` })],
    ['no audience', () => makeJwt({ aud: undefined })],
    ['another issuer', () => makeJwt({ iss: `${ISSUER}/` })],
    ['no issuer', () => makeJwt({ iss: undefined })],
    ['an issuer that is a member of every object', () => makeJwt({ iss: '__proto__' })],
    ['no expiry', () => makeJwt({ exp: undefined })],
    ['an expiry that is no number', () => makeJwt({ exp: '9999999999' })],
    ['no time of issue', () => makeJwt({ iat: undefined })],
    ['no subject', () => makeJwt({ sub: undefined })],
    ['a subject that is no text', () => makeJwt({ sub: 7 })],
    ['a missing claim', () => makeJwt({ ref: undefined })],
    ['a claim that is no text', () => makeJwt({ repository: ['acme/web'] })],
    ['a repository that begins with the allowed one', () => makeJwt({ repository: 'acme/web-evil' })],
    ['a repository that ends with the allowed one', () => makeJwt({ repository: 'evil/acme/web' })],
    ['another case', () => makeJwt({ repository: 'Acme/web' })],
    ['a branch with a folder behind a pattern', () => makeJwt({ ref: 'refs/heads/release-1/x' })],
    ['nothing for the star of a pattern', () => makeJwt({ ref: 'refs/heads/release-' })],
    ['a payload that is no object', () => `${header}.${base64url([])}.AAAA`],
    ['more than 8,192 characters', () => makeJwt({ padding: 'x'.repeat(8_192) })],
  ])('for %s', async (_, make) => {
    const response = await readExports(make());
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { code: 'control.UNAUTHENTICATED' },
    ]);
  });

  it('with the same answer for each reason, which only the log has', async () => {
    const answers = [makeJwt({ aud: 'x' }), makeJwt({ ref: 'x' }), 'a.b.c', 'x'].map(async (jwt) => {
      const { correlationId: _id, ...envelope } = (await (await readExports(jwt)).json()) as object & {
        correlationId: string;
      };
      return JSON.stringify(envelope);
    });
    expect(new Set(await Promise.all(answers)).size).toBe(1);
    expect(logged.filter(({ event }) => event === 'token.refused')).toHaveLength(3);
  });

  it('by a server without issuers, which fetches nothing', async () => {
    server = serverOn(plane);
    expect(await statusOf(makeJwt())).toBe(401);
    expect(fetches).toBe(0);
  });
});

describe('the keys of an issuer', () => {
  it('are fetched once, and again for an unknown key, so that keys can be rotated', async () => {
    for (let n = 0; n < 3; n++) expect(await statusOf(makeJwt())).toBe(200);
    expect(fetches).toBe(1);
    publish(first, second);
    expect([await statusOf(makeJwt({}, second)), fetches]).toEqual([200, 2]);
    publish(second);
    await serve();
    expect([await statusOf(makeJwt()), await statusOf(makeJwt({}, second))]).toEqual([401, 200]);
  });

  it('are not fetched again at once for tokens with unknown keys', async () => {
    await serve({}, 60_000);
    for (let n = 0; n < 5; n++) expect(await statusOf(makeJwt({}, second))).toBe(401);
    expect(fetches).toBe(1);
  });

  it.each([
    ['an error', { status: 500, body: '{}' }],
    ['a redirect', { status: 302, body: '{}' }],
    ['no JSON', { status: 200, body: '<html>' }],
    ['no keys', { status: 200, body: '{}' }],
    ['more than 256 KiB', { status: 200, body: `{"keys":[],"x":"${'x'.repeat(262_144)}"}` }],
  ])('that cannot be read because of %s give 503, and no access', async (_, answer) => {
    Object.assign(published, answer);
    const response = await readExports(makeJwt());
    expect(response.headers.get('retry-after')).toBe('5');
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { code: 'control.UNAVAILABLE', retryable: true },
    ]);
    publish(first);
    expect(await statusOf(makeJwt())).toBe(200);
  });

  it('of a server that is away give 503, are not asked for with each token, and leave other tokens alone', async () => {
    close();
    await serve({}, 60_000);
    Object.assign(published, { status: 500 });
    for (let n = 0; n < 3; n++) expect(await statusOf(makeJwt())).toBe(503);
    expect(fetches).toBeLessThan(2);
    expect(await statusOf(plane.token)).toBe(200);
    expect(logged.some(({ event }) => event === 'control.UNAVAILABLE')).toBe(true);
  });
});

it.each([
  ['another version', { schemaVersion: 2 }],
  ['no issuer', { issuers: [] }],
  ['an issuer twice', { issuers: [0, 1].map(() => makeDocument().issuers[0]) }],
  ['an address without TLS', makeDocument({ jwksUrl: 'http://issuer.example/jwks' })],
  ['an address of a file', makeDocument({ jwksUrl: 'file:///etc/passwd' })],
  ['no audience', makeDocument({ audience: '' })],
  ['a rule without claims', makeDocument({ rules: [{ ...RULES[0], claims: {} }] })],
  ['a pattern with two stars', makeDocument({ rules: [{ ...RULES[0], claims: { ref: '*x*' } }] })],
  ['no alternative', makeDocument({ rules: [{ ...RULES[0], claims: { ref: [] } }] })],
  ['an unknown permission', makeDocument({ rules: [{ ...RULES[0], permissions: ['all'] }] })],
  ['an unknown member', makeDocument({ algorithms: ['none'] })],
])('createOidc refuses a document with %s', async (_, over) => {
  const document = { ...makeDocument({ jwksUrl: 'https://issuer.example/jwks' }), ...over };
  expect(await thrownBy(createOidc(document))).toMatchObject({ code: 'server.CONFIG_INVALID' });
});

it('a pattern matches only texts with its start and its end, and one part between them', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', ':', '.'), maxLength: 6 });
  const key = makeKey('key', 'EdDSA');
  publish(key);
  for (const [start, end, between] of fc.sample(fc.tuple(text, text, text), 30)) {
    await serve({ rules: [{ ...RULES[0], claims: { ref: `${start}*${end}` } }] });
    const expected = /^[^/:]+$/.test(between) ? 200 : 401;
    expect(await statusOf(makeJwt({ ref: `${start}${between}${end}` }, key))).toBe(expected);
  }
});
