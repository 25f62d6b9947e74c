import { constants, createReadStream, openSync, readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import type { Bytes } from '../../../bytes/platform.ts';
import { closeAfter, collectBytes, once } from '../../../bytes/async.ts';
import { defined } from '../../../bytes/arguments.ts';
import { digestOf } from '../../../bytes/hash.ts';
import { fromUtf8 } from '../../../bytes/text/encoding.ts';
import type { Code } from '../../../codes/catalogue.ts';
import { DrillproofError, LimitError } from '../../../errors.ts';
import { ioError } from '../../../node/fs-errors.ts';
import { isS3Url } from '../../../node/s3/location.ts';
import { openEvidence, type OpenEvidence } from '../../../node/open-evidence.ts';
import { MAX_ENVELOPES } from '../../../verify/signature/dsse.ts';
import { type Cli, printNote } from '../../cli.ts';
import type { EvidenceOptions } from '../options/options.ts';
import { usageError } from '../options/values.ts';
import { DEFAULT_LIMITS } from '../../../evidence/document.ts';
import { type EvidenceSource, readFile } from '../../../evidence/source.ts';
import {
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
} from '../../../evidence/export/pack-export.ts';
import { parseExportAttestation } from '../../../evidence/bundle/attestation.ts';
import { parseExportManifest, parseExportResource } from '../../../evidence/export/manifest.ts';

/**
 * Reads keys, settings and lists as `readEvidenceInput` does. Too many bytes are a wrong call, and not bad evidence.
 * @throws DrillproofError `usage.INVALID` beyond `maxBytes`
 */
export const readInput = (path: string, maxBytes: number, cli: Cli): Promise<Uint8Array> =>
  readEvidenceInput(path, maxBytes, cli).catch((cause: unknown) => {
    throw cause instanceof LimitError ? usageError(cause.message, 'Name the file that you meant.') : cause;
  });

/**
 * Reads a file of limited size, or standard input for `-`. Pipes such as `<(…)` work too.
 * @throws DrillproofError `io.NOT_FOUND`, `io.KIND`, `io.UNREADABLE`; LimitError `json.TOO_LARGE` beyond `maxBytes`
 */
export async function readEvidenceInput(path: string, maxBytes: number, cli: Cli): Promise<Uint8Array> {
  const name = formatInputName(path);
  cli.inputs.add(path);
  const tooLarge = () => new LimitError('json.TOO_LARGE', `${name} has more than ${maxBytes} bytes`);
  try {
    return await collectBytes(await openInput(path, maxBytes, cli), maxBytes, tooLarge);
  } catch (cause) {
    cli.signal.throwIfAborted();
    throw ioError(cause, name, 'read');
  }
}

async function openInput(path: string, maxBytes: number, cli: Cli): Promise<Bytes> {
  if (path === '-') return endWithSignal(cli.stdin, cli);
  const stats = statSync(path, { throwIfNoEntry: false });
  // Files are read at once, because streams take milliseconds to load.
  if (stats?.isFile() === true && stats.size <= maxBytes) return once(readFileSync(path));
  return endWithSignal(await openStream(path, stats?.isFIFO() === true), cli);
}

/** Streams a file or FIFO. Opening a FIFO as a file would occupy a thread that no signal ends until a writer comes. */
async function openStream(path: string, isFifo: boolean): Promise<Readable> {
  if (!isFifo) return createReadStream(path, { highWaterMark: 262_144 });
  const { Socket } = await import('node:net');
  return new Socket({ fd: openSync(path, NO_WAIT), readable: true, writable: false });
}

/** Flags with which opening a FIFO does not wait for a writer. Windows lacks the second one. */
const NO_WAIT = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const endWithSignal = (stream: Bytes, { signal }: Cli): Bytes =>
  stream instanceof Readable ? addAbortSignal(signal, stream) : stream;

/** Above the limit of an envelope, so that a larger one becomes a finding. */
const MAX_ENVELOPE_BYTES = 16 * 1024 * 1024;
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

export async function readEnvelopes(cli: Cli, files: readonly string[]): Promise<readonly Uint8Array[]> {
  if (files.length > MAX_ENVELOPES)
    throw usageError(`${files.length} envelopes given with --dsse; the maximum is ${MAX_ENVELOPES}`);
  if (files.filter((file) => file === '-').length > 1)
    throw usageError('--dsse - is given twice, but standard input can be read only once');
  const envelopes: Uint8Array[] = [];
  let bytes = 0;
  for (const file of files) {
    const envelope = await readEvidenceInput(file, MAX_ENVELOPE_BYTES, cli);
    bytes += envelope.length;
    if (bytes > MAX_TOTAL_BYTES) throw usageError('the envelopes of --dsse have more than 256 MiB together');
    envelopes.push(envelope);
  }
  return envelopes;
}

const MAX_LIST_BYTES = 64 * 1024 * 1024;

/**
 * Reads the paths to verify, first those of the command line, then those of the list, each once.
 * @throws DrillproofError `usage.INVALID` without paths and without a list; what `readInput` throws
 */
export async function readPaths(
  cli: Cli,
  args: readonly string[],
  { list, null: byNull = false }: Pick<EvidenceOptions, 'list' | 'null'>,
): Promise<readonly string[]> {
  if (list === undefined && args.length === 0)
    throw usageError('no path was given', 'Name a path, or pass --list FILE.');
  const lines = list === undefined ? [] : parseNames(await readInput(list, MAX_LIST_BYTES, cli), byNull);
  for (const path of lines) cli.inputs.add(path);
  return removeRepeats(cli, [...args, ...lines]);
}

/** Parses names in lines or NUL-terminated, without empty ones. */
function parseNames(bytes: Uint8Array, byNull: boolean): readonly string[] {
  const text = fromUtf8(bytes);
  return text.split(byNull ? '\0' : /\r?\n/).filter((name) => name !== '');
}

async function removeRepeats(cli: Cli, paths: readonly string[]): Promise<readonly string[]> {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const place = isS3Url(path) ? path : resolve(path);
    if (seen.has(place)) await printNote(cli, `${path} is named more than once; it is verified once`);
    else seen.set(place, path);
  }
  return [...seen.values()];
}

export const formatInputName = (file: string): string => (file === '-' ? 'standard input' : file);

/**
 * Adds the name of a file to the errors of parsing its content.
 * @throws DrillproofError the errors of `read`, with their codes mapped by `codeOf`
 */
export function withFileName<T>(
  file: string,
  read: () => T,
  codeOf: (code: Code) => Code = (code) => code,
): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    const { path, details } = cause;
    throw new DrillproofError(codeOf(cause.code), `${formatInputName(file)}: ${cause.message}`, {
      cause,
      ...defined({ path, details }),
    });
  }
}

export const withEvidence = async <T>(
  { env }: Cli,
  path: string,
  work: (evidence: OpenEvidence) => Promise<T>,
): Promise<T> => closeAfter(await openEvidence(path, env), work);

export type ReadDocuments = Awaited<ReturnType<typeof readExportDocuments>>;

export async function readExportDocuments(source: EvidenceSource) {
  const files = await source.files();
  const has = (path: string): boolean => files.some((file) => file.path === path);
  if (!has(EXPORT_MANIFEST)) throw new DrillproofError('export.NOT_AN_EXPORT', 'manifest.json is missing');
  const bytes = await readFile(source, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes);
  const document = (path: string): Promise<Uint8Array> =>
    readFile(source, path, DEFAULT_LIMITS.documentBytes);
  return {
    manifest: parseExportManifest(bytes),
    manifestDigest: digestOf(bytes),
    resource: has(EXPORT_RESOURCE) ? parseExportResource(await document(EXPORT_RESOURCE)) : undefined,
    attestation: has(EXPORT_ATTESTATION)
      ? parseExportAttestation(await document(EXPORT_ATTESTATION))
      : undefined,
    files,
  };
}

export async function* readFileBytes(
  path: string,
  signal?: AbortSignal,
): Bytes & AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 262_144 })) {
      signal?.throwIfAborted();
      yield chunk as Uint8Array;
    }
  } catch (cause) {
    signal?.throwIfAborted();
    throw ioError(cause, path, 'read');
  }
}

/** Tells JSON objects from evidence, which never begins with a brace. */
export async function looksLikeJson(path: string): Promise<boolean> {
  const file = await open(path, NO_WAIT).catch(() => undefined); // opening it as evidence reports the error
  if (file === undefined) return false;
  return closeAfter(file, async () => {
    if (!(await file.stat()).isFile()) return false;
    const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, 0);
    return bytesRead === 1 && buffer.toString() === '{';
  });
}
