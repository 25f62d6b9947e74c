import * as z from 'zod';
import { policySchema } from './document.ts';

/** The published JSON Schema of a policy. */
export const POLICY_SCHEMA_ROW = {
  name: 'policy',
  version: 1,
  title: 'Policy',
  description:
    'What evidence must satisfy (formats §8), for "drillproof gate". The schema does not reject codes that cannot be waived or invalid dates.',
  schema: policySchema,
};

/** The JSON Schema (2020-12) of a row, as it is written to its file. */
export function formatSchema({ name, version, title, description, schema }: SchemaRow): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  const head = { $schema, $id: `urn:drillproof:schema:${name}:v${version}`, title, description };
  return `${JSON.stringify({ ...head, ...rest }, null, 2)}\n`;
}

type SchemaRow = {
  readonly name: string;
  readonly version: number;
  readonly title: string;
  readonly description: string;
  readonly schema: z.ZodType;
};
