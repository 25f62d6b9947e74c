import { closeAfter } from '../../bytes/async.ts';
import { type Digest, digestAccess, digestOf } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import {
  BAG_DECLARATION,
  BAG_INFO,
  BAG_MANIFEST,
  BAG_MANIFEST_NAME,
  BAG_PAYLOAD,
  BAG_TAG_MANIFEST,
  formatBagDigest,
  type BagRow,
  parseBagDeclaration,
  parseBagInfo,
  parseBagManifest,
} from '../../evidence/export/checksums.ts';
import { isWorkFile } from '../../evidence/export/receipt.ts';
import { type EvidenceSource, readFile, type SourceFile } from '../../evidence/source.ts';
import type { ExportManifest } from '../../evidence/export/manifest.ts';
import { finding, findingsOf } from '../finding.ts';
import type { Settings } from '../options.ts';
import { irregularFinding } from '../part/listed-part.ts';
import { endCheck, NOTHING, recordCheck, type Step } from '../step.ts';
import { EXPORT, type ExportContext } from './context.ts';
import { listWrongSizes } from './files.ts';
import type { Finding } from '../report.ts';

type Bag = {
  readonly source: EvidenceSource;
  readonly settings: Settings;
  readonly files: readonly SourceFile[];
  readonly tags: readonly SourceFile[];
  /** Paths of the payload whose size is not that in the export manifest. */
  readonly wrongSize: ReadonlySet<string>;
  /** Digests that were computed already, by path in the export. */
  readonly digests: ReadonlyMap<string, Digest>;
};

/**
 * `export.bag`: the bag around an export is complete and valid (RFC 8493 §3).
 * @param digests the digests of parts and reports, which are not read a second time
 */
export async function checkBag(
  { source: { bag: source }, settings }: ExportContext,
  manifest: ExportManifest | undefined,
  digests: ReadonlyMap<string, Digest>,
): Promise<Step> {
  if (source === undefined) return NOTHING;
  let files;
  try {
    files = (await source.files()).filter(({ folder }) => folder === undefined);
  } catch (error) {
    return recordCheck('export.bag', findingsOf(error, EXPORT));
  }
  const outside = files.filter(({ path }) => !path.startsWith(BAG_PAYLOAD) && !isWorkFile(path));
  const tags = outside.filter(({ regular }) => regular);
  const wrongSize = listWrongSizes(manifest, files, BAG_PAYLOAD);
  const bag = { source, settings, files, tags, wrongSize, digests };
  const findings = [
    ...outside.filter(({ regular }) => !regular).map((file) => irregularFinding(EXPORT, file)),
    ...(await readTag(bag, BAG_DECLARATION, parseBagDeclaration)).findings,
    ...(await checkPayload(bag)),
    ...(await checkOxum(bag)),
    ...(await checkTags(bag)),
  ];
  if (findings.length === 0 && wrongSize.size > 0)
    return endCheck('export.bag', 'not_checked', 'a file of the wrong size was not read');
  return recordCheck('export.bag', findings);
}

/** Every manifest must list the whole payload. The SHA-256 manifest, which is required, is compared with the bytes. */
async function checkPayload(bag: Bag): Promise<Finding[]> {
  const findings: Finding[] = [];
  const names = listManifests(bag.tags, 'manifest-');
  if (!names.includes(BAG_MANIFEST)) {
    const message = `the bag has no ${BAG_MANIFEST}`;
    findings.push(finding('bag.UNSUPPORTED', EXPORT, { path: BAG_MANIFEST, message }));
  }
  for (const name of names) {
    const { value: rows, findings: faults } = await readTag(bag, name, parseBagManifest);
    findings.push(...faults);
    if (rows === undefined) continue;
    for (const entry of checkSet(bag, name, rows)) findings.push(entry);
    if (name === BAG_MANIFEST) for (const entry of await checkDigests(bag, rows)) findings.push(entry);
  }
  return findings;
}

const listManifests = (tags: readonly SourceFile[], prefix: string): string[] =>
  tags.map(({ path }) => path).filter((path) => path.startsWith(prefix) && BAG_MANIFEST_NAME.test(path));

function checkSet({ files }: Bag, name: string, rows: readonly BagRow[]): Finding[] {
  const findings: Finding[] = [];
  const present = new Set(files.map(({ path }) => path));
  const named = new Set(rows.map(({ path }) => path));
  for (const path of named) {
    if (!path.startsWith(BAG_PAYLOAD)) {
      const message = `${name} lists ${path}, which is not payload`;
      findings.push(finding('bag.INVALID', EXPORT, { path: name, message }));
    } else if (!present.has(path)) {
      const message = `${path}, which ${name} lists, is missing`;
      findings.push(finding('bag.PAYLOAD_MISSING', EXPORT, { path, message }));
    }
  }
  for (const path of present) {
    if (!path.startsWith(BAG_PAYLOAD) || named.has(path)) continue;
    findings.push(finding('bag.PAYLOAD_EXTRA', EXPORT, { path, message: `${name} does not list ${path}` }));
  }
  return findings;
}

async function checkDigests(bag: Bag, rows: readonly BagRow[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const files = new Map(bag.files.map((file) => [file.path, file]));
  for (const row of rows) {
    const file = files.get(row.path);
    if (file === undefined || !row.path.startsWith(BAG_PAYLOAD)) continue; // reported by checkSet
    if (bag.wrongSize.has(row.path)) continue; // reported for the part or local report
    if (file.regular) findings.push(...(await compareDigest(bag, row, 'bag.PAYLOAD_MISMATCH')));
    else findings.push(irregularFinding(EXPORT, file));
  }
  return findings;
}

async function compareDigest(
  { source, settings, digests }: Bag,
  row: BagRow,
  code: 'bag.PAYLOAD_MISMATCH' | 'bag.TAG_MISMATCH',
): Promise<Finding[]> {
  const { path } = row;
  const expected = formatBagDigest(row);
  try {
    const computed = path.startsWith(BAG_PAYLOAD) ? digests.get(path.slice(BAG_PAYLOAD.length)) : undefined;
    const actual = computed ?? (await digestFile(source, path, settings));
    if (actual === expected) return [];
    const message = `the digest of ${path} does not match the bag`;
    return [finding(code, EXPORT, { path, message, expected, actual })];
  } catch (error) {
    settings.signal?.throwIfAborted();
    return findingsOf(error, EXPORT, path);
  }
}

async function digestFile(
  source: EvidenceSource,
  path: string,
  { limits, signal }: Settings,
): Promise<Digest> {
  // Tag files are documents, which have a limit. A payload file that only the bag lists has none.
  if (!path.startsWith(BAG_PAYLOAD)) return digestOf(await readFile(source, path, limits.manifestBytes));
  return closeAfter(await source.open(path), async (file) => (await digestAccess(file, signal)).digest);
}

async function checkOxum(bag: Bag): Promise<readonly Finding[]> {
  if (!bag.tags.some(({ path }) => path === BAG_INFO)) return [];
  const { value: stated, findings } = await readTag(bag, BAG_INFO, parseBagInfo);
  if (stated === undefined) return findings;
  const payload = bag.files.filter(({ path }) => path.startsWith(BAG_PAYLOAD));
  const actual = `${payload.reduce((sum, { bytes }) => sum + bytes, 0)}.${payload.length}`;
  const expected = `${stated.bytes}.${stated.files}`;
  if (actual === expected) return [];
  const message = 'Payload-Oxum does not match the bytes and the number of files in data/';
  return [finding('bag.PAYLOAD_MISMATCH', EXPORT, { path: BAG_INFO, message, expected, actual })];
}

/** Tag manifests are optional. Files that they list must exist, and tag files that none lists are reported. */
async function checkTags(bag: Bag): Promise<Finding[]> {
  const findings: Finding[] = [];
  const names = listManifests(bag.tags, 'tagmanifest-');
  const present = new Set(bag.tags.map(({ path }) => path));
  const named = new Set<string>();
  for (const name of names) {
    const { value: rows = [], findings: faults } = await readTag(bag, name, parseBagManifest);
    findings.push(...faults);
    for (const row of rows) {
      named.add(row.path);
      findings.push(...(await checkTag(bag, name, row, present)));
    }
  }
  if (names.length === 0) return findings;
  for (const path of present) {
    if (named.has(path) || names.includes(path)) continue;
    const message = `no tag manifest of the bag lists ${path}`;
    findings.push(finding('bag.TAG_UNLISTED', EXPORT, { path, message }));
  }
  return findings;
}

async function checkTag(
  bag: Bag,
  name: string,
  row: BagRow,
  present: ReadonlySet<string>,
): Promise<Finding[]> {
  const { path } = row;
  if (path.startsWith(BAG_PAYLOAD) || path.startsWith('tagmanifest-')) {
    const message = `${name} lists ${path}, which is not a tag file that it may list`;
    return [finding('bag.INVALID', EXPORT, { path: name, message })];
  }
  if (!present.has(path)) {
    const message = `${path}, which ${name} lists, is missing`;
    return [finding('bag.TAG_MISSING', EXPORT, { path, message })];
  }
  return name === BAG_TAG_MANIFEST ? compareDigest(bag, row, 'bag.TAG_MISMATCH') : [];
}

/** Parses a tag file; there is no value if it is invalid or cannot be read. */
async function readTag<T>(
  { source, settings }: Bag,
  path: string,
  parse: (bytes: Uint8Array) => T,
): Promise<{ readonly value?: T; readonly findings: readonly Finding[] }> {
  try {
    return { value: parse(await readFile(source, path, settings.limits.manifestBytes)), findings: [] };
  } catch (error) {
    settings.signal?.throwIfAborted();
    return { findings: findingsOf(toBagError(error), EXPORT, path) };
  }
}

// A tag file that is not text is an invalid tag file.
function toBagError(error: unknown): unknown {
  if (!(error instanceof DrillproofError) || error.code !== 'encoding.UTF8_INVALID') return error;
  return new DrillproofError('bag.INVALID', 'it is not UTF-8', { cause: error });
}
