import { count, countNoun } from '../bytes/text/wording.ts';
import {
  BYTES,
  checkArguments,
  listOf,
  OBJECT,
  recordOf,
  TEXT,
  withMembers,
  withMethods,
} from '../bytes/arguments.ts';
import { compareUtf8, decodeText, fromUtf8 } from '../bytes/text/encoding.ts';
import { memoryAccess, type RandomAccess, readExactly, forwardChecks } from '../bytes/random-access.ts';
import { closeAfter, collectBytes } from '../bytes/async.ts';
import { DrillproofError, LimitError } from '../errors.ts';
import { parseDsse } from '../trust/dsse.ts';
import { openZip, openZipOfFolder, type ZipArchive, type ZipNote } from '../zip/read/open.ts';
import { findEntry } from './bundle/part.ts';
import { EXPORT_MANIFEST, EXPORT_RESOURCE } from './export/pack-export.ts';

/** A file of an export; its path is relative to the root, with `/`. */
export type SourceFile = {
  readonly path: string;
  readonly bytes: number;
  /** False for a link, a device and a folder. */
  readonly regular: boolean;
  /** Set for an empty folder. The paths of files imply all other folders. */
  readonly folder?: true;
  /** The reason why the file or folder could not be examined, although its parent folder lists it. */
  readonly unreadable?: string;
  /** Differs if the file was replaced, as far as that can be seen without reading it. */
  readonly identity?: string;
};

export type OpenFile = RandomAccess & {
  /** Its descriptor, for other threads of this process. */
  readonly fd?: number;
  close(): Promise<void>;
};

/**
 * The files of an export in any storage (formats §1, Export). `memorySource`, `zipSource` and `directorySource` open one.
 */
export type EvidenceSource = {
  readonly kind: 'directory' | 'zip' | 'memory' | 's3';
  /**
   * Every file and every empty folder of the tree, sorted by UTF-8 bytes.
   * @throws DrillproofError `io.UNREADABLE` when a folder cannot be read
   */
  files(): Promise<readonly SourceFile[]>;
  /** @throws DrillproofError `io.NOT_FOUND`, `io.KIND` for what is not a regular file, `io.UNREADABLE` */
  open(path: string): Promise<OpenFile>;
  /**
   * For a tree in one file: reads all of it except the entries of these paths, returns notes about unusual metadata, and
   * throws the first fault, or the reason of an aborted signal.
   * @throws DrillproofError with a `zip.` code, `io.UNREADABLE`
   */
  checkContainer?(signal?: AbortSignal, except?: ReadonlySet<string>): Promise<readonly ZipNote[]>;
  /** The bytes of that one file: for a second reader, and because coverage counts all of them. */
  readonly container?: RandomAccess;
  /** For a tree that is the payload of a BagIt bag: the whole bag, tag files and `data/`. */
  readonly bag?: EvidenceSource;
};

export const SOURCE = withMethods('an EvidenceSource', 'files', 'open');

const comparePaths = (a: SourceFile, b: SourceFile): number => compareUtf8(a.path, b.path);
const notFoundError = (path: string): DrillproofError =>
  new DrillproofError('io.NOT_FOUND', `${path} does not exist`, { path });
const keepOpen = (access: RandomAccess): OpenFile => ({
  size: access.size,
  read: (offset, length) => access.read(offset, length),
  ...forwardChecks(access),
  close: () => Promise.resolve(),
});

/**
 * An export in memory, from its files by path (formats §1, Export). The bytes are not copied.
 * @throws TypeError for anything that is not an object
 * @example
 * const source = memorySource({ 'manifest.json': manifest, 'parts/evidence_000000000001.zip': bytes });
 * const report = await verifyExport(source, { asOfMs: Date.now() });
 */
export function memorySource(files: Readonly<Record<string, Uint8Array>>): EvidenceSource {
  checkArguments({ files: recordOf(BYTES) }, { files });
  const list = Object.entries(files).map(([path, bytes]) => ({ path, bytes: bytes.length, regular: true }));
  list.sort(comparePaths);
  return {
    kind: 'memory',
    files: () => Promise.resolve(list),
    async open(path) {
      const bytes = Object.hasOwn(files, path) ? files[path] : undefined;
      if (bytes === undefined) throw notFoundError(path);
      return keepOpen(memoryAccess(bytes));
    },
  };
}

const ARCHIVE = withMembers('a ZipArchive', {
  access: OBJECT,
  entries: listOf(withMembers('a ZipEntry', { name: TEXT })),
});

/**
 * The files of an export in one ZIP (formats §1, Export). Its entries are stored, so that each part can be read without
 * extracting it.
 * @throws TypeError for anything that is not the result of `openZip`
 * @example
 * const source = zipSource(await openZip(memoryAccess(await readFile('export.zip'))));
 */
export function zipSource(archive: ZipArchive): EvidenceSource {
  checkArguments({ archive: ARCHIVE }, { archive });
  const entries = new Map(archive.entries.map((entry) => [entry.name, entry]));
  const list = archive.entries.map((entry) => ({ path: entry.name, bytes: entry.bytes, regular: true }));
  list.sort(comparePaths);
  return {
    kind: 'zip',
    container: archive.access,
    files: () => Promise.resolve(list),
    async open(path) {
      const entry = entries.get(path);
      if (entry === undefined) throw notFoundError(path);
      if (entry.method !== 'store') {
        const message = `${path} is compressed; the entries of a one-file export are stored`;
        throw new DrillproofError('zip.METHOD_UNSUPPORTED', message, { path });
      }
      return keepOpen(archive.stored(entry));
    },
    async checkContainer(signal, except) {
      for (const entry of archive.entries) {
        if (except?.has(entry.name)) continue;
        // The CRC-32 is checked at the end of the stream.
        for await (const _ of archive.read(entry)) signal?.throwIfAborted();
      }
      return archive.notes;
    },
  };
}

/**
 * All bytes of a file that must be small.
 * @throws LimitError `json.TOO_LARGE` before anything is read
 */
export async function readWhole(access: RandomAccess, maxBytes: number, path: string): Promise<Uint8Array> {
  if (access.size > maxBytes)
    throw new LimitError(
      'json.TOO_LARGE',
      `the file has ${countNoun(access.size, 'byte')}, and the limit is ${count(maxBytes)}`,
      { path },
    );
  return Uint8Array.from(await readExactly(access, 0, access.size, path));
}

/** `readWhole` of a file of a source, which is closed afterwards. */
export async function readFile(source: EvidenceSource, path: string, maxBytes: number): Promise<Uint8Array> {
  return closeAfter(await source.open(path), (file) => readWhole(file, maxBytes, path));
}

type ZipEvidence<A extends RandomAccess> =
  | {
      readonly kind: 'export';
      readonly source: EvidenceSource;
      /** Absent for a ZIP that another program made from the folder of an export. */
      readonly archive?: ZipArchive;
    }
  | { readonly kind: 'part'; readonly access: A };

const EARLIER = 'It states an earlier result. Give the evidence that it is about, and verify that again.';
const WHOLE = 'Give the whole folder of the export, a ZIP of it, or the whole part archive.';

/** Kinds of files that people take for evidence: a pattern at their beginning, and where they belong. */
const OTHER_KINDS = {
  'a key': [
    /^-----BEGIN |^\s*\{[^[{]*"kty"\s*:/,
    'Give it as a key that you trust, next to the evidence (--key FILE,issuer=NAME).',
  ],
  'a trust store or a set of keys': [
    /^\s*\{[^[{]*"keys"\s*:\s*\[/,
    'Give it as the keys that you trust, next to the evidence (--trust FILE).',
  ],
  'a signed envelope': [
    /^\s*\{[^{]*"(?:payload(?:Type)?|signatures)"\s*:/,
    'Give an envelope about evidence next to that evidence (--dsse FILE).',
  ],
  'a report of drillproof': [
    /^\s*\{\s*"schemaVersion"\s*:\s*1\s*,\s*"kind"\s*:\s*"(?:export|bundle|reports|scrub|decision|report-\w+|receipts|attestation|tool-source)"/,
    EARLIER,
  ],
  'a page in HTML': [/^\s*<(?:!doctype\s+html|html)/i, EARLIER],
  'a policy': [
    /^(?:\s|#[^\n]*\n)*(?:[$\w]+:[^]*\n)?kind:\s*policy\b|^\s*\{[^{[]*"kind"\s*:\s*"policy"/,
    'A gate evaluates it about evidence (drillproof gate EVIDENCE --policy FILE).',
  ],
  'an export.json alone': [/^\s*\{[^[]*"evidenceExportId"[^[]*"operationId"\s*:/, WHOLE],
  'a manifest.json alone': [/^\s*\{[^]*"kind"\s*:\s*"evidence\.(?:export|bundle)"/, WHOLE],
  'an attestation alone': [/^\s*\{[^{[]*"signature"\s*:[^{[]*"statement"\s*:/, WHOLE],
} as const;

/** Kinds of signed envelopes, by the predicate type of their statement. */
const ENVELOPES = {
  'an attestation in an envelope': [
    /^urn:drillproof:attestation:(?:evidence|export):/,
    'Give it next to the evidence that it is about, as an envelope (--dsse FILE).',
  ],
  'a verification summary': [
    /^https:\/\/slsa\.dev\/verification_summary\//,
    'It states the answer of a gate, and the command verifies it (drillproof vsa verify FILE).',
  ],
  'a signed report': [
    /^urn:drillproof:attestation:report:/,
    'It states an earlier result, and is verified without the evidence (drillproof report verify FILE).',
  ],
} as const;

/** Kinds that no part has, even if it is damaged: those of readable text. */
const TEXTS = {
  'an empty file': [/^$/, WHOLE],
  'a JSON document': [/^\s*[[{]/, WHOLE],
  'a text file': [/^/, WHOLE],
} as const;

export type OtherKind = keyof typeof OTHER_KINDS | keyof typeof ENVELOPES;
type Kind = OtherKind | keyof typeof TEXTS;
const KINDS: Readonly<Record<Kind, readonly [RegExp, string]>> = { ...OTHER_KINDS, ...ENVELOPES, ...TEXTS };

/** Bytes in which a pattern is looked for. */
const HEAD_BYTES = 4096;

/** Recognizes the kind of a file that is not evidence by its first bytes. */
export function recognizeKind(start: Uint8Array): OtherKind | undefined {
  const text = new TextDecoder().decode(start.subarray(0, HEAD_BYTES));
  const kind = findKind(OTHER_KINDS, text);
  return kind === 'a signed envelope' ? (findKind(ENVELOPES, readPredicateType(start)) ?? kind) : kind;
}

/** Recognizes readable text. The signature of a ZIP has control characters, and so have damaged archives. */
function recognizeText(start: Uint8Array): keyof typeof TEXTS | undefined {
  const text = decodeText(start);
  return text === undefined ? undefined : findKind(TEXTS, text);
}

const findKind = <K extends string>(
  kinds: Readonly<Record<K, readonly [RegExp, string]>>,
  text: string,
): K | undefined => (Object.keys(kinds) as K[]).find((kind) => kinds[kind][0].test(text));

/** The predicate type of a whole envelope; empty for anything else. */
function readPredicateType(envelope: Uint8Array): string {
  try {
    const statement: unknown = JSON.parse(fromUtf8(parseDsse(envelope).payload));
    return String(Reflect.get(Object(statement), 'predicateType'));
  } catch {
    return '';
  }
}

/** Bytes that are enough for `recognizeKind`: those of a whole envelope about evidence. */
export const START_BYTES = 2 ** 20;

/** The error for a file of another kind, with the place where it belongs. */
export const otherKindError = (name: string, kind: Kind): DrillproofError =>
  refuse(name, kind, KINDS[kind][1]);

const refuse = (name: string, kind: string, hint: string): DrillproofError =>
  new DrillproofError('export.NOT_AN_EXPORT', `${name} is ${kind}, not evidence`, { details: { hint } });

const BUILD = 'It contains what the drills ran. Give an export or a part, which contain what they recorded.';
const PACKED_AGAIN = 'Unpack it, and give the folder of one export.';
/** A document of an export, in the root or inside one folder. */
const DOCUMENT = /^([^/]+\/|)(?:manifest|export)\.json$/;
/** Files that Finder and Explorer add. */
const ADDED = /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;
/** Compressed files are unpacked in memory up to this size. */
const UNPACKED_BYTES = 256 * 2 ** 20;

/**
 * The files of an export in a ZIP that another program made from its folder: with folders, or inside one. The
 * digests of the manifest cover them as in a folder, and nothing covers the other bytes of the ZIP.
 * @throws DrillproofError `export.NOT_AN_EXPORT` for none or several exports, or for anything next to the folder
 */
async function openPackedFolder(access: RandomAccess, name: string): Promise<EvidenceSource> {
  const archive = await openZipOfFolder(access).catch((cause: unknown) => {
    if (!(cause instanceof DrillproofError) || !cause.code.startsWith('zip.')) throw cause;
    throw refuse(name, `a ZIP of another program (${cause.code})`, PACKED_AGAIN);
  });
  const entries = archive.entries.filter((entry) => !ADDED.test(entry.name));
  const roots = new Set(entries.flatMap((entry) => DOCUMENT.exec(entry.name)?.[1] ?? []));
  const [root = ''] = roots;
  if (roots.size !== 1 || !entries.every((entry) => entry.name.startsWith(root)))
    throw refuse(name, 'a ZIP of several folders or other files', PACKED_AGAIN);
  const byPath = new Map(entries.map((entry) => [entry.name.slice(root.length), entry]));
  const list = Array.from(byPath, ([path, { bytes }]) => ({ path, bytes, regular: true })).toSorted(
    comparePaths,
  );
  return {
    kind: 'zip',
    container: access,
    files: () => Promise.resolve(list),
    async open(path) {
      const entry = byPath.get(path);
      if (entry === undefined) throw notFoundError(path);
      if (entry.method === 'store') return keepOpen(archive.stored(entry));
      if (entry.bytes <= UNPACKED_BYTES)
        return keepOpen(memoryAccess(await collectBytes(archive.read(entry), UNPACKED_BYTES)));
      throw new LimitError('zip.SIZE_EXCEEDED', `${path} is compressed and too large to unpack in memory`, {
        path,
        details: { hint: PACKED_AGAIN },
      });
    },
  };
}

/**
 * Opens the file of this name as an export or a part. A damaged ZIP is opened as a part, so that verification reports
 * what is wrong with it. Only for files that the caller gives as evidence: a part in an export is never refused.
 * @throws DrillproofError `io.UNREADABLE`, `io.CHANGED`; `export.NOT_AN_EXPORT` for text and for a file of another
 *   known kind
 */
export async function openZipEvidence<A extends RandomAccess>(
  access: A,
  name: string,
  recognize: (start: Uint8Array) => Kind | undefined = (start) =>
    recognizeKind(start) ?? recognizeText(start),
): Promise<ZipEvidence<A>> {
  const archive = await openZip(access).catch(async (error: unknown) => {
    if (!(error instanceof DrillproofError) || !error.code.startsWith('zip.')) throw error;
    if (error.code === 'zip.ENTRY_KIND' && error.path?.endsWith('/') === true) return 'folders';
    const kind = recognize(await readExactly(access, 0, Math.min(access.size, START_BYTES), name));
    if (kind === undefined) return undefined;
    throw otherKindError(name, kind);
  });
  if (archive === undefined) return { kind: 'part', access };
  if (archive !== 'folders') {
    if (isBuild(archive)) throw refuse(name, 'a build archive', BUILD);
    if (isExport(archive)) return { kind: 'export', source: zipSource(archive), archive };
    if (!isInFolder(archive)) return { kind: 'part', access };
  }
  return { kind: 'export', source: await openPackedFolder(access, name) };
}

const isInFolder = (archive: ZipArchive): boolean =>
  findEntry(archive, EXPORT_MANIFEST) === undefined &&
  archive.entries.some(({ name }) => DOCUMENT.test(name));

const isBuild = (archive: ZipArchive): boolean =>
  findEntry(archive, 'build.json') !== undefined && findEntry(archive, EXPORT_MANIFEST) === undefined;

/** Both kinds contain a manifest.json; only an export also has export.json, parts/ or local-reports/. */
function isExport(archive: ZipArchive): boolean {
  if (findEntry(archive, EXPORT_RESOURCE) !== undefined) return true;
  return archive.entries.some(({ name }) => name.startsWith('parts/') || name.startsWith('local-reports/'));
}

/** @throws DrillproofError `export.NOT_AN_EXPORT` for a folder of this name with none of the files of an export */
export function assertExportFiles(name: string, files: readonly SourceFile[]): void {
  if (files.some(({ path }) => isExportPath(path))) return;
  const message =
    files.length === 0 ? `${name} is empty` : `no manifest.json, export.json or parts/ in ${name}`;
  throw new DrillproofError('export.NOT_AN_EXPORT', message, { path: name });
}

/** True for the paths that show that a tree is an export. */
export const isExportPath = (path: string): boolean =>
  path === EXPORT_MANIFEST || path === EXPORT_RESOURCE || path.startsWith('parts/');
