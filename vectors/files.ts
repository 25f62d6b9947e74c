import * as z from 'zod/mini';
import { FLAGS, type Flag } from './flags.ts';
import type { Kind, VectorCase } from './kind.ts';
import { KINDS } from './kinds/index.ts';

/** The version of the form of the files; a case that is added does not change it. */
const VERSION = 1;

const flagSchema = z.string().check(z.regex(/^[A-Z][A-Za-z0-9]*$/));

/** What a file of a kind looks like, as its JSON Schema says too. */
const fileSchema = (kind: Kind) =>
  z
    .strictObject({
      $schema: z.literal(schemaPath(kind)),
      version: z.literal(VERSION),
      kind: z.literal(kind.name),
      about: z.string(),
      clause: z.string(),
      numberOfCases: z.int().check(z.positive()),
      flags: z.record(flagSchema, z.string()).check(z.describe('the bug behind the cases with a flag')),
      cases: z.array(
        z.strictObject({
          id: z.string().check(z.regex(/^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$/)),
          comment: z.string().check(z.minLength(1)),
          flags: z.array(flagSchema),
          input: kind.input,
          expected: kind.expected,
        }),
      ),
    })
    .check(z.meta({ title: `Conformance vectors: ${kind.name}`, description: kind.about }));

const dataPath = (kind: Kind): string => `${kind.name}.json`;
const schemaPath = (kind: Kind): string => `schemas/${kind.name}.schema.json`;

const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function dataFile(kind: Kind): string {
  const cases = kind.cases();
  return text({
    $schema: schemaPath(kind),
    version: VERSION,
    kind: kind.name,
    about: kind.about,
    clause: kind.clause,
    numberOfCases: cases.length,
    flags: flagsOf(cases),
    cases,
  });
}

function flagsOf(cases: readonly VectorCase[]): Partial<Record<Flag, string>> {
  const used = [...new Set(cases.flatMap(({ flags }) => flags))].toSorted();
  return Object.fromEntries(used.map((flag) => [flag, FLAGS[flag]]));
}

/** Every file of vectors with its text, by its path below `vectors/`: the same on every machine. */
export function vectorFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const kind of KINDS) {
    files.set(dataPath(kind), dataFile(kind));
    files.set(schemaPath(kind), text(z.toJSONSchema(fileSchema(kind))));
  }
  return files;
}
