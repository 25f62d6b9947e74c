import { InvalidArgumentError } from 'commander';
import * as z from 'zod/mini';
import type { BagField } from '../../evidence/export/checksums.ts';
import { BAG_SINK_FIELDS } from '../../mirror/bag-sink.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import {
  parseDigest,
  parseNumberBetween,
  parseTime,
  remoteOptions,
  STANDARD,
} from '../shared/options/options.ts';
import { textfileOption } from '../shared/output/textfile.ts';
import { queueOptions } from '../shared/options/queue.ts';
import { isDuration, parseDuration, parseRate } from '../shared/options/values.ts';

const SINK = [
  option('--bagit', 'write a BagIt bag (RFC 8493), with the export under data/'),
  option(
    '--bag-info <name=value>',
    'with --bagit: field of bag-info.txt, such as Source-Organization, Contact-Name or Bagging-Date',
    parseBagField,
  )
    .repeat()
    .needs('--bagit')
    .conflicts('--check', '--dry-run'),
  option(
    '--s3-retain-until <time>',
    'retain every object until then with the object lock of the bucket',
    parseTime,
  ),
  option(
    '--s3-lock-mode <mode>',
    'who may remove the lock early: governance, users with a special permission; compliance, no user (default: governance)',
  )
    .choices(['governance', 'compliance'])
    .needs('--s3-retain-until'),
  option('--s3-legal-hold', 'put a legal hold on every object'),
];
export type SinkOptions = OptionsOf<typeof SINK>;

export const mirrorOptions = (now: () => number) => [
  ...STANDARD,
  ...remoteOptions(),
  ...SINK,
  ...queueOptions('--list', '--all'),
  option('--to <place>', 'folder or s3://bucket/prefix of the mirror, new or from an earlier run').required(),
  option(
    '--from <place>',
    'copy another mirror instead of --url, or the mirrors of an archive with --all or --list: a folder or s3://bucket/prefix; every file is verified',
  )
    .conflicts('--url', '--token-file', '--ca-file', '--timeout', '--queue')
    .conflicts('--wait', '--manifest'),
  option('--list <file>', 'mirror the exports named in this file, one per line; - for standard input'),
  option('--all', 'mirror every export that is available in the project, or with --from in the archive'),
  option('--at <time>', 'copy what the archive of --from held at this time', parseTime)
    .needs('--from')
    .onlyWith('--all'),
  option(
    '--since <time>',
    'also read mirrors again of exports that changed since this time, or within a duration such as 14d (default: none)',
    (value) => parseTimeOrAge(value, now),
  ).onlyWith('--all'),
  option('--concurrency <n>', 'fetch this many files at once', parseNumberBetween(1, 64)).default(8),
  option('--limit-rate <rate>', 'maximum bytes per second, such as 500k or 10M (k is 1,000)', parseRate),
  option('--store <dir>', 'share files between mirrors in folders, in this folder'),
  option(
    '--wait [duration]',
    'wait for an export that is still being generated, this long, such as 30m, or 1h; without it, do not wait',
    parseDuration,
  ).preset('1h'),
  option(
    '--wait-lock [duration]',
    'wait for another mirror that writes to the place, this long or 10m; without it, end at once (io.LOCKED)',
    parseDuration,
  ).preset('10m'),
  textfileOption().needs('--all', '--list'),
  option('--check', 'write nothing and list what is missing or damaged; exit 1 if anything is').conflicts(
    '--store',
    '--wait-lock',
    '--s3-retain-until',
    '--s3-legal-hold',
    '--queue',
  ),
  option(
    '--deleted <rule>',
    'with --all: what to do with mirrors of exports that the source deleted: keep; hold, so that nothing removes them; follow, remove them after --follow-after (default: keep)',
  )
    .choices(['keep', 'hold', 'follow'])
    .needs('--all')
    .conflicts('--from'),
  option(
    '--follow-after <duration>',
    'with --deleted follow: the time since a run first saw the deletion, such as 90d',
    parseDuration,
  ).needs('--deleted follow'),
  option('--dry-run', 'write nothing and count the exports, files and bytes that would be fetched')
    .needs('--all', '--list')
    .conflicts('--check', '--queue', '--store', '--wait-lock', '--s3-retain-until', '--s3-legal-hold'),
  option('--expect-manifest <digest>', 'require this SHA-256 of the manifest', parseDigest).needs(
    '[export]',
    '--from',
  ),
  option(
    '--manifest <file>',
    'manifest of the export, if the control plane does not serve it; - for standard input',
  ).needs('[export]'),
  option('--without-local-reports', 'omit local reports; verify then fails, and names each as missing'),
];
export type MirrorCommandOptions = OptionsOf<ReturnType<typeof mirrorOptions>>;

/** Parses `NAME=VALUE` without characters that break or hide a line. `Bagging-Date` is a date. */
function parseBagField(text: string): BagField {
  const [, name = '', value = ''] =
    /^([A-Za-z][A-Za-z0-9-]{0,63})=(\S[^\p{C}\p{Zl}\p{Zp}]{0,999})$/u.exec(text) ?? [];
  const label = name.toLowerCase();
  if (name === '' || value.trim() !== value)
    throw new InvalidArgumentError(
      'It must be NAME=VALUE: a name of letters, digits and hyphens, and one line of at most 1,000 characters.',
    );
  if (BAG_SINK_FIELDS.has(label))
    throw new InvalidArgumentError(`${name} is written by the mirror. Omit it.`);
  if (label === 'bagging-date' && !z.iso.date().safeParse(value).success)
    throw new InvalidArgumentError('Bagging-Date must be a date such as 2026-06-30.');
  return [name, value];
}

/** Parses a time, or a duration before now, such as `14d`; returns milliseconds since 1970. */
function parseTimeOrAge(value: string, now: () => number): number {
  if (isDuration(value)) return now() - parseDuration(value);
  try {
    return parseTime(value);
  } catch (cause) {
    if (!(cause instanceof InvalidArgumentError)) throw cause;
    throw new InvalidArgumentError(`${cause.message} Or a duration before now, such as 14d.`);
  }
}
