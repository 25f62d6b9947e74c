import { describe, expect, it } from 'vitest';
import { MAX_TOOL_SOURCE_BYTES, toolSourceSchema } from '../../../src/contract/index.ts';
import { describeResource, edit } from '../field-rules.ts';
import {
  count,
  digest,
  id,
  integers,
  list,
  nonEmpty,
  object,
  oneOf,
  semver,
  slug,
  version,
} from '../formats.ts';
import { toolSource } from '../samples.ts';

const MiB = 1_048_576;

describeResource('tool source', {
  schema: toolSourceSchema,
  sample: toolSource,
  rules: {
    schemaVersion: version,
    organizationId: id('org'),
    projectId: id('prj'),
    buildHash: digest,
    packageId: slug,
    version: semver,
    manifestHash: digest,
    artifactHash: digest,
    implementation: object,
    'implementation.kind': oneOf('javascript'),
    'implementation.source': { accepts: ['', 'x'], rejects: [1, null, []] },
    'implementation.bytes': integers(0, MiB),
    'ui?': object,
    'ui.entry': nonEmpty,
    'ui.assets': list,
    'ui.assets[]': object,
    'ui.assets[].path': nonEmpty,
    'ui.assets[].mediaType': nonEmpty,
    'ui.assets[].artifactHash': digest,
    'ui.assets[].bytes': count,
  },
});

const judge = (source: string) =>
  toolSourceSchema.safeParse(edit(toolSource, 'implementation.source', source)).success;

describe('tool source text', () => {
  it('is at most 1 MiB, counted in bytes of UTF-8 and not in characters', () => {
    expect(MAX_TOOL_SOURCE_BYTES).toBe(MiB);
    expect(judge('x'.repeat(MiB))).toBe(true);
    expect(judge('x'.repeat(MiB + 1))).toBe(false);
    expect(judge('é'.repeat(MiB / 2))).toBe(true);
    expect(judge(`${'é'.repeat(MiB / 2)}x`)).toBe(false);
    expect(judge('😀'.repeat(MiB / 4))).toBe(true);
    expect(judge(`${'😀'.repeat(MiB / 4)}x`)).toBe(false);
  });
});
