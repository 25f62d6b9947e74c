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
    expect([alone.verdict, stateOf(alone, 'tool-source.lock')]).toEqual(['intact', 'not_checked']);
    const locked = verifyToolSource(toolSource(), { lock: lockOf() });
    expect([locked.verdict, stateOf(locked, 'tool-source.lock')]).toEqual(['verified', 'passed']);
    expect([...alone.findings, ...locked.findings]).toEqual([]);
    const facts = { packageId: 'ping-tool', artifactHash: hashOf(TEXT), buildHash: digestOf(lockOf()) };
    expect(locked).toMatchObject(facts);
  });

  test('is parsed strictly from bytes, a Buffer or text', () => {
    const text = toolSource();
    for (const input of [text, toUtf8(text), Buffer.from(text), ` ${text}\n`])
      expect(verifyToolSource(input).verdict).toBe('intact');
    const twice = text.replace('{', '{"packageId":"eve",');
    expect(JSON.parse(twice)).toEqual(JSON.parse(text));
    const refused: [string, string][] = [
      [twice, 'json.MEMBER_DUPLICATE'],
      ['', 'json.INVALID'],
      ['\ud800', 'encoding.UTF8_INVALID'],
      [`${text}${' '.repeat(16 * MIB)}`, 'json.TOO_LARGE'],
    ];
    for (const [input, code] of refused) {
      const report = verifyToolSource(input, { lock: lockOf() });
      expect([report.verdict, errorsOf(report)]).toEqual(['failed', [code]]);
    }
  });

  test.each([['null'], ['1'], ['"text"'], ['[]'], ['{}'], ['{"__proto__":{"schemaVersion":1}}']])(
    'of another form fails: %s',
    (value) => {
      const report = verifyToolSource(value, { lock: lockOf() });
      expect([report.verdict, errorsOf(report)]).toEqual(['failed', ['tool-source.INVALID']]);
      expect(stateOf(report, 'tool-source.bytes')).toBe('not_checked');
      expect(stateOf(report, 'tool-source.lock')).toBe('not_checked');
    },
  );
});
