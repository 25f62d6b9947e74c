import { FORMAT_SCHEMAS } from './format-schemas.ts';
import { OUTPUT_SCHEMAS } from './output-schemas.ts';
import { POLICY_SCHEMAS } from './policy-schemas.ts';
import { schemaPath, type SchemaRow } from './schema.ts';

const HEAD = `# JSON Schemas

There is one JSON Schema (2020-12) in [schemas/](../schemas) for each document, and for each output of the command that other
programs read. \`npm run docs\` writes them from the schemas that drillproof itself uses. The tests validate every report
and document of the [vectors](vectors.md) with an independent validator.
`;

const TAIL = `## Limits of a schema

A schema covers members, types, forms and ranges. It cannot express rules about the bytes or about several documents: the
RFC 8785 form, repeated members, sorted rows, portable and distinct paths, correct digests and signatures. The
description of each schema names these rules, and [formats.md](formats.md) has them in full.

Objects are closed, except \`details\` of an error. Integers are within ±9007199254740991, which every JSON parser reads
exactly. Codes and checks are patterns, because later releases add some ([codes.md](../codes.md)).

## Versions

The number in the file name, in \`$id\` and in \`schemaVersion\` is the same. It changes when a reader of the old version
would misunderstand the new one; the old file stays. Members can be added within a version: ignore those that you do not
know, or validate with the schema of the release that wrote the report.
`;

/** The page that lists every schema. */
export const schemasPage = (): string =>
  [
    HEAD,
    `## Documents\n\n${list(FORMAT_SCHEMAS)}`,
    `## Outputs of the command\n\n${list([...OUTPUT_SCHEMAS, ...POLICY_SCHEMAS])}`,
    TAIL,
  ].join('\n');

const list = (rows: readonly SchemaRow[]): string =>
  rows.map((row) => `- [${row.title}](../${schemaPath(row)})\n`).join('');
