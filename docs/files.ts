import { codeClassesModule } from './make/code-classes.ts';
import { codesPage } from './make/codes-page.ts';
import { FORMAT_SCHEMAS } from './make/format-schemas.ts';
import { OUTPUT_SCHEMAS } from './make/output-schemas.ts';
import { POLICY_SCHEMAS } from './make/policy-schemas.ts';
import { schemasPage } from './make/schemas-page.ts';
import { schemaPath, schemaText } from './make/schema.ts';

/** Every published schema. */
export const SCHEMAS = [...FORMAT_SCHEMAS, ...OUTPUT_SCHEMAS, ...POLICY_SCHEMAS];

/** Every page, schema and module that is made from the code, with its text, by its path from `docs/`. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['codes.md', codesPage()],
    ['../src/codes/classes.ts', codeClassesModule()],
    ['formats/schemas.md', schemasPage()],
    ...SCHEMAS.map((row) => [schemaPath(row), schemaText(row)] as const),
  ]);
}
