import type * as z from 'zod/mini';

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

export { formatSchema as schemaText } from '../../src/policy/document/document.ts';
