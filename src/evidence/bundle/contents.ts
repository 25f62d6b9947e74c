import type { RandomAccess } from '../../bytes/random-access.ts';
import { decodeText } from '../../bytes/text/encoding.ts';
import { DrillproofError } from '../../errors.ts';
import type { ZipArchive } from '../../zip/read/open.ts';
import type { ZipEntry } from '../../zip/read/entry.ts';
import { findEntry, readPartDocuments, readRunResult } from './part.ts';

/** The objects of a part of which a preview is read. */
const MAX_PREVIEWS = 20;
const PREVIEW_BYTES = 2048;
const PREVIEW_LINES = 12;
const LINE_CHARACTERS = 200;

/** The beginning of an object that is text, as lines that are not escaped. */
export type Preview = { readonly path: string; readonly lines: readonly string[]; readonly isWhole: boolean };

/** What a part contains, for people who look into it. Nothing is verified. */
export type PartContents = Awaited<ReturnType<typeof readPartContents>>;

/**
 * Reads the documents of a part, its run result, and the beginning of its texts. Objects that cannot be read are named.
 * @throws DrillproofError as `readPartDocuments`
 */
export async function readPartContents(access: RandomAccess) {
  const documents = await readPartDocuments(access);
  const { archive, manifest } = documents;
  const unreadable: DrillproofError[] = [];
  const attempt = <T>(read: () => Promise<T>): Promise<T | undefined> =>
    read().catch((error: unknown) => {
      if (!(error instanceof DrillproofError)) throw error;
      unreadable.push(error);
      return undefined;
    });
  const runResult = await attempt(() => readRunResult(documents));
  const previews: Preview[] = [];
  const others = manifest.objects.filter(({ role }) => role !== 'run-result');
  for (const { path } of others.slice(0, MAX_PREVIEWS)) {
    const entry = findEntry(archive, path);
    const start = entry && (await attempt(() => readBeginning(archive, entry)));
    const preview = start && readPreview(path, entry.bytes, start);
    if (preview !== undefined) previews.push(preview);
  }
  return { ...documents, runResult, previews, unreadable };
}

async function readBeginning(archive: ZipArchive, entry: ZipEntry): Promise<Uint8Array> {
  for await (const chunk of archive.read(entry)) return chunk.slice(0, PREVIEW_BYTES);
  return new Uint8Array();
}

function readPreview(path: string, bytes: number, start: Uint8Array): Preview | undefined {
  const text = decodeText(start);
  if (text === undefined || text === '') return undefined;
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const shown = lines.slice(0, PREVIEW_LINES).map((line) => line.slice(0, LINE_CHARACTERS));
  const isWhole = start.length === bytes && shown.join('\n') === lines.join('\n');
  return { path, lines: shown, isWhole };
}
