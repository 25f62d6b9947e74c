import { defined } from '../../bytes/arguments.ts';
import { digestOf } from '../../bytes/hash.ts';
import { fromUtf8 } from '../../bytes/text/encoding.ts';
import { closeAfter } from '../../bytes/async.ts';
import { MAX_TOOL_SOURCE_BYTES, type ToolSource } from '../../contract/resources/build.ts';
import type { LockedPackage } from '../../evidence/build-lock.ts';
import { findEntry, readEntry } from '../../evidence/bundle/part.ts';
import type { ZipArchive } from '../../zip/read/open.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { openBuild } from '../builds/check-build.ts';
import { Refusal, notFound } from '../http/envelope.ts';
import type { Principal } from '../http/tokens.ts';
import type { BuildRow, Store } from '../store/store.ts';
import { readVisible } from './handler.ts';

type ToolRef = { readonly projectId: string; readonly buildHash: string; readonly packageId: string };

const corruptError = (part: string): Refusal =>
  new Refusal('control.STORED_BYTES_CORRUPT', `the stored build does not match: ${part}`);

const TOO_LARGE = `the source has more than ${MAX_TOOL_SOURCE_BYTES} bytes of UTF-8`;

async function readSource(archive: ZipArchive, locked: LockedPackage): Promise<Uint8Array> {
  const entry = findEntry(archive, locked.source);
  if (entry !== undefined && entry.bytes > MAX_TOOL_SOURCE_BYTES)
    throw new Refusal('control.TOOL_SOURCE_TOO_LARGE', TOO_LARGE);
  const bytes = entry && (await readEntry(archive, entry, MAX_TOOL_SOURCE_BYTES));
  if (bytes === undefined || digestOf(bytes) !== locked.artifactHash)
    throw corruptError('the source of the package');
  return bytes;
}

function buildToolSource(build: BuildRow, locked: LockedPackage, source: Uint8Array): ToolSource {
  const { packageId, version, manifestHash, artifactHash, ui } = locked;
  const { archive: _archive, ...ids } = build;
  return {
    schemaVersion: 1,
    ...ids,
    packageId,
    version,
    manifestHash,
    artifactHash,
    implementation: { kind: 'javascript', source: fromUtf8(source), bytes: source.length },
    ...defined({ ui }),
  };
}

/**
 * Reads the source of a locked package from the stored build archive. The archive is not imported, executed or extracted,
 * and every call verifies the bytes against the lock again (control API, tools/source).
 */
export async function readToolSource(
  { store, blobs }: { readonly store: Store; readonly blobs: Blobs },
  principal: Principal,
  { projectId, buildHash, packageId }: ToolRef,
): Promise<ToolSource> {
  const build = await readVisible(principal, projectId, () => store.builds.find(projectId, buildHash));
  if (build.archive === undefined)
    throw new Refusal('control.BUILD_NOT_AVAILABLE', 'the build has no archive');
  return closeAfter(await blobs.open(build.archive.digest), async (blob) => {
    const { archive, lock, ...opened } = await openBuild(blob.access());
    if (opened.buildHash !== buildHash) throw corruptError('build.json');
    const locked = lock.packages.find((candidate) => candidate.packageId === packageId);
    if (locked === undefined) throw notFound();
    return buildToolSource(build, locked, await readSource(archive, locked));
  });
}
