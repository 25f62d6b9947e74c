import { FORMAT_SCHEMAS } from './format-schemas.ts';
import { OUTPUT_SCHEMAS } from './output-schemas.ts';
import { POLICY_SCHEMAS } from './policy-schemas.ts';
import { schemaPath, type SchemaRow } from './schema.ts';

const HEAD = `# JSON Schemas

One JSON Schema (2020-12) for each document and for the outputs of the command that other programs read, in
[schemas/](schemas). They are made from the schemas with which drillproof itself reads and writes (\`npm run docs\`), and its
tests hold every report and document of the [vectors](vectors.md) to them with an independent validator.
`;

const TAIL = `## What they can say, and what not

A schema says which members there are, of which type, form and range. It cannot say what only a reader of the bytes or of
several documents knows: that a document is its own RFC 8785 form, that no member stands twice, that rows are sorted, paths
are portable and distinct, digests and signatures are right. The description of each schema names these rules, and
[formats.md](formats.md) has them in full. A document that follows its schema is well formed, and nothing more.

Objects are closed, except \`details\` of an error. Integers lie within ±9007199254740991, which every parser of JSON holds
exactly. Codes and checks are patterns, because a later release has more of them ([codes.md](codes.md)).

## Versions

The number in the name, in \`$id\` and in \`schemaVersion\` of the document is one and the same. It changes when a reader of
the old version would misunderstand the new one; the old file stays. Within a version members can be added: a reader of
reports should ignore those that it does not know, or validate with the schema of the release that wrote the report.
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
  rows.map((row) => `- [${row.title}](${schemaPath(row)})\n`).join('');
