import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { attestationSchema, exportAttestationSchema } from '../../src/contract/resources/attestation.ts';
import { evidenceExportSchema } from '../../src/contract/resources/evidence.ts';
import { runResultSchema } from '../../src/contract/resources/run.ts';
import { worldSessionSchema } from '../../src/contract/resources/session.ts';
import { compileAcceptor } from '../../src/evidence/accept.ts';
import { bundleManifestSchema } from '../../src/evidence/bundle/manifest.ts';
import { exportManifestSchema } from '../../src/evidence/export/manifest.ts';
import { receiptSchema } from '../../src/evidence/export/receipt.ts';
import { makeSession } from '../server/make.ts';
import { tries } from '../support/deep.ts';
import { makeExport, makePart, makeSigner, unpack } from '../support/evidence.ts';
import { appendReceipts, receiptFacts } from '../support/receipts.ts';
import { forAll } from '../support/property.ts';

const SCHEMAS = {
  'bundle manifest': bundleManifestSchema,
  'export manifest': exportManifestSchema,
  attestation: attestationSchema,
  'export attestation': exportAttestationSchema,
  'run result': runResultSchema,
  'export resource': evidenceExportSchema,
  receipt: receiptSchema,
  'world session': worldSessionSchema,
} as const;
type Name = keyof typeof SCHEMAS;
const NAMES = Object.keys(SCHEMAS) as Name[];
const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

const signer = makeSigner();
const entries = await unpack((await makePart(1, signer)).bytes);
const { files } = await makeExport({ signer });
const mirror: Record<string, Uint8Array> = {};
await appendReceipts(mirror, [{ facts: receiptFacts }]);
const valid = {
  'bundle manifest': text(entries.get('manifest.json')),
  attestation: text(entries.get('attestation.json')),
  'run result': text(entries.get('objects/run-result.json')),
  'export manifest': text(files['manifest.json']),
  'export attestation': text(files['export-attestation.json']),
  'export resource': text(files['export.json']),
  receipt: text(Object.values(mirror)[0]),
  'world session': JSON.stringify(worldSessionSchema.parse(makeSession(1))),
};

type Place = { readonly parent: Record<string, unknown>; readonly name: string };

/** Every member and item of a document. */
function listPlaces(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const parent = value as Record<string, unknown>;
  return Object.keys(parent).flatMap((name) => [{ parent, name }, ...listPlaces(parent[name])]);
}

const EDITS: readonly ((place: Place, value: unknown) => void)[] = [
  ({ parent, name }, value) => void (parent[name] = value),
  ({ parent, name }) => void delete parent[name],
  ({ parent, name }, value) => void Object.defineProperty(parent, `${name}2`, { value, enumerable: true }),
  ({ parent }, value) => void Object.defineProperty(parent, '__proto__', { value, enumerable: true }),
  ({ parent, name }) => void (parent[name] = `${String(parent[name])}x`),
  ({ parent, name }) => void (parent[name] = -Number(parent[name])),
];

describe.each(NAMES)('the acceptor of the %s', (name) => {
  const schema: z.ZodMiniType = SCHEMAS[name];
  const accept = compileAcceptor(schema);

  test('accepts a valid document, so that the schema need not check it', () => {
    expect(accept(JSON.parse(valid[name]))).toBe(true);
  });

  test('accepts an edited document only if the schema returns it unchanged, and misses none of them', () => {
    forAll(tries(300, 5000), [fc.nat(), fc.constantFrom(...EDITS), fc.jsonValue()], (at, edit, value) => {
      const edited: unknown = JSON.parse(valid[name]);
      const places = listPlaces(edited);
      edit(places[at % places.length]!, value);
      const document: unknown = JSON.parse(JSON.stringify(edited));
      const copy = structuredClone(document);
      const result = schema.safeParse(document);
      const accepted = accept(document);
      expect(document).toEqual(copy);
      if (accepted) expect(result).toEqual({ success: true, data: copy });
      else if (result.success) expect(isDeepStrictEqual(result.data, copy)).toBe(false);
    });
  });
});

test.each<[string, z.ZodMiniType, unknown]>([
  ['what a schema would change', z.pipe(z.string(), z.transform(Number)), '1'],
  ['what a schema would trim', z.string().check(z.trim()), ' a'],
  [
    'what a schema would trim, even where nothing is to be trimmed and text is added',
    z.string().check(z.trim()),
    'a ',
  ],
  ['an object that loses unknown members', z.object({ a: z.string() }), { a: '', b: 1 }],
  ['a missing member that has a default', z.strictObject({ a: z._default(z.string(), 'b') }), {}],
  ['a member that would be converted', z.strictObject({ a: z.coerce.number() }), { a: '1' }],
  ['a member __proto__ of an open object', z.looseObject({}), JSON.parse('{"__proto__":1}')],
  ['an array for an object', z.looseObject({}), []],
  ['null for an object', z.looseObject({}), null],
  [
    'what two members of an exclusive union accept',
    z.xor([z.string(), z.string().check(z.minLength(1))]),
    'a',
  ],
  ['a kind of schema that it does not know', z.record(z.string(), z.string()), { a: 'b' }],
  ['a number beyond those that a double holds exactly', z.int(), 2 ** 53],
  ['a number that is not finite', z.number(), Infinity],
  ['what a promise would decide', z.string().check(z.refine(() => Promise.resolve(true))), 'a'],
])('an acceptor refuses %s', (_, schema, value) => {
  expect(compileAcceptor(schema)(value)).toBe(false);
});
