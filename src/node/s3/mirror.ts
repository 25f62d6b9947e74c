import {
  checkArguments,
  defined,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  TEXT,
  withMembers,
} from '../../bytes/arguments.ts';
import type { MirrorSink } from '../../mirror/sink.ts';
import { type MirrorDirectoryOptions, mirrorVolume, SINK_OPTIONS } from '../volume/mirror.ts';
import type { Bucket } from './bucket.ts';
import type { AwsEnvironment, Retention, S3Location } from './location.ts';
import { needsLock, RETENTION } from './retention.ts';
import { connectTo, s3Volume } from './volume.ts';

/** The options of `mirrorS3`. All are optional. */
export type MirrorS3Options = Pick<MirrorDirectoryOptions, 'lock'> & {
  /** The AWS variables; default `process.env`. */
  readonly env?: AwsEnvironment;
  /** The retention of objects; default: as the bucket does. */
  readonly retention?: Retention;
};
const S3_OPTIONS: MembersOf<MirrorS3Options> = {
  lock: SINK_OPTIONS.lock,
  env: optional(OBJECT),
  retention: optional(optionsOf(RETENTION)),
};

/**
 * Uses a prefix of a bucket as the target of a mirror (formats §1, Export). Checked bytes become an object in one
 * conditional step, which fails if another process wrote it. A lease on the prefix prevents other processes from writing.
 * @throws TypeError for an argument of the wrong kind; its methods throw DrillproofError `io.PACKAGE_MISSING` without
 *   the SDK, `io.NOT_FOUND` without the bucket, `io.LOCKED`, `io.KIND`, `io.EXISTS`, `io.CHANGED`, `io.READ_ONLY`,
 *   `io.DISK_FULL`, `io.WRITE_FAILED`, `io.UNREADABLE`
 * @example
 * const to = mirrorS3({ bucket: 'evidence', prefix: 'mirrors/2026/', forcePathStyle: false });
 * await mirrorExport({ projectId, evidenceExportId }, { client, to });
 */
export function mirrorS3(location: S3Location, options: MirrorS3Options = {}): MirrorSink {
  checkArguments(
    { location: withMembers('an S3Location', { bucket: TEXT }), options: optionsOf(S3_OPTIONS) },
    { location, options },
  );
  return mirrorBucket(location, options)(location.prefix);
}

/** Uses prefixes of a bucket as the targets of mirrors, which share one connection. */
export function mirrorBucket(
  location: S3Location,
  { env = process.env, retention = {}, ...waiting }: MirrorS3Options,
): (prefix: string) => MirrorSink {
  let bucket: Promise<Bucket> | undefined;
  return (prefix) => {
    const connect = async () => ({
      ...s3Volume(await (bucket ??= connectTo(location, env)), prefix, { retention }),
      close: () => Promise.resolve(),
    });
    const { open, look } = mirrorVolume(connect, waiting);
    // With a retention, existing objects must be retained too, which needs the lock.
    return { open, ...defined({ look: needsLock(retention) ? undefined : look }) };
  };
}
