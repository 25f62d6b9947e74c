import { chmod, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json/parse.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { DrillproofError } from '../../errors.ts';
import { errnoOf, ioError } from '../../node/fs-errors.ts';
import { writeDurably, writeNewFile } from '../../node/durable-file.ts';

// Data folders and blob stores record their version, so that other versions of the program refuse them.
const KIND = 'drillproof-data';
const VERSION = 1;
const markerSchema = z.object({ kind: z.literal(KIND), schemaVersion: z.int() });

export const MARKER_NAME = `${KIND}.json`;
export const MAX_MARKER_BYTES = 4096;

export const markerBytes = (): Uint8Array =>
  toUtf8(`${JSON.stringify({ kind: KIND, schemaVersion: VERSION })}\n`);

function tryParse(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes, { maxBytes: MAX_MARKER_BYTES });
  } catch {
    return undefined;
  }
}

/** Checks the marker of a data folder or a blob store. */
export function assertMarker(bytes: Uint8Array, place: string): void {
  const { data } = markerSchema.safeParse(tryParse(bytes));
  if (data?.schemaVersion === VERSION) return;
  const reason =
    data === undefined
      ? `holds a ${MARKER_NAME} that is malformed`
      : `has data of version ${data.schemaVersion}, this program knows version ${VERSION}`;
  throw new DrillproofError('server.CONFIG_INVALID', `${place} ${reason}`);
}

const writeMarker = (folder: string): Promise<void> =>
  writeDurably(join(folder, MARKER_NAME), (temporary) => writeNewFile(temporary, [markerBytes()], 0o600));

const OTHERS = 0o077;
const WRITABLE_BY_ALL = 0o002;

const openFolderError = (folder: string, reason: string): DrillproofError =>
  new DrillproofError('server.CONFIG_INVALID', `${folder} is open to other users of this machine: ${reason}`);

/** Removes the rights of others on an existing folder, because its content signs upload addresses. */
async function keepFolderPrivate(folder: string): Promise<void> {
  const { mode, uid } = await stat(folder);
  if ((mode & OTHERS) === 0 || process.platform === 'win32') return;
  if (uid === process.getuid?.()) {
    const names = await readdir(folder);
    // It might be a folder of the system, such as /tmp.
    if (names.length > 0 && !names.includes(MARKER_NAME))
      throw openFolderError(folder, 'it holds other files. Pass another folder, or run chmod 700');
    return chmod(folder, mode & 0o7700);
  }
  // This user may have access only through the group; the files themselves are readable by their owner only.
  if ((mode & WRITABLE_BY_ALL) !== 0)
    throw openFolderError(folder, 'all may write, and another user owns it. Run chmod 700 as its owner');
}

/**
 * Creates and marks a data folder for its owner only. An existing folder must have this version, and loses the rights
 * of others.
 * @throws DrillproofError `server.CONFIG_INVALID`, `io.READ_ONLY`, `io.DISK_FULL`, `io.KIND`, `io.UNREADABLE`
 */
export async function claimFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await keepFolderPrivate(folder);
    assertMarker(await readFile(join(folder, MARKER_NAME)), folder);
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw folderError(cause, folder);
    await writeMarker(folder).catch((error: unknown) => {
      throw folderError(error, folder);
    });
  }
}

// `mkdir` fails with EEXIST for a file of that name.
const folderError = (cause: unknown, folder: string): DrillproofError =>
  errnoOf(cause) === 'EEXIST'
    ? new DrillproofError('io.KIND', `${folder} is not a folder`, { path: folder, cause })
    : ioError(cause, folder, 'write');
