import * as z from 'zod';
import { permissions } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';
import { isDigest } from '../blobs/digest.ts';
import type { SqlRow } from './sql.ts';
import type { BlobRef } from './store.ts';

/** The typed value of a column; a value of another type means that something else wrote to the store. */
export function text(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw wrongType(column);
  return value;
}

export function integer(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrongType(column);
  return value;
}

/** `{ [name]: value }`, or nothing where the column is NULL. */
export function optionalInteger<N extends string>(
  row: SqlRow,
  column: string,
  name: N,
): { [K in N]?: number } {
  return row[column] === null ? {} : ({ [name]: integer(row, column) } as { [K in N]: number });
}

export const inProject = (row: SqlRow): { organizationId: string; projectId: string } => ({
  organizationId: text(row, 'organization_id'),
  projectId: text(row, 'project_id'),
});

/** A column of JSON, checked against its schema. */
export function json<S extends z.ZodType>(row: SqlRow, column: string, schema: S): z.output<S> {
  const parsed = schema.safeParse(JSON.parse(text(row, column)));
  if (!parsed.success) throw wrongType(column);
  return parsed.data;
}

export const projectListSchema = z.union([z.literal('all'), z.array(z.string())]);
export const permissionsSchema = z.array(z.enum(permissions));

/** The blob of the columns `<prefix>_digest` and `<prefix>_bytes`. */
export function blobRef(row: SqlRow, prefix: string): BlobRef {
  const digest = row[`${prefix}_digest`];
  if (!isDigest(digest)) throw wrongType(`${prefix}_digest`);
  return { digest, bytes: integer(row, `${prefix}_bytes`) };
}

/** `{ [prefix]: blob }`, or nothing where the columns are NULL. */
export function optionalBlobRef<N extends string>(row: SqlRow, prefix: N): { [K in N]?: BlobRef } {
  return row[`${prefix}_digest`] === null
    ? {}
    : ({ [prefix]: blobRef(row, prefix) } as { [K in N]: BlobRef });
}

const wrongType = (column: string): DrillproofError =>
  new DrillproofError('internal.BUG', `the column ${column} of the store holds another type`);
