import * as z from 'zod/mini';
import { isParametric, policySchema } from './document.ts';

/** The published JSON Schema of a policy. */
export const POLICY_SCHEMA_ROW = {
  name: 'policy',
  version: 1,
  title: 'Policy',
  description:
    'What evidence must satisfy (formats §8), for "drillproof gate". The schema does not reject codes that cannot be waived or invalid dates.',
  schema: policySchema,
};

/** A parameter in the place of a value. */
const PARAM = {
  type: 'object',
  properties: { param: { type: 'string' } },
  required: ['param'],
  additionalProperties: false,
};

/** The JSON Schema (2020-12) of a row, as it is written to its file. */
export function formatSchema({ name, version, title, description, schema }: SchemaRow): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    reused: schema === policySchema ? 'ref' : 'inline',
    override({ zodSchema, jsonSchema }) {
      if (schema !== policySchema || !isParametric(zodSchema)) return;
      const value = { ...jsonSchema };
      for (const member of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, member);
      Object.assign(jsonSchema, { anyOf: [value, PARAM] });
    },
  });
  const head = { $schema, $id: `urn:drillproof:schema:${name}:v${version}`, title, description };
  return `${JSON.stringify({ ...head, ...rest }, null, 2)}\n`;
}

type SchemaRow = {
  readonly name: string;
  readonly version: number;
  readonly title: string;
  readonly description: string;
  readonly schema: z.ZodMiniType;
};
