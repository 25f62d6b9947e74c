import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { verifyToolSource } from '../../src/verify/tool-source.ts';
import { errorsOf, stateOf } from '../support/evidence.ts';
import { readVectors } from '../vectors/read.ts';

const MIB = 1024 * 1024;
const locked = readVectors('tool-sources').cases.find(({ id }) => id === 'locked')!.input;
const { resource: text, lock } = z.object({ resource: z.string(), lock: z.string() }).parse(locked);

describe('a tool source', () => {
  test('has the state of its lock and its facts in the report', () => {
    expect(stateOf(verifyToolSource(text), 'tool-source.lock')).toBe('not_checked');
    const report = verifyToolSource(text, { lock: toUtf8(lock) });
    expect(stateOf(report, 'tool-source.lock')).toBe('passed');
    const { packageId, artifactHash, buildHash } = JSON.parse(text) as Record<string, unknown>;
    expect(report).toMatchObject({ packageId, artifactHash, buildHash });
  });

  test.each([text, toUtf8(text), Buffer.from(text), ` ${text}\n`])(
    'is read from bytes, a Buffer or text',
    (input) => {
      expect(verifyToolSource(input).verdict).toBe('intact');
    },
  );

  const { projectId, buildHash, packageId } = z
    .object({ projectId: z.string(), buildHash: z.string(), packageId: z.string() })
    .parse(JSON.parse(text));

  test('of the project, build and package that the caller expects is verified with its lock', () => {
    const expected = { projectId, buildHash, packageId };
    const report = verifyToolSource(text, { lock: toUtf8(lock), expect: expected });
    expect([report.verdict, stateOf(report, 'tool-source.expected')]).toEqual(['verified', 'passed']);
    expect(stateOf(verifyToolSource(text), 'tool-source.expected')).toBe('not_applicable');
  });

  test.each([
    ['projectId', projectId, 'prj_000000000099'],
    ['buildHash', buildHash, `sha256:${'0'.repeat(64)}`],
    ['packageId', packageId, 'mailer'],
  ])('whose %s is not what the caller expects fails, although the lock has it', (name, actual, expected) => {
    const report = verifyToolSource(text, { lock: toUtf8(lock), expect: { [name]: expected } });
    expect(report.verdict).toBe('failed');
    expect(report.findings).toMatchObject([
      { code: 'tool-source.SUBJECT_MISMATCH', path: `/${name}`, expected, actual },
    ]);
    expect(stateOf(report, 'tool-source.lock')).toBe('passed');
  });

  test.each<[string, string]>([
    ['', 'json.INVALID'],
    ['\ud800', 'encoding.UTF8_INVALID'],
    [`${text}${' '.repeat(16 * MIB)}`, 'json.TOO_LARGE'],
    ...['null', '1', '"text"', '[]', '{}', '{"__proto__":{"schemaVersion":1}}'].map(
      (value): [string, string] => [value, 'tool-source.INVALID'],
    ),
  ])('of another form fails, with its other checks open: %.40s', (input, code) => {
    const report = verifyToolSource(input, { lock: toUtf8(lock) });
    expect([report.verdict, errorsOf(report)]).toEqual(['failed', [code]]);
    for (const id of ['tool-source.bytes', 'tool-source.lock'] as const)
      expect(stateOf(report, id)).toBe('not_checked');
  });
});
