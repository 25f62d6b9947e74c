import { quoteShellWord } from '../../../report/printable.ts';
import { stat } from 'node:fs/promises';
import { digestAccess, digestOf } from '../../../bytes/hash.ts';
import { parseJson } from '../../../bytes/json/parse.ts';
import type { RandomAccess } from '../../../bytes/random-access.ts';
import { closeAfter } from '../../../bytes/async.ts';
import { DrillproofError } from '../../../errors.ts';
import { BUNDLE_MANIFEST, findEntry, readEntry } from '../../../evidence/bundle/part.ts';
import { DEFAULT_LIMITS, typeDocument } from '../../../evidence/document.ts';
import type { LocalReportFacts } from '../../../evidence/export/pack-export.ts';
import { openFile } from '../../../node/evidence/file-access.ts';
import { deriveId } from '../../../server/model/ids.ts';
import { type LocalReportMetadata, localReportMetadataSchema } from '../../../server/admin/local-report.ts';
import { openZip } from '../../../zip/read/open.ts';
import type { Cli } from '../../cli.ts';
import { withFileName, readInput } from './input.ts';
import { parseFileSpec } from '../options/options.ts';
import { usageError } from '../options/values.ts';

const MAX_METADATA_BYTES = 1024 * 1024;

/** A parsed `FILE[,meta=META.json][,project=ID]`. */
export type ReportSpec = { readonly file: string; readonly meta?: string; readonly project?: string };

export const parseReportSpec = (value: string): ReportSpec =>
  parseFileSpec(value, ['meta', 'project'], 'FILE, FILE,meta=META.json or FILE,project=ID');

export async function readReportMetadata(cli: Cli, path: string): Promise<LocalReportMetadata> {
  const bytes = await readInput(path, MAX_METADATA_BYTES, cli);
  const code = 'pack.INPUT_INVALID';
  return withFileName(
    path,
    () => typeDocument(parseJson(bytes), { schema: localReportMetadataSchema, code }),
    () => code,
  );
}

/**
 * Reads the facts of a local report. Without metadata, its id is derived from its digest, its time is that of the file,
 * and its claims come from the manifest.json of a ZIP archive.
 */
export async function readReportFacts(
  cli: Cli,
  spec: ReportSpec,
  onlyProject: string | undefined,
): Promise<LocalReportFacts> {
  const metadata = spec.meta === undefined ? undefined : await readReportMetadata(cli, spec.meta);
  const projectId = spec.project ?? onlyProject;
  if (projectId === undefined) {
    throw usageError(
      `the project of ${spec.file} is unknown`,
      `Write --report ${quoteShellWord(spec.file)},project=ID.`,
    );
  }
  return closeAfter(await openFile(spec.file), async (access) => {
    const { digest, bytes } = await digestAccess(access);
    const claims = metadata
      ? readClaims(metadata)
      : { ...(await readArchiveClaims(access)), createdAtMs: Math.floor((await stat(spec.file)).mtimeMs) };
    const localReportId = metadata?.localReportId ?? deriveId('lrep', projectId, digest);
    return { localReportId, projectId, digest, bytes, ...claims };
  });
}

type Claims = Pick<LocalReportFacts, 'manifestDigest' | 'expandedBytes'>;

const readClaims = ({
  manifestDigest,
  summary,
  createdAtMs,
}: LocalReportMetadata): Claims & { createdAtMs: number } => ({
  manifestDigest,
  expandedBytes: String(summary.expandedBytes),
  createdAtMs,
});

async function readArchiveClaims(access: RandomAccess): Promise<Claims> {
  try {
    const archive = await openZip(access);
    const entry = findEntry(archive, BUNDLE_MANIFEST);
    const expanded = archive.entries.reduce((sum, { bytes }) => sum + bytes, 0);
    if (entry !== undefined) {
      const manifestDigest = digestOf(await readEntry(archive, entry, DEFAULT_LIMITS.manifestBytes));
      return { manifestDigest, expandedBytes: String(expanded) };
    }
  } catch (error) {
    // A local report may be any file, but it must be readable.
    if (!(error instanceof DrillproofError) || error.code.startsWith('io.')) throw error;
  }
  const { digest } = await digestAccess(access);
  return { manifestDigest: digest, expandedBytes: String(access.size) };
}
