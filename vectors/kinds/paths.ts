import * as z from 'zod/mini';
import type { Flag } from '../flags.ts';
import { accepts, plainlyValidSchema, refused, VALID, type Kind, type VectorCase } from '../kind.ts';

const inputSchema = z.strictObject({
  paths: z.array(z.string()).check(z.describe('the paths of one tree, in order')),
});
const expectedSchema = accepts(plainlyValidSchema);
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;

const good = (id: string, paths: readonly string[], flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: { paths: [...paths] },
  expected: VALID,
});
const bad = (id: string, path: string, flag: Flag, comment: string): Case => ({
  ...good(id, [path], flag, comment),
  expected: refused('zip.NAME_INVALID'),
});
const twins = (id: string, a: string, b: string, comment: string): Case => ({
  ...good(`twins-${id}`, [a, b], 'PathTwin', comment),
  expected: refused('zip.ENTRY_DUPLICATE'),
});

const DEVICES = [
  'con',
  'PRN',
  'Aux',
  'nul',
  'COM0',
  'com1',
  'COM9',
  'com\u00b9',
  'LPT0',
  'lpt1',
  'LPT\u00b3',
  'conin$',
  'CONOUT$',
];

const portable = (): Case[] => [
  good('file', ['objects/state.json'], 'Portable', 'a file in a folder'),
  good('deep', ['a/b/c/d/e/f'], 'Portable', 'folders'),
  good('dot-first', ['.hidden/.file'], 'Portable', 'segments that begin with a dot'),
  good('dots-inside', ['a..b/c.d.e'], 'Portable', 'dots inside segments'),
  good('spaces-inside', ['a b/c d.txt'], 'Portable', 'spaces inside segments'),
  good('space-first', [' a'], 'Portable', 'a space at the beginning of a segment'),
  good(
    'unicode',
    ['objets/été/日本語/😀.txt'],
    'Portable',
    'letters of every script in normalization form C',
  ),
  good('device-inside', ['console/nulls/com10/lpt.txt'], 'DeviceName', 'words that begin like devices'),
  good('device-after-dot', ['a.con/x.nul'], 'DeviceName', 'devices as extensions'),
  good('at-limit', ['a'.repeat(1024)], 'Length', '1,024 bytes'),
  good('at-limit-multibyte', ['é'.repeat(512)], 'Length', '1,024 bytes in 512 characters'),
  good('characters', [`a!#$%&'()+,-;=@[]^_\`{}~`], 'Portable', 'punctuation'),
];

const refusals = (): Case[] => [
  bad('empty', '', 'EmptySegment', 'no path'),
  bad('absolute', '/etc/passwd', 'AbsolutePath', 'from the root'),
  bad('two-solidi-first', '//server/share', 'AbsolutePath', 'a network path'),
  bad('solidus-last', 'a/', 'EmptySegment', 'a folder'),
  bad('two-solidi', 'a//b', 'EmptySegment', 'an empty segment'),
  bad('dot', '.', 'DotSegment', 'the folder itself'),
  bad('dot-segment', 'a/./b', 'DotSegment', 'a second name of a/b'),
  bad('parent', '..', 'PathTraversal', 'the folder above'),
  bad('parent-first', '../a', 'PathTraversal', 'out of the tree'),
  bad('parent-inside', 'a/../../b', 'PathTraversal', 'out of the tree through a folder'),
  bad('parent-last', 'a/..', 'PathTraversal', 'back to the root'),
  bad('backslash', 'a\\b', 'Backslash', 'a folder on Windows, a name elsewhere'),
  bad('backslash-parent', '..\\a', 'PathTraversal', 'out of the tree on Windows'),
  bad('unc', '\\\\server\\share', 'Backslash', 'a network path on Windows'),
  bad('drive', 'C:/a', 'Colon', 'a drive'),
  bad('drive-relative', 'c:a', 'Colon', 'the present folder of a drive'),
  bad('stream', 'a.txt:hidden', 'Colon', 'an alternate data stream of NTFS'),
  bad('url', 'file:///etc/passwd', 'Colon', 'an address'),
  bad('nul', 'a\u0000b', 'ControlCharacter', 'NUL, where C ends'),
  bad('nul-extension', 'a.zip\u0000.txt', 'ControlCharacter', 'NUL before another extension'),
  bad('line-feed', 'a\nb', 'ControlCharacter', 'a line feed'),
  bad('escape', 'a\u001b[2Jb', 'ControlCharacter', 'a command to a terminal'),
  bad('tab', 'a\tb', 'ControlCharacter', 'a tab'),
  bad('delete', 'a\u007f', 'ControlCharacter', 'DEL'),
  bad('c1', 'a\u0085b', 'ControlCharacter', 'a control character above ASCII'),
  bad('dot-last', 'a.', 'TrailingDotOrSpace', 'Windows takes the dot away'),
  bad('space-last', 'a ', 'TrailingDotOrSpace', 'Windows takes the space away'),
  bad('dot-last-folder', 'a./b', 'TrailingDotOrSpace', 'in a folder'),
  bad('three-dots', '...', 'TrailingDotOrSpace', 'dots alone'),
  bad('space-alone', ' ', 'TrailingDotOrSpace', 'a space alone'),
  bad('nfd', 'e\u0301t\u00e9', 'NotNormalized', 'a letter and its accent apart'),
  bad('nfd-hangul', '\u1100\u1161', 'NotNormalized', 'a syllable in its parts'),
  bad('singleton', '\u212b', 'NotNormalized', 'the Ångström sign, which form C writes as a letter'),
  bad('above-limit', 'a'.repeat(1025), 'Length', '1,025 bytes'),
  bad('above-limit-multibyte', `${'é'.repeat(512)}a`, 'Length', '1,025 bytes in 513 characters'),
  ...DEVICES.map((name, i) => bad(`device-${i + 1}`, `a/${name}`, 'DeviceName', `the device ${name}`)),
  bad('device-extension', 'nul.txt', 'DeviceName', 'a device with an extension is the device'),
  bad('device-two-extensions', 'con.tar.gz', 'DeviceName', 'also with two'),
  bad('device-space', 'con .log', 'DeviceName', 'a space between the device and its extension'),
  bad('device-folder', 'aux/b', 'DeviceName', 'a device as a folder'),
];

const trees = (): Case[] => [
  good('tree', ['a', 'b', 'a b', 'ab'], 'PathTwin', 'four files'),
  good('tree-folders', ['a/b', 'b/a'], 'PathTwin', 'the same names at other places'),
  good('tree-dotless', ['\u0131', 'j'], 'PathTwin', 'the dotless i and another letter'),
  twins('same', 'a', 'a', 'one name twice'),
  twins('case', 'README', 'readme', 'upper and lower case'),
  twins('case-folder', 'A/b', 'a/B', 'in a folder too'),
  twins('accents', 'É', 'é', 'letters with accents'),
  twins('sharp-s', 'straße', 'STRASSE', 'the sharp s is SS in uppercase'),
  twins('capital-sharp-s', '\u1e9e', 'ss', 'the capital sharp s, for which the mapping is applied twice'),
  twins('sigma', 'ΟΔΟΣ', 'οδος', 'both small sigmas are one letter'),
  twins('ligature', 'ﬁ', 'fi', 'a ligature is two letters in uppercase'),
  twins('kelvin', '\u212a'.normalize('NFC'), 'k', 'the Kelvin sign is K in normalization form C'),
  twins('dotless-i', '\u0131', 'i', 'the dotless i is I in uppercase'),
  twins('long-s', 'ſ', 's', 'the long s is S in uppercase'),
];

export const paths: Kind<Case['input'], Case['expected']> = {
  name: 'paths',
  about: 'the paths of one tree, and whether evidence may contain them together',
  clause: 'formats §1, Paths',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...portable(), ...refusals(), ...trees()],
};
