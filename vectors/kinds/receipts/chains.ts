import { sha256Of } from '../../make/bytes.ts';
import { makeExport } from '../../make/export.ts';
import {
  chain,
  fileOf,
  finishedAt,
  olderReceipt,
  receipt,
  textsOf,
  type Receipt,
} from '../../make/receipt.ts';
import { broken, sound, type Case } from './case.ts';

const NONE = `sha256:${'0'.repeat(64)}`;

const [first, second, third] = chain(3) as [Receipt, Receipt, Receipt];
const exported = makeExport();
const manifestText = new TextDecoder().decode(exported.manifestBytes);
const ofManifest = { '/manifestDigest': sha256Of(manifestText) };

export const soundChains = (): Case[] => [
  sound('one', { files: textsOf([first]) }, [], { flag: 'Usual', comment: 'the first receipt' }),
  sound('three', { files: textsOf([first, second, third]) }, [], {
    flag: 'Usual',
    comment: 'three runs of a mirror',
  }),
  sound('manifest', { files: { 'manifest.json': manifestText, ...textsOf(chain(2, ofManifest)) } }, [], {
    flag: 'Usual',
    comment: 'the receipts of the manifest next to them',
  }),
  sound('same-time', { files: textsOf([first, receipt(1, first)]) }, [], {
    flag: 'Time',
    comment: 'a receipt of the same millisecond as the one that it names',
  }),
  sound('head-gone', { files: textsOf([first, second]) }, [], {
    flag: 'Receipts',
    comment: 'the newest is gone, which cannot be seen',
  }),
  sound('head-expected', { files: textsOf([first, second, third]), expectHead: second.digest }, [], {
    flag: 'Expectation',
    comment: 'the receipt that the caller expects, and a later one',
  }),
  sound('older', { files: textsOf([olderReceipt(1), olderReceipt(2)]) }, ['receipt.UNLINKED'], {
    flag: 'Receipts',
    comment: 'receipts of version 1, which name no other',
  }),
  sound('older-first', { files: textsOf([olderReceipt(1), receipt(2, olderReceipt(1))]) }, [], {
    flag: 'Receipts',
    comment: 'a chain that begins with a receipt of version 1',
  }),
  sound(
    'older-before',
    { files: textsOf([olderReceipt(1), olderReceipt(2), receipt(3, olderReceipt(2))]) },
    ['receipt.UNLINKED'],
    { flag: 'Receipts', comment: 'an older one, which no other names, before the chain' },
  ),
  sound(
    'single',
    { files: { 'receipts/sent.json': third.text }, single: 'receipts/sent.json' },
    ['receipt.ALONE'],
    { flag: 'Usual', comment: 'one receipt by itself, under another name' },
  ),
];

export const brokenChains = (): Case[] => [
  broken('none', { files: {} }, [], { flag: 'EmptySet', comment: 'no receipt at all' }),
  broken('middle-gone', { files: textsOf([first, third]) }, ['receipt.MISSING'], {
    flag: 'MissingFile',
    comment: 'one from the middle is gone',
  }),
  broken('first-gone', { files: textsOf([second, third]) }, ['receipt.MISSING'], {
    flag: 'MissingFile',
    comment: 'the first is gone',
  }),
  broken(
    'head-other',
    { files: textsOf([first, second]), expectHead: third.digest },
    ['receipt.HEAD_MISMATCH'],
    { flag: 'Expectation', comment: 'the one that the caller expects is gone' },
  ),
  broken(
    'edited',
    { files: { ...textsOf([first, second]), [first.path]: first.text.replace('1.0.0', '1.0.1') } },
    ['receipt.LINK_MISMATCH', 'receipt.NAME_MISMATCH'],
    { flag: 'ModifiedContent', comment: 'a receipt that was changed in its place' },
  ),
  broken(
    'link-edited',
    { files: textsOf([first, receipt(2, { ...first, digest: NONE })]) },
    ['receipt.LINK_MISMATCH'],
    { flag: 'ModifiedContent', comment: 'a link with another digest' },
  ),
  broken('renamed', { files: { 'receipts/first.json': first.text } }, ['receipt.NAME_MISMATCH'], {
    flag: 'PathBinding',
    comment: 'a receipt under a name that is not its own',
  }),
  broken('forked', { files: textsOf([first, second, receipt(3, first)]) }, ['receipt.FORKED'], {
    flag: 'Receipts',
    comment: 'two receipts after the same one',
  }),
  broken('two-firsts', { files: textsOf([first, receipt(2)]) }, ['receipt.FORKED'], {
    flag: 'Receipts',
    comment: 'two receipts that name none',
  }),
  broken(
    'older-after',
    { files: textsOf([first, olderReceipt(2)]) },
    ['receipt.FORKED', 'receipt.UNLINKED'],
    { flag: 'Receipts', comment: 'one without a link after the chain had begun' },
  ),
  broken(
    'foreign',
    { files: textsOf([first, receipt(2, first, { '/evidenceExportId': 'evexp_000000000002' })]) },
    ['receipt.FOREIGN'],
    { flag: 'WrongSubject', comment: 'a receipt of another export' },
  ),
  broken(
    'foreign-manifest',
    { files: { 'manifest.json': manifestText, ...textsOf([first]) } },
    ['receipt.FOREIGN'],
    { flag: 'WrongSubject', comment: 'a receipt that names a different manifest from the one next to it' },
  ),
  broken(
    'time-back',
    { files: textsOf([second, receipt(1, second)]) },
    ['receipt.MISSING', 'receipt.TIME_REVERSED'],
    { flag: 'Time', comment: 'a receipt from before the one that it names' },
  ),
  broken(
    'ends-before',
    { files: textsOf([receipt(1, undefined, { '/startedAtMs': finishedAt(1) + 1 })]) },
    ['receipt.TIME_REVERSED'],
    { flag: 'Time', comment: 'a run that ended before it began' },
  ),
  broken('damaged', { files: textsOf([fileOf('{"schemaVersion":2', finishedAt(1))]) }, ['receipt.DAMAGED'], {
    flag: 'Structure',
    comment: 'a receipt that is cut',
  }),
  broken(
    'unknown-member',
    { files: textsOf([receipt(1, undefined, { '/note': 'x' })]) },
    ['receipt.DAMAGED'],
    { flag: 'UnknownMember', comment: 'a member that no version has' },
  ),
  broken(
    'link-in-version-1',
    { files: textsOf([first, receipt(2, first, { '/schemaVersion': 1 })]) },
    ['receipt.DAMAGED'],
    { flag: 'UnknownMember', comment: 'a link in a receipt of version 1' },
  ),
];
