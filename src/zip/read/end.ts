import { count, countNoun } from '../../bytes/text/wording.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import { type Reading, cutWindow } from './access.ts';
import { equalBytes } from './extra.ts';
import {
  decodeRecord,
  END,
  END64,
  END64_LOCATOR,
  IN_ZIP64_16,
  IN_ZIP64_32,
  type RecordOf,
  startsRecord,
  VERSION,
} from '../layouts.ts';
import type { ZipLimits } from '../limits.ts';
import { encodeEndRecords } from '../write/records.ts';

/** The place of the central directory; `end` is the offset of the record after it. */
export type DirectoryPlace = {
  readonly entries: number;
  readonly offset: number;
  readonly bytes: number;
  readonly end: number;
  /** The records from `end` on equal those that `writeZip` would write. */
  readonly usual: boolean;
};

type Records = Omit<DirectoryPlace, 'usual'>;

type End = RecordOf<typeof END>;
type End64 = RecordOf<typeof END64>;

const ZIP64_TAIL_BYTES = END64.size + END64_LOCATOR.size;
const MAX_COMMENT_BYTES = 0xff_ff;

/**
 * Finds the central directory from the end of the file. An archive comment is refused, so the last record has only
 * one possible place and no search is needed.
 */
export function* locateDirectory(fileBytes: number, limits: Required<ZipLimits>): Reading<DirectoryPlace> {
  const tailBytes = Math.min(fileBytes, ZIP64_TAIL_BYTES + END.size);
  const tail = yield cutWindow(fileBytes, fileBytes - tailBytes, tailBytes);
  const endAt = tail.length - END.size;
  if (!startsRecord(END, tail, endAt)) throw yield* explainMissingEnd(fileBytes);
  const end = decodeRecord(END, tail, endAt);
  if (end.commentBytes !== 0) throw yield* explainMissingEnd(fileBytes);
  const place = readPlace(end, tail, fileBytes);
  assertWithin(place, limits);
  const usualEnd = encodeEndRecords(place.entries, place.offset, place.bytes);
  return { ...place, usual: equalBytes(tail.subarray(place.end - fileBytes), usualEnd) };
}

function readPlace(end: End, tail: Uint8Array, fileBytes: number): Records {
  const locatorAt = tail.length - END.size - END64_LOCATOR.size;
  if (startsRecord(END64_LOCATOR, tail, locatorAt)) {
    const end64 = decodeEnd64(tail, locatorAt, fileBytes - END.size - ZIP64_TAIL_BYTES);
    assertExtends(end64, end);
    return assertAbuts(end64, fileBytes - END.size - ZIP64_TAIL_BYTES);
  }
  // 0xFFFF entries are a plain number where nothing is in ZIP64 format; so large an offset or size never is.
  if (end.directoryBytes === IN_ZIP64_32 || end.directoryOffset === IN_ZIP64_32) {
    throw new DrillproofError('zip.ZIP64_INVALID', 'the archive needs a ZIP64 record, which is missing');
  }
  assertOneDisk(end);
  return assertAbuts(end, fileBytes - END.size);
}

function decodeEnd64(tail: Uint8Array, locatorAt: number, end64Offset: number): End64 {
  const locator = decodeRecord(END64_LOCATOR, tail, locatorAt);
  if (locator.end64Disk !== 0 || locator.disks !== 1) throw multiDiskError();
  const end64At = locatorAt - END64.size;
  if (end64At < 0 || locator.end64Offset !== end64Offset) {
    throw new DrillproofError('zip.ZIP64_INVALID', 'the ZIP64 record is not directly before its locator');
  }
  const end64 = decodeRecord(END64, tail, end64At);
  if (end64.remainingBytes !== END64.size - 12) {
    throw new DrillproofError('zip.ZIP64_INVALID', 'the ZIP64 record has an extensible data sector');
  }
  if (end64.versionNeeded > VERSION.zip64) {
    throw new DrillproofError('zip.FEATURE_UNSUPPORTED', 'the ZIP64 record needs a version newer than 4.5');
  }
  assertOneDisk(end64);
  return end64;
}

const EXTENDED = [
  ['disk', IN_ZIP64_16],
  ['directoryDisk', IN_ZIP64_16],
  ['entriesOnDisk', IN_ZIP64_16],
  ['entries', IN_ZIP64_16],
  ['directoryBytes', IN_ZIP64_32],
  ['directoryOffset', IN_ZIP64_32],
] as const;

/** A reader without ZIP64 must not see a different directory: each field has the same value or refers to ZIP64. */
function assertExtends(end64: End64, end: End): void {
  const agrees = EXTENDED.every(([field, inZip64]) => end[field] === inZip64 || end[field] === end64[field]);
  if (!agrees)
    throw new DrillproofError('zip.ZIP64_INVALID', 'the ZIP64 record contradicts the record that it extends');
}

function assertOneDisk(end: End | End64): void {
  if (end.disk !== 0 || end.directoryDisk !== 0 || end.entriesOnDisk !== end.entries) throw multiDiskError();
}

function assertAbuts(end: End | End64, recordOffset: number): Records {
  const place = { entries: end.entries, offset: end.directoryOffset, bytes: end.directoryBytes };
  const directoryEnd = place.offset + place.bytes;
  if (directoryEnd > recordOffset) {
    throw new DrillproofError('zip.ENTRY_OVERLAP', 'the central directory extends past its end record');
  }
  const extra = recordOffset - directoryEnd;
  if (extra > 0)
    throw unaccountedError(`there are ${extra} extra bytes before or after the central directory`);
  return { ...place, end: recordOffset };
}

function assertWithin(place: Records, limits: Required<ZipLimits>): void {
  if (place.entries > limits.entries) {
    const message = `the archive has ${place.entries} entries, and the limit is ${limits.entries}`;
    throw new LimitError('zip.ENTRIES_EXCEEDED', message);
  }
  if (place.bytes > limits.directoryBytes) {
    const message = `the central directory has ${countNoun(place.bytes, 'byte')}, and the limit is ${count(limits.directoryBytes)}`;
    throw new LimitError('zip.SIZE_EXCEEDED', message);
  }
}

/** The reason why the file does not end with an end record without a comment. */
function* explainMissingEnd(fileBytes: number): Reading<DrillproofError> {
  const searched = Math.min(fileBytes, END.size + MAX_COMMENT_BYTES);
  const tail = yield cutWindow(fileBytes, fileBytes - searched, searched);
  for (let at = tail.length - END.size; at >= 0; at--) {
    if (!startsRecord(END, tail, at)) continue;
    const { commentBytes } = decodeRecord(END, tail, at);
    const follow = tail.length - at - END.size;
    if (commentBytes === follow) return new DrillproofError('zip.COMMENT', 'the archive has a comment');
    if (commentBytes < follow) return unaccountedError(`${follow - commentBytes} bytes follow the archive`);
    return new DrillproofError('zip.TRUNCATED', 'the archive comment extends past the end of the file');
  }
  return new DrillproofError(
    'zip.NOT_A_ZIP',
    'the file does not end with an end of central directory record',
  );
}

const multiDiskError = () =>
  new DrillproofError('zip.MULTI_DISK', 'the archive is marked as spanning several disks');
const unaccountedError = (message: string) => new DrillproofError('zip.BYTES_UNACCOUNTED', message);
