import { expect, it } from 'vitest';
import {
  projectIdSchema,
  runIdSchema,
  digestSchema,
  decimalBytesSchema,
  slugSchema,
  idempotencyKeySchema,
  localReportIdSchema,
  revisionSchema,
  semverSchema,
} from '../../src/contract/scalars.ts';
import {
  EVIDENCE_PREDICATE_TYPE,
  EXPORT_PREDICATE_TYPE,
  attestationSchema,
  exportAttestationSchema,
} from '../../src/contract/resources/attestation.ts';
import { operationResultSchema } from '../../src/contract/resources/operation.ts';
import { terminalRunStates, hostedRunStates } from '../../src/contract/resources/run.ts';
import { turnDefaults, turnRequestSchema } from '../../src/contract/resources/authoring.ts';
import { toolSourceSchema, MAX_TOOL_SOURCE_BYTES } from '../../src/contract/resources/build.ts';
import { describeResource, edit } from './field-rules.ts';
import { attestation, exportAttestation, faultSet, resources, timeAdvance, toolSource } from './resources.ts';

for (const resource of resources) describeResource(resource);

it('attestations of a bundle and of an export differ in their predicate types and never pass for each other', () => {
  expect(EVIDENCE_PREDICATE_TYPE).toBe('urn:drillproof:attestation:evidence:v1');
  expect(EXPORT_PREDICATE_TYPE).toBe('urn:drillproof:attestation:export:v1');
  expect(attestationSchema.safeParse(exportAttestation).success).toBe(false);
  expect(exportAttestationSchema.safeParse(attestation).success).toBe(false);
});

it.each([
  { ...timeAdvance, kind: 'world.fault.set' },
  { ...faultSet, kind: 'world.time.advance' },
  { ...faultSet, kind: 'world.other' },
])('a result of an operation is of one kind and never a mixture: %#', (result) => {
  expect(operationResultSchema.safeParse(result).success).toBe(false);
});

it('a hosted run that has not ended is created or running', () => {
  const terminal = new Set<string>(terminalRunStates);
  expect(hostedRunStates.filter((state) => !terminal.has(state))).toEqual(['created', 'running']);
});

it.each([{}, turnDefaults])(
  'a turn request keeps absent members absent, so that its hash covers the body as sent: %j',
  (members) => {
    const request = { prompt: 'x', ...members };
    expect(turnRequestSchema.parse(request)).toEqual(request);
  },
);

const MiB = 1_048_576;

it.each([
  ['x', 1],
  ['é', 2],
  ['😀', 4],
])('the source of a tool is at most 1 MiB of UTF-8: of %s with %i bytes', (character, bytes) => {
  const source = character.repeat(MiB / bytes);
  const validity = [source, `${source}x`].map(
    (text) => toolSourceSchema.safeParse(edit(toolSource, 'implementation.source', text)).success,
  );
  expect([MAX_TOOL_SOURCE_BYTES, ...validity]).toEqual([MiB, true, false]);
});

it('the formats of texts check hostile text in linear time', () => {
  const ids = [projectIdSchema, runIdSchema, slugSchema, idempotencyKeySchema, localReportIdSchema];
  for (const schema of [...ids, digestSchema, decimalBytesSchema, revisionSchema, semverSchema])
    expect(schema.safeParse(`${'a'.repeat(200_000)}!`).success).toBe(false);
  expect(semverSchema.safeParse(`1.0.0-${'0'.repeat(100_000)}_`).success).toBe(false);
});
