import { describe, expect, test } from 'vitest';
import { canonicalBytes, digestOf, toUtf8 } from '../../src/bytes/index.ts';
import { verifyToolSource } from '../../src/verify/index.ts';
import { errorsOf, hashOf, idOf, stateOf } from '../support/evidence.ts';

const TEXT = 'export const ping = () => "pöng";\n';
const MIB = 1024 * 1024;
const ui = {
  entry: 'ui/index.html',
  assets: [{ path: 'ui/a.css', mediaType: 'text/css', artifactHash: hashOf('a'), bytes: 3 }],
};

const lockOf = (rest: object = {}, build: object = {}): Uint8Array =>
  canonicalBytes({
    schemaVersion: 1,
    kind: 'build',
    packages: [
      {
        packageId: 'ping-tool',
        version: '1.2.3',
        manifestHash: hashOf('manifest'),
        artifactHash: hashOf(TEXT),
        manifest: 'tools/ping/manifest.json',
        source: 'tools/ping/index.js',
        ui,
        ...rest,
      },
    ],
    ...build,
  });

const resource = (text = TEXT, rest: object = {}): object => ({
  schemaVersion: 1,
  organizationId: idOf('org', 1),
  projectId: idOf('prj', 1),
  buildHash: digestOf(lockOf()),
  packageId: 'ping-tool',
  version: '1.2.3',
  manifestHash: hashOf('manifest'),
  artifactHash: text.isWellFormed() ? hashOf(text) : hashOf(''),
  implementation: { kind: 'javascript', source: text, bytes: new TextEncoder().encode(text).length },
  ui,
  ...rest,
});

const toolSource = (...how: Parameters<typeof resource>): string => JSON.stringify(resource(...how));

describe('a tool source', () => {
  test('is intact by itself and verified under a lock that names it', () => {
    const alone = verifyToolSource(toolSource());
    expect([alone.verdict, alone.findings, stateOf(alone, 'tool-source.lock')]).toEqual([
      'intact',
      [],
      'not_checked',
    ]);
    const locked = verifyToolSource(toolSource(), { lock: lockOf() });
    expect([locked.verdict, locked.findings, stateOf(locked, 'tool-source.lock')]).toEqual([
      'verified',
      [],
      'passed',
    ]);
    expect(locked).toMatchObject({
      packageId: 'ping-tool',
      artifactHash: hashOf(TEXT),
      buildHash: digestOf(lockOf()),
    });
  });

  const faults: [string, string, string[]][] = [
    [
      'another text',
      toolSource(TEXT, { implementation: { kind: 'javascript', source: TEXT.replace('p', 'q'), bytes: 35 } }),
      ['tool-source.DIGEST_MISMATCH'],
    ],
    ['another hash', toolSource(TEXT, { artifactHash: hashOf('x') }), ['tool-source.DIGEST_MISMATCH']],
    [
      'characters counted as bytes',
      toolSource(TEXT, { implementation: { kind: 'javascript', source: TEXT, bytes: TEXT.length } }),
      ['tool-source.BYTES_MISMATCH'],
    ],
    ['an unknown member', toolSource(TEXT, { more: 1 }), ['tool-source.INVALID']],
    [
      'another kind',
      toolSource(TEXT, { implementation: { kind: 'wasm', source: TEXT, bytes: 35 } }),
      ['tool-source.INVALID'],
    ],
    [
      'no source',
      toolSource(TEXT, { implementation: { kind: 'javascript', bytes: 35 } }),
      ['tool-source.INVALID'],
    ],
    ['half a character', toolSource('"\ud800"'), ['json.SURROGATE_LONE']],
    ['1 MiB and a byte', toolSource('x'.repeat(MIB + 1)), ['tool-source.TOO_LARGE']],
    ['1 MiB of characters in more bytes', toolSource('ö'.repeat(MIB / 2 + 1)), ['tool-source.TOO_LARGE']],
  ];
  test.each(faults)('fails with %s', (_, value, codes) => {
    for (const options of [{}, { lock: lockOf() }]) {
      const report = verifyToolSource(value, options);
      expect(report.verdict).toBe('failed');
      expect(errorsOf(report)).toEqual(expect.arrayContaining(codes));
    }
    expect(errorsOf(verifyToolSource(value))).toEqual(codes);
  });

  test('is parsed strictly from bytes, a Buffer or text', () => {
    const text = toolSource();
    for (const given of [text, toUtf8(text), Buffer.from(text), ` ${text}\n`])
      expect(verifyToolSource(given).verdict).toBe('intact');
    const twice = text.replace('{', '{"packageId":"eve",');
    expect(JSON.parse(twice)).toEqual(JSON.parse(text));
    const refused: [string, string][] = [
      [twice, 'json.MEMBER_DUPLICATE'],
      ['', 'json.INVALID'],
      ['\ud800', 'encoding.UTF8_INVALID'],
      [`${text}${' '.repeat(16 * MIB)}`, 'json.TOO_LARGE'],
    ];
    for (const [given, code] of refused) {
      const report = verifyToolSource(given, { lock: lockOf() });
      expect([report.verdict, errorsOf(report)]).toEqual(['failed', [code]]);
    }
  });

  test('may have 1 MiB exactly', () => {
    expect(verifyToolSource(toolSource('x'.repeat(MIB))).verdict).toBe('intact');
    expect(verifyToolSource(toolSource('ö'.repeat(MIB / 2))).verdict).toBe('intact');
  });

  test.each([['null'], ['1'], ['"text"'], ['[]'], ['{}'], ['{"__proto__":{"schemaVersion":1}}']])(
    'that is none fails: %s',
    (value) => {
      const report = verifyToolSource(value, { lock: lockOf() });
      expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['tool-source.INVALID']]);
      expect(stateOf(report, 'tool-source.bytes')).toBe('not_checked');
      expect(stateOf(report, 'tool-source.lock')).toBe('not_checked');
    },
  );
});

const judgedUnder = (lock: Uint8Array, rest: object = {}): ReturnType<typeof verifyToolSource> =>
  verifyToolSource(toolSource(TEXT, { buildHash: digestOf(lock), ...rest }), { lock });

test.each([
  ['version', { version: '1.2.4' }],
  ['manifestHash', { manifestHash: hashOf('x') }],
  ['artifactHash', { artifactHash: hashOf('x') }],
  ['ui', { ui: { ...ui, entry: 'ui/other.html' } }],
  ['ui', { ui: undefined }],
])('differs in %s', (field, row) => {
  const report = judgedUnder(lockOf(row));
  expect(report.findings.map(({ code, path }) => [code, path])).toEqual([
    ['tool-source.LOCK_MISMATCH', `/${field}`],
  ]);
  expect(report.verdict).toBe('failed');
});

test('the lock of a tool source differs in the build', () => {
  const report = verifyToolSource(toolSource(TEXT, { buildHash: hashOf('x') }), { lock: lockOf() });
  expect(report.findings.map(({ code, path }) => [code, path])).toEqual([
    ['tool-source.LOCK_MISMATCH', '/buildHash'],
  ]);
});

test('the lock of a tool source does not name the package', () => {
  expect(errorsOf(judgedUnder(lockOf({ packageId: 'other-tool' })))).toEqual([
    'tool-source.PACKAGE_UNLOCKED',
  ]);
  expect(errorsOf(judgedUnder(lockOf({}, { packages: [] })))).toEqual(['tool-source.PACKAGE_UNLOCKED']);
});

test.each([
  ['no JSON', toUtf8('x')],
  ['another document', canonicalBytes({ kind: 'build' })],
  ['not canonical', toUtf8(`${new TextDecoder().decode(lockOf())}\n`)],
  ['empty', new Uint8Array()],
])('the lock of a tool source that is none fails, by a code of its own: %s', (_, lock) => {
  const report = judgedUnder(lock);
  expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['tool-source.LOCK_INVALID']]);
  expect(stateOf(report, 'tool-source.lock')).toBe('failed');
});
