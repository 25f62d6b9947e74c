import type { Digest } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import { type EvidenceSource, readFile, type SourceFile } from '../../evidence/source.ts';
import type { ExportManifest } from '../../evidence/export/manifest.ts';
import type { Settings } from '../options.ts';
import { irregularFinding } from '../part/listed-part.ts';

/** The subject of findings about the export itself. */
export const EXPORT = 'export';

export type Files = {
  readonly all: readonly SourceFile[];
  readonly byPath: ReadonlyMap<string, SourceFile>;
  /** Files that a mirror adds: checksums and receipts. */
  readonly mirror: readonly SourceFile[];
};

export type ExportContext = {
  readonly source: EvidenceSource;
  readonly settings: Settings;
  readonly files: Files;
};

export type ReadExportManifest = {
  readonly bytes?: number;
  readonly digest?: Digest;
  readonly document?: ExportManifest;
};

/** The bytes of a document of the export, or `undefined` if it is missing. */
export async function readDocument(
  { source, files }: ExportContext,
  path: string,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const file = files.byPath.get(path);
  if (file === undefined) return undefined;
  if (!file.regular)
    throw new DrillproofError('export.FILE_IRREGULAR', irregularFinding(EXPORT, file).message);
  return readFile(source, path, maxBytes);
}
