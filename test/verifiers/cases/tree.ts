import { digestOf } from '../../../src/bytes/hash.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { partPath, reportPath } from '../../../vectors/make/export.ts';
import { editBytes } from './json.ts';
import type { Random } from './random.ts';

export type Files = Readonly<Record<string, Uint8Array>>;

/** What a folder has: files, and paths of symbolic links and empty folders. */
export type Tree = {
  readonly files: Files;
  readonly links: readonly string[];
  readonly folders: readonly string[];
};

const NAMES = [
  'SHA256SUMS',
  'extra.txt',
  'parts/extra.zip',
  partPath(2),
  partPath(3),
  'parts/a/b.zip',
  'local-reports/extra.zip',
  reportPath(2),
  'receipts/20260101T000000.000Z-0123456789ab.json',
  'receipts/other.txt',
  '.drillproof-mirror/lock',
  '.drillproof-mirror/other',
  '.drillproof/scrub/a.jsonl',
  'MANIFEST.JSON',
  'export-attestation.json',
  'data/manifest.json',
] as const;

/** The files of an export after one of them was changed, exchanged, added or removed. */
export function editFiles(random: Random, files: Files): Files {
  const paths = Object.keys(files);
  const [path = 'manifest.json', other = path] = [random.choose(paths), random.choose(paths)];
  const { [path]: bytes = new Uint8Array(), ...rest } = files;
  const sums = paths.map((name) => `${digestOf(files[name]!).slice(7)}  ${name}\n`).toSorted();
  return random.pick<() => Files>([
    () => rest,
    () => ({ ...rest, [random.pick(NAMES)]: bytes }),
    () => ({ ...files, [random.pick(NAMES)]: bytes }),
    () => ({ ...files, [random.pick(NAMES)]: toUtf8(random.pick(['', '{}', 'text'])) }),
    () => ({ ...files, [path]: files[other]!, [other]: bytes }),
    () => ({ ...files, [path]: editBytes(random, bytes) }),
    () => ({ ...files, SHA256SUMS: toUtf8(sums.join('')) }),
    () => ({ ...files, SHA256SUMS: editBytes(random, toUtf8(sums.join(''))) }),
  ])();
}

const FOLDERS = [
  'empty',
  'parts/empty',
  'receipts',
  'parts',
  '.drillproof-mirror',
  '.drillproof-mirror/lease',
  'data',
] as const;

/** A folder with a symbolic link or an empty folder more, or in place of a file. */
export function editFolder(random: Random, tree: Tree): Tree {
  const { files, links, folders } = chooseFolder(random, tree);
  const isFree = (path: string): boolean => !Object.hasOwn(files, path);
  const freeLinks = new Set(links.filter(isFree));
  return {
    files,
    links: [...freeLinks],
    folders: folders.filter((path) => isFree(path) && !freeLinks.has(path)),
  };
}

function chooseFolder(random: Random, { files, links, folders }: Tree): Tree {
  const path = random.choose(Object.keys(files)) ?? 'manifest.json';
  const { [path]: _replaced, ...rest } = files;
  return random.pick<() => Tree>([
    () => ({ files: rest, links: [...links, path], folders }),
    () => ({ files: rest, links, folders: [...folders, path] }),
    () => ({
      files,
      links: [...links, random.pick(['link', 'parts/link.zip', 'SHA256SUMS', 'receipts/link'])],
      folders,
    }),
    () => ({ files, links, folders: [...folders, random.pick(FOLDERS)] }),
  ])();
}

const LINES = [
  'BagIt-Version: 0.97',
  'BagIt-Version: 1.1',
  'BagIt-Version:1.0',
  'bagit-version: 1.0',
  'Tag-File-Character-Encoding: utf-8',
  'Tag-File-Character-Encoding: ISO-8859-1',
  'Payload-Oxum: 1.1',
  'Payload-Oxum: 1',
  'Contact-Name: x',
  ' continued',
  'no colon',
  '',
  `${'0'.repeat(64)}  data/absent`,
  `${'0'.repeat(64)} ../x`,
  `${'0'.repeat(63)} data/manifest.json`,
] as const;

/** Lines of a tag file after one edit. */
function editLines(random: Random, lines: readonly string[]): string[] {
  const at = random.below(lines.length);
  const line = lines[at] ?? '';
  const edited = random.pick([
    line.replace(' ', '  '),
    line.replace(' ', '\t'),
    line.replace(' ', ' *'),
    line.replace(' ', ''),
    line.toUpperCase(),
    line.replace('data/', './data/'),
    line.replace('data/', 'DATA/'),
    line.replace('manifest', '%6Danifest'),
    line.replace('.json', '%2Ejson'),
    `${line}\r`,
    `${line} `,
    ` ${line}`,
    line.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)),
    random.pick(LINES),
  ]);
  return random
    .pick<() => string[]>([
      () => lines.toSpliced(at, 1, edited),
      () => lines.toSpliced(at, 1, edited),
      () => lines.toSpliced(at, 0, random.pick(LINES)),
      () => lines.toSpliced(at, 1),
      () => [...lines, line],
      () => lines.toReversed(),
    ])()
    .map((text) => `${text}\n`);
}

const TAG_FILES = ['bagit.txt', 'bag-info.txt', 'manifest-sha256.txt', 'tagmanifest-sha256.txt'] as const;
const OTHER_TAG_FILES = [
  'manifest-md5.txt',
  'manifest-sha512.txt',
  'tagmanifest-md5.txt',
  'fetch.txt',
  'other.txt',
] as const;

/** A bag after one edit of its tag files. */
export function editBag(random: Random, files: Files): Files {
  const name = random.pick(TAG_FILES);
  const { [name]: bytes = new Uint8Array(), ...rest } = files;
  const text = new TextDecoder().decode(bytes);
  const lines = text.split('\n').slice(0, -1);
  const edited = () => ({ ...files, [name]: toUtf8(editLines(random, lines).join('')) });
  return random.pick<() => Files>([
    edited,
    edited,
    edited,
    edited,
    () => ({
      ...files,
      [name]: toUtf8(random.pick([text.trimEnd(), text.replaceAll('\n', '\r\n'), `\ufeff${text}`, ''])),
    }),
    () => ({ ...files, [name]: editBytes(random, bytes) }),
    () => rest,
    () => ({ ...files, [random.pick(OTHER_TAG_FILES)]: bytes }),
    () => ({ ...rest, [random.pick(OTHER_TAG_FILES)]: bytes }),
  ])();
}
