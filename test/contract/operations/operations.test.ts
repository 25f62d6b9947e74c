import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type Body,
  type BytesOperationName,
  callableNames,
  controlErrors,
  errorsOf,
  operationNames,
  operationRow,
  operations,
  type OperationName,
  parameterNames,
  type Params,
  permissions,
  permissionSchema,
  type Query,
  type Result,
} from '../../../src/contract/index.ts';
import * as samples from '../resources.ts';

const P = '/v1/projects/{projectId}';
const specified: readonly [OperationName, string, string, number, string][] = [
  ['sessions.extend', 'POST', `${P}/sessions/{sessionId}/extend`, 200, 'session.control'],
  [
    'authoring.turns.create',
    'POST',
    `${P}/authoring-sessions/{authoringSessionId}/turns`,
    202,
    'authoring.write',
  ],
  ['builds.uploads.create', 'POST', `${P}/build-uploads`, 201, 'build.write'],
  ['runs.reruns.create', 'POST', `${P}/runs/{hostedRunId}/reruns`, 202, 'run.write'],
  ['builds.tools.source', 'GET', `${P}/builds/{buildHash}/tools/source`, 200, 'build.read'],
  ['evidence.exports.read', 'GET', `${P}/evidence-exports/{evidenceExportId}`, 200, 'evidence.read'],
  [
    'evidence.exports.localReports',
    'GET',
    `${P}/evidence-exports/{evidenceExportId}/local-reports`,
    200,
    'evidence.read',
  ],
  ['evidence.bundles.read', 'GET', `${P}/evidence/{evidenceBundleId}`, 200, 'evidence.read'],
  ['builds.attempts.read', 'GET', `${P}/build-attempts/{buildAttemptId}`, 200, 'build.read'],
  [
    'evidence.exports.parts.download',
    'GET',
    `${P}/evidence-exports/{evidenceExportId}/parts/{evidenceBundleId}`,
    200,
    'evidence.read',
  ],
];
const extensions: readonly [OperationName, string][] = [
  ['evidence.exports.list', `${P}/evidence-exports`],
  ['evidence.exports.manifest', `${P}/evidence-exports/{evidenceExportId}/manifest`],
  ['evidence.exports.attestation', `${P}/evidence-exports/{evidenceExportId}/export-attestation`],
  [
    'evidence.exports.localReports.archive',
    `${P}/evidence-exports/{evidenceExportId}/local-reports/{localReportId}/archive`,
  ],
  ['operations.read', `${P}/operations/{operationId}`],
  ['runs.read', `${P}/runs/{hostedRunId}`],
  ['sessions.read', `${P}/sessions/{sessionId}`],
  ['authoring.turns.read', `${P}/authoring-sessions/{authoringSessionId}/turns/{authoringTurnId}`],
];

describe('the table of operations', () => {
  it.each(specified)('has %s as specified', (name, method, path, status, permission) => {
    expect(operationRow(name)).toMatchObject({
      method,
      path,
      permission,
      extension: false,
      security: 'bearer',
      success: { status },
    });
  });

  it('has these permissions and no other', () => {
    const known = new Set(specified.map(([, , , , permission]) => permission));
    expect(new Set(permissions)).toEqual(known);
    for (const permission of known) expect(permissionSchema.parse(permission)).toBe(permission);
    expect(permissionSchema.safeParse('evidence.write').success).toBe(false);
  });

  it.each(extensions)('marks %s as an extension', (name, path) => {
    expect(operationRow(name)).toMatchObject({
      method: 'GET',
      path,
      extension: true,
      permission: 'evidence.read',
    });
  });

  it('has no other operation of the specification', () => {
    expect(operationNames.filter((name) => !operationRow(name).extension).toSorted()).toEqual(
      specified.map(([name]) => name).toSorted(),
    );
  });

  it.each(operationNames)(
    'requires an Idempotency-Key and a body of %s exactly when it changes something',
    (name) => {
      const row = operationRow(name);
      expect(row.idempotent).toBe(row.method === 'POST');
      expect(row.body !== undefined).toBe(row.method === 'POST');
    },
  );

  it.each(operationNames)('declares exactly the parameters that are in the path of %s', (name) => {
    const row = operationRow(name);
    expect(Object.keys(row.params.shape)).toEqual(parameterNames(row.path));
  });

  it.each(operationNames)('refuses an unknown path and query parameter of %s', (name) => {
    const { params, query } = operationRow(name);
    const unknown = { heard: 'never' };
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

  it('takes bytes at a signed address, without a token or a key', () => {
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

  it('names a token only where one is needed', () => {
    const open = { ...operationRow('evidence.exports.read'), security: 'none' } as const;
    expect(errorsOf(open)).not.toContain('control.UNAUTHENTICATED');
  });
});

describe('bodies and answers of operations', () => {
  it('take an empty object, and nothing else, to rerun', () => {
    const { body } = operations['runs.reruns.create'];
    expect(body.parse({})).toEqual({});
    for (const other of [{ seed: '1' }, [], null, 'x', undefined])
      expect(body.safeParse(other).success).toBe(false);
  });

  it('ask for tool source by the slug of a package', () => {
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
  ] as const)('join the resource and its operation: %s', (name, answer) => {
    const { schema } = operations[name].success;
    expect(schema.parse(answer)).toEqual(answer);
    expect(schema.safeParse({ ...answer, extra: 1 }).success).toBe(false);
    for (const member of Object.keys(answer)) {
      expect(schema.safeParse({ ...answer, [member]: undefined }).success, member).toBe(false);
    }
  });

  it('have types by the name of the operation', () => {
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
