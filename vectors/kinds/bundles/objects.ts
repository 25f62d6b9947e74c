import type { NamedBytes } from '../../make/bundle.ts';
import { flipped, utf8 } from '../../make/bytes.ts';
import { type Case, STATE, changing, failed, replacing, without } from './case.ts';

export const objects = (): Case[] => [
  failed(
    'object-bit',
    changing(STATE, (bytes) => flipped(bytes, 1)),
    'ModifiedContent',
    'a bit of an object changed, the CRC made right',
    'object.DIGEST_MISMATCH',
  ),
  failed(
    'object-cut',
    changing(STATE, (bytes) => bytes.subarray(0, -1)),
    'ModifiedContent',
    'an object without its last byte',
    'object.BYTES_MISMATCH',
    'object.DIGEST_MISMATCH',
  ),
  failed(
    'object-longer',
    changing(STATE, (bytes) => Uint8Array.of(...bytes, 10)),
    'ModifiedContent',
    'an object with a line feed more',
    'object.BYTES_MISMATCH',
    'object.DIGEST_MISMATCH',
  ),
  failed(
    'object-crc',
    { entries: replacing(STATE, (one) => [{ ...one, data: flipped(one.bytes, 1) }]) },
    'ModifiedContent',
    'a bit of an object changed, the CRC left alone',
    'zip.CRC_MISMATCH',
  ),
  failed(
    'object-missing',
    without(STATE),
    'MissingFile',
    'an object that is listed and not there',
    'object.MISSING',
  ),
  failed(
    'object-extra',
    { entries: (all) => [...all, { name: 'objects/zzz.txt', bytes: utf8('x') }] },
    'ExtraFile',
    'an object that is there and not listed',
    'object.EXTRA',
  ),
  failed(
    'file-extra',
    { entries: (all) => [...all, { name: 'README', bytes: utf8('x') }] },
    'ExtraFile',
    'a file next to the objects',
    'object.EXTRA',
  ),
  failed(
    'object-renamed',
    { entries: replacing(STATE, (one) => [{ ...one, name: 'objects/state.txt' }]) },
    'ExtraFile',
    'an object under another name',
    'object.EXTRA',
    'object.MISSING',
    'zip.ORDER_UNUSUAL',
  ),
  failed(
    'object-case',
    { entries: replacing(STATE, (one) => [{ ...one, name: 'objects/State.json' }]) },
    'LetterCase',
    'an object whose name differs in case',
    'object.EXTRA',
    'object.MISSING',
    'zip.ORDER_UNUSUAL',
  ),
  failed(
    'objects-swapped',
    { entries: (all) => all.map((one) => ({ ...one, bytes: swapped(all, one) })) },
    'ModifiedContent',
    'two objects exchanged',
    'object.BYTES_MISMATCH',
    'object.DIGEST_MISMATCH',
  ),
  failed(
    'run-result-changed',
    changing('objects/run-result.json', (bytes) =>
      utf8(new TextDecoder().decode(bytes).replace('passed', 'failed')),
    ),
    'ModifiedContent',
    'the verdict of the drill changed in the run result',
    'object.DIGEST_MISMATCH',
  ),
];

function swapped(all: readonly NamedBytes[], one: NamedBytes): Uint8Array {
  const other = one.name === STATE ? 'objects/log.txt' : one.name === 'objects/log.txt' ? STATE : one.name;
  return all.find(({ name }) => name === other)?.bytes ?? one.bytes;
}
