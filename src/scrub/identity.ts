import { collectBytes } from '../bytes/async.ts';
import { digestOf } from '../bytes/hash.ts';
import { evidenceExportIdSchema } from '../contract/scalars.ts';
import { DrillproofError } from '../errors.ts';
import { DEFAULT_LIMITS } from '../evidence/document.ts';
import { CHECKSUMS, parseChecksums } from '../evidence/export/checksums.ts';
import { EXPORT_ATTESTATION, EXPORT_MANIFEST, EXPORT_RESOURCE } from '../evidence/export/pack-export.ts';
import { isReceiptFile, parseReceipt } from '../evidence/export/receipt.ts';
import { parseExportManifest, parseExportResource } from '../evidence/export/manifest.ts';
import { readFile } from '../evidence/source.ts';
import type { MirrorClient } from '../mirror/replica.ts';
import { checkSubject } from '../verify/export/signing.ts';
import type { VerifyOptions } from '../verify/options.ts';
import type { ScrubPlace, ScrubView } from './options.ts';
import { ifReadable } from './result.ts';

/** The export and manifest of a mirror, and a project through which the source is read. */
export type Identity = {
  readonly evidenceExportId: string;
  readonly manifestDigest: string;
  readonly projectId: string;
};

/** The options that decide the identity of a damaged mirror. */
type Grounds = {
  readonly expectManifest?: string | undefined;
  /** The digest in the inventory, if it counts as a weaker ground. */
  readonly pinned?: string | undefined;
  readonly projectId?: string | undefined;
  readonly verify: VerifyOptions;
};

/** The ids in a document of a mirror. The document may be damaged, so it never decides the manifest. */
type Hint = {
  readonly path: string;
  readonly evidenceExportId: string;
  readonly projectId?: string | undefined;
  /** The digest of the manifest that a receipt names. */
  readonly manifestDigest?: string | undefined;
};

/**
 * Decides which manifest is right for a mirror that may be damaged anywhere: the one that the caller expects, else the
 * one that an attestation by a trusted key names. The attestation is that of the mirror or of the source; one that names
 * another export is ignored. No other file of the mirror counts, except with `pinned`: then the digest in the inventory
 * counts if receipts and SHA256SUMS agree with it.
 * @throws DrillproofError `scrub.MANIFEST_UNDECIDABLE`
 */
export async function decideIdentity(
  { name }: Pick<ScrubPlace, 'name'>,
  view: ScrubView,
  client: MirrorClient,
  { expectManifest, pinned, projectId: requestedProject, verify }: Grounds,
): Promise<Identity> {
  const hints = await readHints(view);
  const manifest = await readDocument(view, EXPORT_MANIFEST, digestOf);
  const exportOf = (digest: string | undefined): string | undefined =>
    (evidenceExportIdSchema.safeParse(name).success ? name : undefined) ??
    (manifest === digest
      ? hints.find(({ path }) => path === EXPORT_MANIFEST)?.evidenceExportId
      : undefined) ??
    hints[0]?.evidenceExportId;
  const projectId = requestedProject ?? hints.find((hint) => hint.projectId !== undefined)?.projectId;
  const guess = exportOf(expectManifest);
  if (guess === undefined) throw undecidableError('no file of the mirror names an export');
  if (projectId === undefined)
    throw undecidableError('no file of the mirror names a project. Pass --project ID.');
  if (expectManifest !== undefined)
    return { evidenceExportId: guess, manifestDigest: expectManifest, projectId };
  const attestations = [
    () => readDocument(view, EXPORT_ATTESTATION, (bytes) => bytes),
    () => fetchAttestation(client, { evidenceExportId: guess, projectId }),
  ];
  for (const read of attestations) {
    const bytes = await read();
    const subject = bytes === undefined ? undefined : checkSubject(bytes, verify);
    if (subject === undefined || subject.evidenceExportId !== exportOf(subject.manifestDigest)) continue;
    return { evidenceExportId: subject.evidenceExportId, manifestDigest: subject.manifestDigest, projectId };
  }
  if (pinned !== undefined) {
    const others = await readRecords(view, hints);
    const differs = others.find(({ digest }) => digest !== pinned);
    if (differs === undefined && others.length > 0)
      return { evidenceExportId: guess, manifestDigest: pinned, projectId };
    const why =
      differs === undefined ? 'no receipt and no SHA256SUMS can be read' : `${differs.path} differs`;
    throw undecidableError(`the inventory alone does not decide: ${why}`);
  }
  throw undecidableError(
    'no expected digest and no trusted attestation names the right manifest. ' +
      'Pass --expect-manifest DIGEST, --expect-list FILE, --trust FILE with a key that signed the export attestation, or the weaker --pin inventory.',
  );
}

async function readHints(view: ScrubView): Promise<Hint[]> {
  const receipts = [...view.files.keys()].filter(isReceiptFile).toReversed();
  const readers: readonly (readonly [path: string, parse: (bytes: Uint8Array) => Omit<Hint, 'path'>])[] = [
    [EXPORT_RESOURCE, readResourceHint],
    ...receipts.map((path) => [path, parseReceipt] as const),
    [EXPORT_MANIFEST, readManifestHint],
  ];
  const hints: Hint[] = [];
  for (const [path, parse] of readers) {
    const hint = await readDocument(view, path, parse);
    if (hint !== undefined) hints.push({ ...hint, path });
  }
  return hints;
}

/** Lists what the receipts and SHA256SUMS say about the manifest. A damaged one says nothing. */
async function readRecords(view: ScrubView, hints: readonly Hint[]) {
  const receipts = hints.filter(({ path }) => isReceiptFile(path));
  const sums = await readDocument(view, CHECKSUMS, parseChecksums);
  return [
    ...receipts.map(({ path, manifestDigest }) => ({ path, digest: manifestDigest })),
    ...(sums ?? [])
      .filter(({ path }) => path === EXPORT_MANIFEST)
      .map(({ digest }) => ({ path: CHECKSUMS, digest })),
  ];
}

function readResourceHint(bytes: Uint8Array): Omit<Hint, 'path'> {
  const { evidenceExportId, scope } = parseExportResource(bytes);
  return { evidenceExportId, projectId: scope.kind === 'project' ? scope.projectId : undefined };
}

function readManifestHint(bytes: Uint8Array): Omit<Hint, 'path'> {
  const { evidenceExportId, scope, parts, localReports } = parseExportManifest(bytes);
  const [row] = [...parts, ...localReports];
  return { evidenceExportId, projectId: scope.kind === 'project' ? scope.projectId : row?.projectId };
}

/** Reads a document of the mirror; `undefined` if it is missing, unreadable or damaged. */
async function readDocument<T>(
  view: ScrubView,
  path: string,
  parse: (bytes: Uint8Array) => T,
): Promise<T | undefined> {
  if (view.files.get(path)?.regular !== true) return undefined;
  return ifReadable(async () => parse(await readFile(view.source, path, DEFAULT_LIMITS.manifestBytes)));
}

const fetchAttestation = (
  client: MirrorClient,
  exportRef: Pick<Identity, 'evidenceExportId' | 'projectId'>,
): Promise<Uint8Array | undefined> =>
  ifReadable(async () => {
    const { body } = await client.download('evidence.exports.attestation', exportRef, {});
    return collectBytes(body, DEFAULT_LIMITS.documentBytes);
  });

const undecidableError = (why: string): DrillproofError =>
  new DrillproofError('scrub.MANIFEST_UNDECIDABLE', why);
