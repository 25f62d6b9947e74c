import { join, le } from '../../../test/zip/raw-zip.ts';
import { utf8 } from '../../make/bytes.ts';
import { storedBlock } from '../../make/deflate.ts';
import { type Case, a, badEntry, deflated, none } from './case.ts';

export const contents = (): Case[] => {
  const data = 'zip.DATA_INVALID';
  const size = 'zip.SIZE_MISMATCH';
  return [
    badEntry(
      'crc',
      { ...a, both: { crc: 1 } },
      'zip.CRC_MISMATCH',
      'ModifiedContent',
      'another CRC in both headers',
    ),
    badEntry(
      'bytes-changed',
      { ...a, data: utf8('fIrst') },
      'zip.CRC_MISMATCH',
      'ModifiedContent',
      'a byte of a stored entry changed',
    ),
    badEntry(
      'deflated-bytes-changed',
      deflated('first', storedBlock('fIrst')),
      'zip.CRC_MISMATCH',
      'ModifiedContent',
      'a byte of a deflated entry changed',
    ),
    badEntry('stored-sizes', { ...a, both: { size: 3 } }, size, 'SizeLie', 'two sizes of a stored entry'),
    badEntry(
      'deflated-longer',
      { ...deflated('first', storedBlock('first and more')) },
      size,
      'SizeLie',
      'more bytes than announced',
    ),
    badEntry(
      'deflated-shorter',
      deflated('first', storedBlock('fir')),
      size,
      'SizeLie',
      'fewer bytes than announced',
    ),
    badEntry(
      'deflate-block-type',
      deflated('first', Uint8Array.of(7)),
      data,
      'Deflate',
      'a type of block that is reserved',
    ),
    badEntry(
      'deflate-cut',
      deflated('first', storedBlock('first').subarray(0, -1)),
      data,
      'Deflate',
      'compressed data without their end',
    ),
    badEntry(
      'deflate-not-final',
      deflated('first', storedBlock('first', false)),
      data,
      'Deflate',
      'no last block',
    ),
    badEntry(
      'deflate-trailing',
      deflated('first', join(storedBlock('first'), le(0, 1))),
      data,
      'TrailingBytes',
      'a byte after the compressed data',
    ),
    badEntry(
      'deflate-second-stream',
      deflated('first', join(storedBlock('first'), storedBlock('first'))),
      data,
      'TrailingBytes',
      'a second stream after the first',
    ),
    badEntry(
      'deflate-length-check',
      deflated('first', flippedLength()),
      data,
      'Deflate',
      'a stored block whose length and its complement differ',
    ),
    badEntry('deflate-none', deflated('first', none), data, 'Deflate', 'no compressed data at all'),
    badEntry(
      'deflate-zlib',
      deflated('first', join(Uint8Array.of(0x78, 0x9c), storedBlock('first'))),
      data,
      'Deflate',
      'with the header of zlib',
    ),
  ];
};

function flippedLength(): Uint8Array {
  const block = storedBlock('first');
  block[3] = block[3]! ^ 1;
  return block;
}
