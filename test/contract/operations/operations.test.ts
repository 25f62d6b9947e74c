import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type Body,
  type BytesOperationName,
  callableNames,
  operationNames,
  operationRow,
  operations,
  type OperationName,
  type Params,
  permissions,
  type Query,
  type Result,
} from '../../../src/contract/operations/operations.ts';
import { controlErrors } from '../../../src/contract/operations/errors.ts';
import { errorsOf } from '../../../src/contract/operations/rows.ts';
import * as samples from '../resources.ts';

const listParameters = (path: string) => Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);

const P = '/v1/projects/{projectId}';
const E = '/evidence-exports/{evidenceExportId}';
const specified = [
  'sessions.extend POST /sessions/{sessionId}/extend 200 session.control',
  'authoring.turns.create POST /authoring-sessions/{authoringSessionId}/turns 202 authoring.write',
  'builds.uploads.create POST /build-uploads 201 build.write',
  'runs.reruns.create POST /runs/{hostedRunId}/reruns 202 run.write',
  'builds.tools.source GET /builds/{buildHash}/tools/source 200 build.read',
  `evidence.exports.read GET ${E} 200 evidence.read`,
  `evidence.exports.localReports GET ${E}/local-reports 200 evidence.read`,
  'evidence.bundles.read GET /evidence/{evidenceBundleId} 200 evidence.read',
  'builds.attempts.read GET /build-attempts/{buildAttemptId} 200 build.read',
  `evidence.exports.parts.download GET ${E}/parts/{evidenceBundleId} 200 evidence.read`,
].map((row) => row.split(' ') as [OperationName, string, string, string, string]);
const extensions: readonly [OperationName, string][] = [
  ['evidence.exports.list', '/evidence-exports'],
  ['evidence.exports.manifest', `${E}/manifest`],
  ['evidence.exports.attestation', `${E}/export-attestation`],
  ['evidence.exports.localReports.archive', `${E}/local-reports/{localReportId}/archive`],
  ['operations.read', '/operations/{operationId}'],
  ['runs.read', '/runs/{hostedRunId}'],
  ['sessions.read', '/sessions/{sessionId}'],
  ['authoring.turns.read', '/authoring-sessions/{authoringSessionId}/turns/{authoringTurnId}'],
];

describe('the table of operations', () => {
  it.each(specified)('has %s as specified', (name, method, path, status, permission) => {
    expect(operationRow(name)).toMatchObject({
      method,
      path: P + path,
      permission,
      extension: false,
      security: 'bearer',
      success: { status: Number(status) },
    });
  });

  it('has these permissions and no other', () => {
    const names = new Set(specified.map(([, , , , permission]) => permission));
    expect(new Set(permissions)).toEqual(names);
  });

  it.each(extensions)('marks %s as an extension', (name, path) => {
    const row = { method: 'GET', path: P + path, extension: true, permission: 'evidence.read' };
    expect(operationRow(name)).toMatchObject(row);
  });

  it('has no other operation of the specification', () => {
    expect(operationNames.filter((name) => !operationRow(name).extension).toSorted()).toEqual(
      specified.map(([name]) => name).toSorted(),
    );
  });

  it.each(operationNames)(
    'has the parameters of the path of %s, and a key and a body if it is a POST',
    (name) => {
      const row = operationRow(name);
      expect(Object.keys(row.params.shape)).toEqual(listParameters(row.path));
      expect([row.idempotent, row.body !== undefined]).toEqual([
        row.method === 'POST',
        row.method === 'POST',
      ]);
    },
  );

  it.each(operationNames)('refuses an unknown path and query parameter of %s', (name) => {
    const { params, query } = operationRow(name);
    const unknown = { unheardOf: 'x' };
    expect(params.safeParse(unknown).error?.issues.map(({ code }) => code)).toContain('unrecognized_keys');
    expect((query ?? params).safeParse(unknown).error?.issues.map(({ code }) => code)).toContain(
      'unrecognized_keys',
    );
  });

  it.each(operationNames)('lists for %s only codes that have a status, none twice', (name) => {
    const codes = errorsOf(operationRow(name));
    for (const code of codes) expect(controlErrors).toHaveProperty([code]);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('answers the bytes of parts and of local-report archives by range', () => {
    const ranged = operationNames.filter((name) =>
      errorsOf(operationRow(name)).includes('control.RANGE_NOT_SATISFIABLE'),
    );
    expect(ranged).toEqual(['evidence.exports.parts.download', 'evidence.exports.localReports.archive']);
  });

  it('accepts bytes at a signed address, without a token or a key', () => {
    const row = operationRow('builds.uploads.put');
    expect(row).toMatchObject({
      method: 'PUT',
      path: `${P}/build-uploads/{buildAttemptId}`,
      extension: true,
      security: 'none',
      idempotent: false,
      content: { mediaType: 'application/zip', maxBytes: 67_108_864 },
    });
    expect(row.permission).toBeUndefined();
    expect(callableNames).toEqual(
      operationNames.filter((name) => !['builds.uploads.read', 'builds.uploads.put'].includes(name)),
    );
  });

  it.each([
    ['artifactDigest', 'sha256:x'],
    ['bytes', '0'],
    ['bytes', '67108865'],
    ['bytes', '1e3'],
    ['bytes', '-1'],
    ['expiresAtMs', ''],
    ['expiresAtMs', '9007199254740993'],
    ['expiresAtMs', '1.5'],
    ['signature', 'A'.repeat(42)],
    ['signature', `${'A'.repeat(42)}=`],
  ])('refuses an upload address whose %s is %j', (name, value) => {
    const { query } = operations['builds.uploads.put'];
    const good = {
      artifactDigest: `sha256:${'0'.repeat(64)}`,
      bytes: '67108864',
      expiresAtMs: '9007199254740991',
      signature: 'A'.repeat(43),
    };
    expect(query.parse(good)).toMatchObject({ bytes: 67_108_864, expiresAtMs: Number.MAX_SAFE_INTEGER });
    expect(query.safeParse({ ...good, [name]: value }).success).toBe(false);
  });

  it('lists control.UNAUTHENTICATED only for operations that need a token', () => {
    const open = { ...operationRow('evidence.exports.read'), security: 'none' } as const;
    expect(errorsOf(open)).not.toContain('control.UNAUTHENTICATED');
  });
});

describe('bodies and answers of operations', () => {
  it('of runs.reruns.create are the empty object only', () => {
    const { body } = operations['runs.reruns.create'];
    expect(body.parse({})).toEqual({});
    for (const other of [{ seed: '1' }, [], null, 'x', undefined])
      expect(body.safeParse(other).success).toBe(false);
  });

  it('of builds.tools.source name a package by its slug', () => {
    const { query } = operations['builds.tools.source'];
    expect(query.parse({ packageId: 'payments' })).toEqual({ packageId: 'payments' });
    for (const other of [{}, { packageId: '' }, { packageId: '../x' }, { packageId: ['a'] }]) {
      expect(query.safeParse(other).success).toBe(false);
    }
  });

  it.each([
    ['sessions.extend', { session: samples.session, operation: samples.operation }],
    [
      'authoring.turns.create',
      { session: samples.authoringSession, turn: samples.authoringTurn, operation: samples.operation },
    ],
    ['runs.reruns.create', { run: samples.hostedRun, operation: samples.operation }],
  ] as const)('of %s have the resource and its operation', (name, answer) => {
    const { schema } = operations[name].success;
    expect(schema.parse(answer)).toEqual(answer);
    expect(schema.safeParse({ ...answer, extra: 1 }).success).toBe(false);
    for (const member of Object.keys(answer)) {
      expect(schema.safeParse({ ...answer, [member]: undefined }).success, member).toBe(false);
    }
  });

  it('have the types of their operation', () => {
    expectTypeOf<Params<'sessions.extend'>>().toEqualTypeOf<{ projectId: string; sessionId: string }>();
    expectTypeOf<Query<'builds.tools.source'>>().toEqualTypeOf<{ packageId: string }>();
    expectTypeOf<Query<'evidence.exports.read'>>().toEqualTypeOf<Record<string, never>>();
    expectTypeOf<Body<'sessions.extend'>['ttlMs']>().toEqualTypeOf<number>();
    expectTypeOf<Body<'evidence.exports.read'>>().toEqualTypeOf<undefined>();
    expectTypeOf<Result<'evidence.exports.read'>['manifestBytes']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Result<'evidence.exports.manifest'>>().toEqualTypeOf<never>();
    expectTypeOf<BytesOperationName>().toEqualTypeOf<
      | 'evidence.exports.parts.download'
      | 'evidence.exports.manifest'
      | 'evidence.exports.attestation'
      | 'evidence.exports.localReports.archive'
    >();
  });
});
