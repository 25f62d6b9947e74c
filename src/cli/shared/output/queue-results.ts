import * as z from 'zod';
import { type Code, codeEntry } from '../../../codes/index.ts';
import type { JobResult } from '../../../node/queue/index.ts';
import { codeSchema } from '../../../verify/index.ts';

const workerSchema = z.object({ worker: z.string() });
const failedSchema = z.object({
  code: codeSchema,
  message: z.string(),
  details: z.record(z.string(), z.unknown()).exactOptional(),
});

/** The workers that ended a piece of work, each once. */
export const workersOf = (results: readonly JobResult[]): string[] =>
  [...new Set(results.flatMap(({ output }) => workerSchema.safeParse(output).data?.worker ?? []))].toSorted();

export const isFailed = ({ state }: JobResult): boolean => state === 'failed' || state === 'cancelled';

/** Why a piece of work failed: what its last worker said, unless somebody else ended it. */
export function whyFailed({ state, output }: JobResult): {
  readonly code: Code;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
} {
  const told = state === 'failed' ? failedSchema.safeParse(output).data : undefined;
  if (told !== undefined) return told;
  const code = state === 'cancelled' ? 'queue.JOB_CANCELLED' : 'queue.WORKER_LOST';
  return { code, message: codeEntry(code).meaning };
}
