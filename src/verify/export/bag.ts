import { type Digest, digestAccess, digestOf } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import {
  BAG_DECLARATION,
  BAG_INFO,
  BAG_MANIFEST,
  BAG_MANIFEST_NAME,
  BAG_PAYLOAD,
  BAG_TAG_MANIFEST,
  bagDigest,
  type BagRow,
  type EvidenceSource,
  parseBagDeclaration,
  parseBagInfo,
  parseBagManifest,
  readFile,
  readWhole,
  type SourceFile,
} from '../../evidence/index.ts';
import { pathsOfWrongSize } from './files.ts';
import { EXPORT, type Export } from './state.ts';
import { finding, findingsOf } from '../finding.ts';
import { irregular } from '../part/listed-part.ts';
import type { BundleReport, Finding, LocalReportReport } from '../report.ts';

/** Digests of files of the export that were computed already, by path. */
export type Known = ReadonlyMap<string, Digest>;

/** A bag while it is checked: its files, and what was found. */
type Bag = {
  readonly source: EvidenceSource;
  readonly files: readonly SourceFile[];
  readonly known: Known;
  readonly state: Export;
  readonly found: Finding[];
};

/**
 * `export.bag`: the bag around an export is complete and valid (RFC 8493 §3). Parts and reports are not read a second
 * time: `known` holds their digests.
 */
export async function checkBag(state: Export, known: Known): Promise<void> {
  const { bag: source } = state.source;
  if (source === undefined) return;
  const files = await listed(state, source);
  if (files === undefined) return;
  const bag: Bag = { source, files, state, known, found: [] };
  const tags = files.filter(({ path }) => !path.startsWith(BAG_PAYLOAD));
  await checkDeclaration(bag);
  await checkPayload(bag, tags);
  await checkOxum(bag, tags);
  await checkTags(bag, tags);
  if (bag.found.length === 0 && pathsOfWrongSize(state.manifest, files, BAG_PAYLOAD).size > 0)
    return state.ledger.skipped('export.bag', 'not_checked', 'a file of the wrong size was not read');
  state.ledger.ran('export.bag', bag.found);
}

async function listed(
  { ledger }: Export,
  source: EvidenceSource,
): Promise<readonly SourceFile[] | undefined> {
  try {
    return (await source.files()).filter(({ folder }) => folder === undefined);
  } catch (error) {
    ledger.ran('export.bag', findingsOf(error, EXPORT));
    return undefined;
  }
}

/** The digests of parts and reports that were computed when they were judged. */
export function digestsOf(
  { manifest }: Export,
  parts: readonly BundleReport[],
  localReports: readonly LocalReportReport[],
): Known {
  const intact = new Set(localReports.filter(({ verdict }) => verdict === 'intact').map(({ path }) => path));
  const reports = (manifest?.localReports ?? []).filter(({ path }) => intact.has(path));
  return new Map([
    ...parts.flatMap(({ path, archive }) =>
      path === undefined || archive === undefined ? [] : [[path, archive.digest] as const],
    ),
    ...reports.map(({ path, digest }) => [path, digest as Digest] as const),
  ]);
}

async function checkDeclaration(bag: Bag): Promise<void> {
  await read(bag, BAG_DECLARATION, parseBagDeclaration);
}

/** Every manifest lists the whole payload; the SHA-256 one, which there has to be, is compared with the bytes. */
async function checkPayload(bag: Bag, tags: readonly SourceFile[]): Promise<void> {
  const names = manifestsAmong(tags, 'manifest-');
  if (!names.includes(BAG_MANIFEST)) {
    const message = `the bag has no ${BAG_MANIFEST}`;
    bag.found.push(finding('bag.UNSUPPORTED', EXPORT, { path: BAG_MANIFEST, message }));
  }
  for (const name of names) {
    const rows = await read(bag, name, parseBagManifest);
    if (rows === undefined) continue;
    checkSet(bag, name, rows);
    if (name === BAG_MANIFEST) await checkDigests(bag, rows);
  }
}

const manifestsAmong = (tags: readonly SourceFile[], prefix: string): string[] =>
  tags.map(({ path }) => path).filter((path) => path.startsWith(prefix) && BAG_MANIFEST_NAME.test(path));

function checkSet({ files, found }: Bag, name: string, rows: readonly BagRow[]): void {
  const present = new Set(files.map(({ path }) => path));
  const named = new Set(rows.map(({ path }) => path));
  for (const path of named) {
    if (!path.startsWith(BAG_PAYLOAD)) {
      const message = `${name} lists ${path}, which is no payload`;
      found.push(finding('bag.INVALID', EXPORT, { path: name, message }));
    } else if (!present.has(path)) {
      const message = `${path}, which ${name} lists, is not there`;
      found.push(finding('bag.PAYLOAD_MISSING', EXPORT, { path, message }));
    }
  }
  for (const path of present) {
    if (!path.startsWith(BAG_PAYLOAD) || named.has(path)) continue;
    found.push(finding('bag.PAYLOAD_EXTRA', EXPORT, { path, message: `${name} does not list ${path}` }));
  }
}

async function checkDigests(bag: Bag, rows: readonly BagRow[]): Promise<void> {
  const files = new Map(bag.files.map((file) => [file.path, file]));
  const wrong = pathsOfWrongSize(bag.state.manifest, bag.files, BAG_PAYLOAD);
  for (const row of rows) {
    const file = files.get(row.path);
    if (file === undefined || !row.path.startsWith(BAG_PAYLOAD)) continue; // reported by checkSet
    if (wrong.has(row.path)) continue; // reported for the part or local report
    if (file.regular) await compare(bag, row, 'bag.PAYLOAD_MISMATCH');
    else bag.found.push(irregular(EXPORT, file));
  }
}

async function compare(
  { source, state, known, found }: Bag,
  row: BagRow,
  code: 'bag.PAYLOAD_MISMATCH' | 'bag.TAG_MISMATCH',
): Promise<void> {
  const { path } = row;
  const expected = bagDigest(row);
  try {
    const inside = path.startsWith(BAG_PAYLOAD) ? known.get(path.slice(BAG_PAYLOAD.length)) : undefined;
    const actual = inside ?? (await digestOfFile(source, path, state));
    if (actual === expected) return;
    const message = `${path} has another digest than the bag lists`;
    found.push(finding(code, EXPORT, { path, message, expected, actual }));
  } catch (error) {
    state.settings.signal?.throwIfAborted();
    found.push(...findingsOf(error, EXPORT, path));
  }
}

async function digestOfFile(source: EvidenceSource, path: string, { settings }: Export): Promise<Digest> {
  const access = await source.open(path);
  try {
    // Nothing limits a payload that only the bag lists; tag files are documents.
    if (!path.startsWith(BAG_PAYLOAD))
      return digestOf(await readWhole(access, settings.limits.manifestBytes, path));
    return (await digestAccess(access, settings.signal)).digest;
  } finally {
    await access.close();
  }
}

async function checkOxum(bag: Bag, tags: readonly SourceFile[]): Promise<void> {
  if (!tags.some(({ path }) => path === BAG_INFO)) return;
  const stated = await read(bag, BAG_INFO, parseBagInfo);
  if (stated === undefined) return;
  const payload = bag.files.filter(({ path }) => path.startsWith(BAG_PAYLOAD));
  const actual = `${payload.reduce((sum, { bytes }) => sum + bytes, 0)}.${payload.length}`;
  const expected = `${stated.bytes}.${stated.files}`;
  if (actual === expected) return;
  const message = 'Payload-Oxum states other bytes or another number of files than lie in data/';
  bag.found.push(finding('bag.PAYLOAD_MISMATCH', EXPORT, { path: BAG_INFO, message, expected, actual }));
}

/** Tag manifests are optional; what they list has to be there, and what they do not list is said. */
async function checkTags(bag: Bag, tags: readonly SourceFile[]): Promise<void> {
  const names = manifestsAmong(tags, 'tagmanifest-');
  const present = new Set(tags.map(({ path }) => path));
  const named = new Set<string>();
  for (const name of names) {
    for (const row of (await read(bag, name, parseBagManifest)) ?? []) {
      named.add(row.path);
      await checkTag(bag, name, row, present);
    }
  }
  if (names.length === 0) return;
  for (const path of present) {
    if (named.has(path) || names.includes(path)) continue;
    bag.found.push(
      finding('bag.TAG_UNLISTED', EXPORT, { path, message: `no tag manifest of the bag lists ${path}` }),
    );
  }
}

async function checkTag(bag: Bag, name: string, row: BagRow, present: ReadonlySet<string>): Promise<void> {
  const { path } = row;
  if (path.startsWith(BAG_PAYLOAD) || path.startsWith('tagmanifest-')) {
    const message = `${name} lists ${path}, which is no tag file that it could list`;
    bag.found.push(finding('bag.INVALID', EXPORT, { path: name, message }));
  } else if (!present.has(path)) {
    const message = `${path}, which ${name} lists, is not there`;
    bag.found.push(finding('bag.TAG_MISSING', EXPORT, { path, message }));
  } else if (name === BAG_TAG_MANIFEST) {
    await compare(bag, row, 'bag.TAG_MISMATCH');
  }
}

/** A tag file, typed; `undefined` when it is not what it should be or cannot be read, which is among the findings. */
async function read<T>(bag: Bag, path: string, parse: (bytes: Uint8Array) => T): Promise<T | undefined> {
  const { source, state, found } = bag;
  try {
    return parse(await readFile(source, path, state.settings.limits.manifestBytes));
  } catch (error) {
    state.settings.signal?.throwIfAborted();
    found.push(...findingsOf(encodingAsRule(error), EXPORT, path));
    return undefined;
  }
}

// A tag file that is not text breaks the rules of bags like any other.
function encodingAsRule(error: unknown): unknown {
  if (!(error instanceof DrillproofError) || error.code !== 'encoding.UTF8_INVALID') return error;
  return new DrillproofError('bag.INVALID', 'it is not UTF-8', { cause: error });
}
