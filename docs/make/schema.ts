import * as z from 'zod';

/** One published JSON Schema: a document or an output of the command, in one version. */
export type SchemaRow = {
  /** As in the name of its file: `NAME.vVERSION.schema.json`. */
  readonly name: string;
  /** Counts the changes after which an older reader would misunderstand the document. */
  readonly version: number;
  readonly title: string;
  /** What the document is and where it is found; rules that a JSON Schema cannot say, too. */
  readonly description: string;
  readonly schema: z.ZodType;
};

/** The path of a schema below `docs/`. */
export const schemaPath = ({ name, version }: SchemaRow): string => `schemas/${name}.v${version}.schema.json`;

/** The JSON Schema (2020-12) of a row, as it stands in its file. */
export function schemaText({ name, version, title, description, schema }: SchemaRow): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  const head = { $schema, $id: `urn:drillproof:schema:${name}:v${version}`, title, description };
  return `${JSON.stringify({ ...head, ...rest }, null, 2)}\n`;
}
