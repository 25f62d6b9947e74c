import { readdir } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { compareUtf8 } from '../../bytes/text/encoding.ts';
import { defined } from '../../bytes/arguments.ts';
import { type JsonValue, parseJson } from '../../bytes/json/parse.ts';
import { digestSchema } from '../../contract/scalars.ts';
import { runResultSchema } from '../../contract/resources/run.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import { typeDocument } from '../../evidence/document.ts';
import { ioError } from '../../node/fs-errors.ts';
import type { Cli } from '../cli.ts';
import { withFileName, readInput } from '../shared/input/input.ts';

const MAX_BYTES = 64 * 1024 * 1024;

const counter = z.int();
export const runFileSchema = z.strictObject({
  evidenceBundleId: z.string(),
  organizationId: z.string(),
  projectId: z.string(),
  hostedRunId: z.string(),
  rerunOfHostedRunId: z.exactOptional(z.string()),
  runId: z.string(),
  createdAtMs: z.int(),
  runResult: z.exactOptional(z.union([z.string(), z.looseObject({})])),
  original: z.exactOptional(
    z.strictObject({ trial: counter, trialCount: counter, attempt: counter, attemptLimit: counter }),
  ),
});

// Packing computes the hashes of roles that RUN.json omits.
export const runFileResultSchema = z.extend(runResultSchema, {
  stateHash: z.exactOptional(digestSchema),
  evidenceHash: z.exactOptional(digestSchema),
  trajectoryHash: z.exactOptional(digestSchema),
});

type RunFacts = Omit<z.infer<typeof runFileSchema>, 'runResult' | 'original'>;
export type RunFile = {
  readonly facts: RunFacts;
  readonly runResult?: z.infer<typeof runFileResultSchema>;
  readonly original?: z.infer<typeof runFileSchema>['original'];
  /** Absolute paths of the description and the result, which are not objects of the bundle. */
  readonly ownFiles: ReadonlySet<string>;
};

export async function readRunFile(cli: Cli, path: string): Promise<RunFile> {
  const { runResult, original, ...facts } = typeInput(path, await readJson(cli, path), runFileSchema);
  const ownFiles = new Set([resolve(path)]);
  const common = { facts, ownFiles, ...defined({ original }) };
  if (runResult === undefined) return common;
  if (typeof runResult !== 'string')
    return { ...common, runResult: typeInput(`${path}, runResult`, runResult, runFileResultSchema) };
  const resultPath = resolve(path === '-' ? '.' : dirname(path), runResult);
  ownFiles.add(resultPath);
  const value = await readJson(cli, resultPath);
  return { ...common, runResult: typeInput(runResult, value, runFileResultSchema) };
}

async function readJson(cli: Cli, path: string): Promise<JsonValue> {
  const bytes = await readInput(path, MAX_BYTES, cli);
  const parse = () => parseJson(bytes, { maxBytes: MAX_BYTES });
  return withFileName(path, parse, () => 'pack.INPUT_INVALID');
}

const typeInput = <T>(path: string, value: unknown, schema: z.ZodMiniType<T>): T =>
  withFileName(path, () => typeDocument(value, { schema, code: 'pack.INPUT_INVALID' }));

const MAX_FILES = 100_000;

/** Lists every file below a folder with `/` in its path, sorted by UTF-8 bytes. */
export async function listFilesBelow(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  const pending = [''];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const entry of await list(join(folder, at))) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isFile()) files.push(path);
      else throw new DrillproofError('io.KIND', `${path} is neither a regular file nor a folder`, { path });
      if (files.length + pending.length > MAX_FILES) {
        throw new LimitError('bundle.OBJECTS_EXCEEDED', `more than ${MAX_FILES} files in ${folder}`);
      }
    }
  }
  return files.toSorted(compareUtf8);
}

async function list(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (cause) {
    throw ioError(cause, folder, 'read');
  }
}

const BY_EXTENSION = new Map(
  Object.entries({
    '.css': 'text/css',
    '.csv': 'text/csv',
    '.gif': 'image/gif',
    '.htm': 'text/html',
    '.html': 'text/html',
    '.jpeg': 'image/jpeg',
    '.jpg': 'image/jpeg',
    '.js': 'text/javascript',
    '.json': 'application/json',
    '.jsonl': 'application/x-ndjson',
    '.log': 'text/plain',
    '.md': 'text/markdown',
    '.mp4': 'video/mp4',
    '.ndjson': 'application/x-ndjson',
    '.pdf': 'application/pdf',
    '.png': 'image/png',
    '.svg': 'image/svg+xml',
    '.txt': 'text/plain',
    '.webm': 'video/webm',
    '.webp': 'image/webp',
    '.xml': 'application/xml',
    '.zip': 'application/zip',
  }),
);

/** The media type of a file by its extension (default: `application/octet-stream`). */
export const findMediaType = (path: string): string =>
  BY_EXTENSION.get(extname(path).toLowerCase()) ?? 'application/octet-stream';
