import * as z from 'zod';
import { parseJson } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { typeDocument } from '../../evidence/index.ts';
import { archiveSchema } from './archive-schema.ts';
import { REPORT_LIMITS } from '../read-report.ts';
import { reportsSchema } from './reports-schema.ts';
import { scrubSchema } from './scrub-schema.ts';

/** Every product that says of many things what became of each. */
const mergeableSchema = z.discriminatedUnion('kind', [archiveSchema, reportsSchema, scrubSchema]);
export type Mergeable = z.infer<typeof mergeableSchema>;

/**
 * Reads a product that can be merged with others of its kind, strictly.
 * @throws DrillproofError `report.UNREADABLE` with the rules broken in `details.issues`
 */
export function readMergeable(bytes: Uint8Array, name: string): Mergeable {
  try {
    const value = parseJson(bytes, REPORT_LIMITS);
    return typeDocument(value, { schema: mergeableSchema, code: 'report.UNREADABLE' });
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const { message, path, details } = cause;
    throw new DrillproofError('report.UNREADABLE', `${name}: ${message}`, {
      cause,
      ...(path !== undefined && { path }),
      ...(details !== undefined && { details }),
    });
  }
}
