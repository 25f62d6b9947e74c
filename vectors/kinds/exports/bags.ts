import type { Code } from '../../../src/codes/catalogue.ts';
import { sha256Of, utf8 } from '../../make/bytes.ts';
import { type Files, makeExport, partPath } from '../../make/export.ts';
import { type Case, type Input, UNATTESTED, filesOf, judge } from './case.ts';

const DECLARATION = 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n';
const NONE = '0'.repeat(64);

const manifestOf = (files: Files): string =>
  Object.keys(files)
    .toSorted()
    .map((path) => `${sha256Of(files[path]!).slice('sha256:'.length)}  ${path}\n`)
    .join('');

const payloadOf = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, bytes]) => [`data/${path}`, bytes]));

type Tags = Readonly<Record<string, string | undefined>>;

/** A bag around an export; tag files can be changed or left out, and the tag manifest covers what they were. */
function bag(changes: Tags = {}, files: Files = makeExport().files): Pick<Input, 'files'> {
  const payload = payloadOf(files);
  const bytes = Object.values(payload).reduce((sum, one) => sum + one.length, 0);
  const tags: Files = {
    'bagit.txt': utf8(DECLARATION),
    'bag-info.txt': utf8(`Payload-Oxum: ${bytes}.${Object.keys(payload).length}\n`),
    'manifest-sha256.txt': utf8(manifestOf(payload)),
  };
  const whole: Files = { ...tags, 'tagmanifest-sha256.txt': utf8(manifestOf(tags)) };
  const changed = Object.entries({ ...whole, ...changes }).flatMap(([path, content]) =>
    content === undefined ? [] : [[path, typeof content === 'string' ? utf8(content) : content] as const],
  );
  return { files: filesOf({ ...payload, ...Object.fromEntries(changed) }) };
}

/** The same with a different payload manifest, and no tag manifest that would show it. */
const listing = (edit: (manifest: string) => string): Pick<Input, 'files'> =>
  bag({
    'manifest-sha256.txt': edit(manifestOf(payloadOf(makeExport().files))),
    'tagmanifest-sha256.txt': undefined,
  });

const broken = (
  id: string,
  input: Pick<Input, 'files' | 'irregular'>,
  comment: string,
  ...codes: Code[]
): Case => judge(id, input, { result: 'failed', codes: [UNATTESTED, ...codes] }, 'Bag', comment);

const line = (path: string): RegExp =>
  new RegExp(`^[0-9a-f]{64}(  data/${path.replaceAll('.', '\\.')})$`, 'm');

export const bags = (): Case[] => [
  judge(
    'bag-tags-empty',
    bag({ 'tagmanifest-sha256.txt': '' }),
    { result: 'verified', codes: [UNATTESTED, 'bag.TAG_UNLISTED'] },
    'Bag',
    'a tag manifest without lines',
  ),
  broken(
    'bag-link',
    { ...bag(), irregular: ['link'] },
    'a link next to the payload, which a reader could follow',
    'export.FILE_IRREGULAR',
  ),
  judge('bag', bag(), { result: 'verified', codes: [UNATTESTED] }, 'Bag', 'an export in a bag'),
  judge(
    'bag-older',
    bag({
      'bagit.txt': 'BagIt-Version: 0.97\r\nTag-File-Character-Encoding: UTF-8\r\n',
      'tagmanifest-sha256.txt': undefined,
      'bag-info.txt': undefined,
    }),
    { result: 'verified', codes: [UNATTESTED] },
    'Bag',
    'version 0.97, without the optional tag files',
  ),
  judge(
    'bag-tag-unlisted',
    bag({ 'notes.txt': 'hello\n' }),
    { result: 'verified', codes: [UNATTESTED, 'bag.TAG_UNLISTED'] },
    'Bag',
    'a file next to data/ that no tag manifest lists',
  ),
  broken(
    'bag-declaration',
    bag({ 'bagit.txt': 'a bag\n', 'tagmanifest-sha256.txt': undefined }),
    'no declaration',
    'bag.INVALID',
  ),
  broken(
    'bag-version',
    bag({ 'bagit.txt': DECLARATION.replace('1.0', '2.0'), 'tagmanifest-sha256.txt': undefined }),
    'a version to come',
    'bag.UNSUPPORTED',
  ),
  broken(
    'bag-no-manifest',
    bag({ 'manifest-sha256.txt': undefined, 'tagmanifest-sha256.txt': undefined }),
    'no SHA-256 manifest',
    'bag.UNSUPPORTED',
  ),
  broken(
    'bag-climbs',
    listing((text) => `${text}${NONE}  data/../../passwd\n`),
    'a path that leads out of the bag',
    'bag.INVALID',
  ),
  broken(
    'bag-payload-missing',
    listing((text) => `${text}${NONE}  data/gone.txt\n`),
    'a listed file that is not there',
    'bag.PAYLOAD_MISSING',
  ),
  broken(
    'bag-payload-extra',
    listing((text) => text.replace(/^.*data\/export\.json\n/m, '')),
    'a file that the manifest does not list',
    'bag.PAYLOAD_EXTRA',
  ),
  broken(
    'bag-payload-mismatch',
    listing((text) => text.replace(line(partPath(1)), `${NONE}$1`)),
    'another digest for a sound part',
    'bag.PAYLOAD_MISMATCH',
  ),
  broken(
    'bag-info-line',
    bag({ 'bag-info.txt': 'Payload-Ox\n', 'tagmanifest-sha256.txt': undefined }),
    'a line without a colon',
    'bag.INVALID',
  ),
  broken(
    'bag-oxum',
    bag({ 'bag-info.txt': 'Payload-Oxum: 1.1\n', 'tagmanifest-sha256.txt': undefined }),
    'another number of bytes and files',
    'bag.PAYLOAD_MISMATCH',
  ),
  broken(
    'bag-tag-missing',
    bag({ 'bag-info.txt': undefined }),
    'a listed tag file that is not there',
    'bag.TAG_MISSING',
  ),
  broken(
    'bag-tag-mismatch',
    bag({ 'bag-info.txt': 'Contact-Name: M\n' }),
    'a tag file edited',
    'bag.TAG_MISMATCH',
  ),
  broken(
    'bag-forged',
    bag({}, { ...makeExport().files, [partPath(1)]: utf8('another part') }),
    'a sound bag around a part that was replaced',
    'part.BYTES_MISMATCH',
  ),
];
