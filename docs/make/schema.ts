import * as z from 'zod/mini';
import { catalogue } from '../../src/codes/catalogue.ts';
import { countSchema as whole } from '../../src/contract/scalars.ts';
import { isRule, RULE_IDS, RULES } from '../../src/policy/catalogue.ts';
import {
  atLeast,
  knownCodeSchema,
  policySchema,
  ruleSchema,
  waivableSchema,
} from '../../src/policy/document/document.ts';
import {
  conditionSchema,
  digest,
  distinct,
  duration,
  moment,
  percentSchema,
} from '../../src/policy/document/parts.ts';

/** One published JSON Schema: a document or an output of the command, in one version. */
export type SchemaRow = {
  /** Its file is `NAME.vVERSION.schema.json`. */
  readonly name: string;
  /** Raised when an older reader would misunderstand the document. */
  readonly version: number;
  readonly title: string;
  /** Describes the document, where it appears, and rules that a JSON Schema cannot express. */
  readonly description: string;
  readonly schema: z.ZodMiniType;
};

/** The path of a schema below `docs/`. */
export const schemaPath = ({ name, version }: SchemaRow): string => `schemas/${name}.v${version}.schema.json`;

/** The schemas of policies in whose place a parameter may be. */
const PARAMETRIC: ReadonlySet<unknown> = new Set([
  conditionSchema,
  whole,
  digest,
  distinct,
  percentSchema,
  duration,
  moment,
  atLeast,
]);

/** Whether a schema is one of these. A check, such as a description, makes a copy of a schema. */
const isOneOf = (schema: z.core.$ZodType, schemas: ReadonlySet<unknown>): boolean => {
  const { _zod: inside } = schema;
  return schemas.has(schema) || (inside.parent !== undefined && isOneOf(inside.parent, schemas));
};

const PARAM = {
  type: 'object',
  properties: {
    param: { type: 'string', description: 'the name of a parameter, whose value the caller gives' },
  },
  required: ['param'],
  additionalProperties: false,
};

/** A schema of more characters has each repeated piece once, which is smaller and harder to read. */
const LARGE_SCHEMA = 20_000;

/** The JSON Schema (2020-12) of a row, as it is written to its file. */
export function schemaText(row: SchemaRow): string {
  const text = formatPieces(row, row.schema === policySchema ? 'ref' : 'inline');
  return text.length > LARGE_SCHEMA ? formatPieces(row, 'ref') : text;
}

function formatPieces(
  { name, version, title, description, schema }: SchemaRow,
  reused: 'inline' | 'ref',
): string {
  const isPolicy = schema === policySchema;
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    reused,
    override({ zodSchema, jsonSchema }) {
      if (!isPolicy) return;
      // Editors complete the values; a later release can have more.
      if (isOneOf(zodSchema, CODES)) jsonSchema.enum = Object.keys(catalogue);
      if (isOneOf(zodSchema, RULE_NAMES)) jsonSchema.enum = [...RULE_IDS];
      if (!isOneOf(zodSchema, PARAMETRIC)) return;
      const { description: meaning, ...value } = jsonSchema;
      for (const member of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, member);
      Object.assign(jsonSchema, {
        ...(meaning !== undefined && { description: meaning }),
        anyOf: [value, PARAM],
      });
    },
  });
  const head = { $schema, $id: `urn:drillproof:schema:${name}:v${version}`, title, description };
  const document = { ...head, ...rest };
  if (isPolicy) describeRules(document);
  return `${formatJson(document)}\n`;
}

const LINE_WIDTH = 120;

/** Writes a value on one line if it fits. */
function formatJson(value: unknown, indent = ''): string {
  const line = JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ');
  if (typeof value !== 'object' || value === null || indent.length + line.length <= LINE_WIDTH) return line;
  const deeper = `${indent}  `;
  const rows = Object.entries(value).map(
    ([name, member]) =>
      `\n${deeper}${Array.isArray(value) ? '' : `${JSON.stringify(name)}: `}${formatJson(member, deeper)}`,
  );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}${rows.join()}\n${indent}${close}`;
}

const CODES: ReadonlySet<unknown> = new Set([knownCodeSchema, waivableSchema]);
const RULE_NAMES: ReadonlySet<unknown> = new Set([ruleSchema]);

const SECTION_WORDS: Readonly<Record<string, string>> = {
  signers: 'the keys that signed every bundle',
  age: 'how old statements and runs may be',
  scope: 'whose evidence it is',
  drills: 'the runs that must be present',
  completeness: 'the list of bundles, and its window and numbers',
  localReports: 'archives that users uploaded',
  findings: 'what the verification reports',
};

type JsonSchema = {
  description?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
};

/** Describes the members of rules by what a pass of the rule states. */
function describeRules(document: object): void {
  const { properties = {}, $defs = {} } = document as JsonSchema & {
    $defs?: Readonly<Record<string, JsonSchema>>;
  };
  const resolve = (schema: JsonSchema): JsonSchema => {
    const target = $defs[schema.$ref?.split('/').at(-1) ?? ''];
    return target === undefined ? schema : resolve(target);
  };
  for (const [name, schema] of Object.entries(properties)) {
    schema.description ??= SECTION_WORDS[name] ?? 'see docs/gate/policy.md';
    for (const branch of [resolve(schema), ...(resolve(schema).anyOf ?? []).map(resolve)])
      for (const [member, inner] of Object.entries(branch.properties ?? {})) {
        const rule = `${name}.${member}`;
        if (isRule(rule)) inner.description ??= RULES[rule].title;
      }
  }
  // The sets have the same sections.
  for (const { properties: members = {} } of Object.values($defs))
    for (const [member, schema] of Object.entries(members))
      if (Object.hasOwn(SECTION_WORDS, member)) schema.description ??= SECTION_WORDS[member] ?? '';
}
