import { expect, it } from 'vitest';
import { MAX_TOOL_SOURCE_BYTES, toolSourceSchema } from '../../../src/contract/index.ts';
import { describeResource, edit, rulesOf } from '../field-rules.ts';
import { count, digest, id, integers, nonEmpty, object, oneOf, semver, slug, version } from '../formats.ts';
import { toolSource } from '../samples.ts';

const MiB = 1_048_576;

describeResource('tool source', {
  schema: toolSourceSchema,
  sample: toolSource,
  rules: rulesOf(
    [version, 'schemaVersion'],
    [id('org'), 'organizationId'],
    [id('prj'), 'projectId'],
    [digest, 'buildHash manifestHash artifactHash ui.assets[].artifactHash'],
    [slug, 'packageId'],
    [semver, 'version'],
    [oneOf('javascript'), 'implementation.kind'],
    [{ accepts: ['', 'x'], rejects: [1, null, []] }, 'implementation.source'],
    [integers(0, MiB), 'implementation.bytes'],
    [object, 'ui?'],
    [nonEmpty, 'ui.entry ui.assets[].path ui.assets[].mediaType'],
    [count, 'ui.assets[].bytes'],
  ),
});

const judge = (source: string) =>
  toolSourceSchema.safeParse(edit(toolSource, 'implementation.source', source)).success;

it('tool source text is at most 1 MiB, counted in bytes of UTF-8 and not in characters', () => {
  expect(MAX_TOOL_SOURCE_BYTES).toBe(MiB);
  expect(judge('x'.repeat(MiB))).toBe(true);
  expect(judge('x'.repeat(MiB + 1))).toBe(false);
  expect(judge('é'.repeat(MiB / 2))).toBe(true);
  expect(judge(`${'é'.repeat(MiB / 2)}x`)).toBe(false);
  expect(judge('😀'.repeat(MiB / 4))).toBe(true);
  expect(judge(`${'😀'.repeat(MiB / 4)}x`)).toBe(false);
});
