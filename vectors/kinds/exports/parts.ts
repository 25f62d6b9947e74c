import { bundle } from '../../make/bundle.ts';
import { flipped, sha256Of } from '../../make/bytes.ts';
import { partPath } from '../../make/export.ts';
import { type Case, TWO, UNATTESTED, adding, changing, failed, judge, tree, without } from './case.ts';

export const parts = (): Case[] => [
  failed(
    'part-missing',
    { bundles: TWO, ...without(partPath(2)) },
    'MissingFile',
    'a listed part is not there',
    'part.MISSING',
  ),
  failed(
    'part-extra',
    adding(partPath(2), bundle(2, { signer: 'a' }).zip),
    'ExtraFile',
    'a sound part that is not listed',
    'part.EXTRA',
  ),
  failed(
    'part-extra-text',
    adding('parts/note.txt', 'x'),
    'ExtraFile',
    'another file among the parts',
    'part.EXTRA',
  ),
  failed(
    'part-byte',
    changing(partPath(1), (bytes) => flipped(bytes, 5)),
    'ModifiedContent',
    'a byte of a part changed',
    'part.DIGEST_MISMATCH',
    'zip.HEADER_MISMATCH',
  ),
  failed(
    'part-cut',
    changing(partPath(1), (bytes) => bytes.subarray(0, -1)),
    'Truncated',
    'a part without its last byte',
    'part.BYTES_MISMATCH',
  ),
  failed(
    'part-longer',
    changing(partPath(1), (bytes) => Uint8Array.of(...bytes, 0)),
    'HiddenBytes',
    'a part with a byte more',
    'part.BYTES_MISMATCH',
  ),
  failed(
    'part-empty',
    changing(partPath(1), () => new Uint8Array()),
    'Truncated',
    'a part of no bytes',
    'part.BYTES_MISMATCH',
  ),
  failed(
    'parts-swapped',
    {
      bundles: TWO,
      files: (files) => ({
        ...files,
        [partPath(1)]: files[partPath(2)]!,
        [partPath(2)]: files[partPath(1)]!,
      }),
    },
    'WrongSubject',
    'two parts exchanged',
    'part.BYTES_MISMATCH',
  ),
  failed(
    'part-repacked',
    changing(partPath(1), () => bundle(1, { signer: 'a', entries: (all) => all.toReversed() }).zip),
    'UnusualOrder',
    'a sound part packed again: its bytes are not the listed ones',
    'part.DIGEST_MISMATCH',
    'zip.ORDER_UNUSUAL',
  ),
  judge(
    'part-byte-digest-depth',
    { ...tree(changing(partPath(1), (bytes) => flipped(bytes, -1))), depth: 'digest' },
    { result: 'failed', codes: [UNATTESTED, 'part.DIGEST_MISMATCH'] },
    'Depth',
    'a changed byte at the depth of digests',
  ),
  judge(
    'part-irregular',
    { ...tree({ bundles: TWO, ...without(partPath(2)) }), irregular: [partPath(2)] },
    { result: 'failed', codes: [UNATTESTED, 'export.FILE_IRREGULAR'] },
    'EntryKind',
    'a link in the place of a part',
  ),
  failed(
    'part-renamed',
    {
      bundles: TWO,
      files: (files) => ({
        ...Object.fromEntries(Object.entries(files).filter(([name]) => name !== partPath(2))),
        [partPath(7)]: files[partPath(2)]!,
      }),
    },
    'ExtraFile',
    'a part under another name',
    'part.EXTRA',
    'part.MISSING',
  ),
  failed(
    'bundle-forged',
    {
      bundles: [
        bundle(1, { signer: 'a' }),
        bundle(2, { signer: 'a', statement: { '/subject/stateHash': sha256Of('x') } }),
      ],
    },
    'Binding',
    'one bundle whose statement names a different state',
    'bundle.BINDING_MISMATCH',
  ),
  failed(
    'bundle-unknown-key',
    { bundles: [bundle(1, { signer: 'a' }), bundle(2, { signer: 'b' })] },
    'KeyName',
    'one bundle signed by an untrusted key',
    'trust.KEY_UNKNOWN',
  ),
];
