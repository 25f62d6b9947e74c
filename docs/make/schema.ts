import * as z from 'zod';

/** One published JSON Schema: a document or an output of the command, in one version. */
export type SchemaRow = {
  /** Its file is `NAME.vVERSION.schema.json`. */
  readonly name: string;
  /** Raised when an older reader would misunderstand the document. */
  readonly version: number;
  readonly title: string;
  /** What the document is, where it appears, and rules that a JSON Schema cannot express. */
  readonly description: string;
  readonly schema: z.ZodType;
};

/** The path of a schema below `docs/`. */
export const schemaPath = ({ name, version }: SchemaRow): string => `schemas/${name}.v${version}.schema.json`;

/** The JSON Schema (2020-12) of a row, as it is written to its file. */
export function schemaText({ name, version, title, description, schema }: SchemaRow): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  const head = { $schema, $id: `urn:drillproof:schema:${name}:v${version}`, title, description };
  return `${JSON.stringify({ ...head, ...rest }, null, 2)}\n`;
}
