import { digestOf } from '../bytes/hash.ts';
import { evidenceExportIdSchema } from '../contract/index.ts';
import { DrillproofError } from '../errors.ts';
import { CHECKSUMS, parseChecksums } from '../evidence/export/checksums.ts';
import {
  DEFAULT_LIMITS,
  EXPORT_ATTESTATION,
  EXPORT_MANIFEST,
  EXPORT_RESOURCE,
  parseExportManifest,
  parseExportResource,
  readFile,
} from '../evidence/index.ts';
import { isReceiptFile, parseReceipt } from '../evidence/export/receipt.ts';
import type { VerifyOptions } from '../verify/index.ts';
import { attestedSubject } from '../verify/export/attested-manifest.ts';
import type { ScrubView } from './place.ts';

/** Which export a mirror is of, under which manifest. */
export type Identity = {
  readonly evidenceExportId: string;
  readonly manifestDigest: string;
  /** A project through which it can be read, where a file of the mirror names one. */
  readonly projectId?: string;
};

/** What a file of a mirror says of it. */
type Witness = {
  readonly manifestDigest: string;
  readonly evidenceExportId?: string;
  readonly projectId?: string | undefined;
};
type Reader = (bytes: Uint8Array) => Witness | undefined;

/**
 * Decides which manifest is the right one of a mirror that may be damaged anywhere, its manifest included: the one that
 * the caller expects, else the one that a trusted key attests, else the one that more of the mirror's own files speak of
 * than of any other. It never guesses: where files contradict each other one to one, nothing is decided.
 * @throws DrillproofError `scrub.MANIFEST_UNDECIDABLE`
 */
export async function decideManifest(
  view: ScrubView,
  name: string,
  verify: VerifyOptions,
  expectManifest: string | undefined,
): Promise<Identity> {
  const witnesses = await hear(view);
  const evidenceExportId = mostNamed([...ids(witnesses), ...idIn(name)]);
  if (evidenceExportId === undefined) throw undecidable('nothing here tells which export it is');
  const ofIt = witnesses.filter((one) => (one.evidenceExportId ?? evidenceExportId) === evidenceExportId);
  const attested = await read(view, EXPORT_ATTESTATION, (bytes) => attestedSubject(bytes, verify));
  // An attestation of another export is sound, and says nothing about this one.
  const signed = attested?.evidenceExportId === evidenceExportId ? attested.manifestDigest : undefined;
  const manifestDigest = expectManifest ?? signed ?? mostNamed(ofIt.map((one) => one.manifestDigest));
  const projectId = ofIt.find((one) => one.projectId !== undefined)?.projectId;
  if (manifestDigest !== undefined)
    return { evidenceExportId, manifestDigest, ...(projectId !== undefined && { projectId }) };
  throw undecidable('the files of the mirror speak of no manifest, or contradict each other');
}

const ids = (witnesses: readonly Witness[]): string[] =>
  witnesses.flatMap((one) => (one.evidenceExportId === undefined ? [] : [one.evidenceExportId]));
const idIn = (name: string): string[] => (evidenceExportIdSchema.safeParse(name).success ? [name] : []);

const READERS: readonly (readonly [path: string, read: Reader])[] = [
  [
    EXPORT_MANIFEST,
    (bytes) => {
      const { evidenceExportId, scope, parts, localReports } = parseExportManifest(bytes);
      const [row] = [...parts, ...localReports];
      const projectId = scope.kind === 'project' ? scope.projectId : row?.projectId;
      return { manifestDigest: digestOf(bytes), evidenceExportId, projectId };
    },
  ],
  [
    EXPORT_RESOURCE,
    (bytes) => {
      const { evidenceExportId, manifestDigest, scope } = parseExportResource(bytes);
      const projectId = scope.kind === 'project' ? scope.projectId : undefined;
      return manifestDigest === undefined ? undefined : { evidenceExportId, manifestDigest, projectId };
    },
  ],
  [
    CHECKSUMS,
    (bytes) => {
      const row = parseChecksums(bytes).find(({ path }) => path === EXPORT_MANIFEST);
      return row === undefined ? undefined : { manifestDigest: row.digest };
    },
  ],
];

async function hear(view: ScrubView): Promise<Witness[]> {
  const receipts = [...view.files.keys()].filter(isReceiptFile).map((path) => [path, parseReceipt] as const);
  const heard: Witness[] = [];
  for (const [path, parse] of [...READERS, ...receipts]) {
    const witness = await read(view, path, parse);
    if (witness !== undefined) heard.push(witness);
  }
  return heard;
}

// What cannot be read, or is broken, says nothing.
async function read<T>(
  view: ScrubView,
  path: string,
  parse: (bytes: Uint8Array) => T,
): Promise<T | undefined> {
  if (view.files.get(path)?.regular !== true) return undefined;
  try {
    return parse(await readFile(view.source, path, DEFAULT_LIMITS.manifestBytes));
  } catch (error) {
    if (error instanceof DrillproofError) return undefined;
    throw error;
  }
}

/** What is named more often than anything else. */
function mostNamed(named: readonly string[]): string | undefined {
  const votes = new Map<string, number>();
  for (const one of named) votes.set(one, (votes.get(one) ?? 0) + 1);
  const [first, second] = [...votes].toSorted(([, a], [, b]) => b - a);
  return first !== undefined && first[1] > (second?.[1] ?? 0) ? first[0] : undefined;
}

const undecidable = (why: string): DrillproofError => new DrillproofError('scrub.MANIFEST_UNDECIDABLE', why);
