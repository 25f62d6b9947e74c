import { defined, type JsonValue, parseJson } from '../../bytes/index.ts';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { digestSchema, runResultSchema } from '../../contract/index.ts';
import { typeDocument } from '../../evidence/index.ts';
import { DrillproofError } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';

const MAX_BYTES = 64 * 1024 * 1024;

const counter = z.int();
export const runFileSchema = z.strictObject({
  evidenceBundleId: z.string(),
  organizationId: z.string(),
  projectId: z.string(),
  hostedRunId: z.string(),
  rerunOfHostedRunId: z.string().exactOptional(),
  runId: z.string(),
  createdAtMs: z.int(),
  runResult: z.union([z.string(), z.looseObject({})]).exactOptional(),
  original: z
    .strictObject({ trial: counter, trialCount: counter, attempt: counter, attemptLimit: counter })
    .exactOptional(),
});

// The hashes of the roles are filled in while packing where RUN.json leaves them out.
export const runFileResultSchema = runResultSchema.extend({
  stateHash: digestSchema.exactOptional(),
  evidenceHash: digestSchema.exactOptional(),
  trajectoryHash: digestSchema.exactOptional(),
});

type RunFacts = Omit<z.infer<typeof runFileSchema>, 'runResult' | 'original'>;
export type RunFile = {
  readonly facts: RunFacts;
  readonly runResult?: z.infer<typeof runFileResultSchema>;
  readonly original?: z.infer<typeof runFileSchema>['original'];
  /** The files of the description itself, as absolute paths: they are no objects of the bundle. */
  readonly ownFiles: ReadonlySet<string>;
};

/**
 * Reads the description of a run for `pack`.
 * @throws DrillproofError `pack.INPUT_INVALID` with `details.issues`, and what reading and parsing throw
 */
export async function readRunFile(cli: Cli, path: string): Promise<RunFile> {
  const { runResult, original, ...facts } = typed(path, await readJson(cli, path), runFileSchema);
  const ownFiles = new Set([resolve(path)]);
  const common = { facts, ...defined({ original }) };
  if (runResult === undefined) return { ...common, ownFiles };
  if (typeof runResult !== 'string') {
    return { ...common, ownFiles, runResult: typed(`${path}, runResult`, runResult, runFileResultSchema) };
  }
  const resultPath = resolve(path === '-' ? '.' : dirname(path), runResult);
  const value = await readJson(cli, resultPath);
  return {
    ...common,
    ownFiles: ownFiles.add(resultPath),
    runResult: typed(runResult, value, runFileResultSchema),
  };
}

async function readJson(cli: Cli, path: string): Promise<JsonValue> {
  const bytes = await readInput(path, MAX_BYTES, cli);
  try {
    return parseJson(bytes, { maxBytes: MAX_BYTES });
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    throw new DrillproofError('pack.INPUT_INVALID', `${path}: ${cause.message}`, { cause });
  }
}

function typed<T>(path: string, value: unknown, wanted: z.ZodType<T>): T {
  try {
    return typeDocument(value, { schema: wanted, code: 'pack.INPUT_INVALID' });
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const where = cause.path === undefined || cause.path === '' ? path : `${path}, ${cause.path}`;
    throw new DrillproofError(cause.code, `${where}: ${cause.message}`, {
      cause,
      ...(cause.details && { details: cause.details }),
    });
  }
}
