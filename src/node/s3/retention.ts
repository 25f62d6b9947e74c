import { AMOUNT, FLAG, type MembersOf, oneOf, optional, optionsOf } from '../../bytes/arguments.ts';
import { DrillproofError } from '../../errors.ts';
import type { Bucket } from './bucket.ts';
import type { Retention } from './location.ts';
import { s3StatusOf, isBucketMissing, s3Error } from './errors.ts';

export const RETENTION: MembersOf<Retention> = {
  retain: optional(optionsOf({ mode: oneOf(['GOVERNANCE', 'COMPLIANCE']), untilMs: AMOUNT })),
  legalHold: optional(FLAG),
};

/** The retention of an object as S3 reports it. */
type ReportedRetention = {
  readonly ObjectLockMode?: string | undefined;
  readonly ObjectLockRetainUntilDate?: Date | undefined;
  readonly ObjectLockLegalHoldStatus?: string | undefined;
};

export const needsLock = ({ retain, legalHold }: Retention): boolean =>
  retain !== undefined || legalHold === true;

/** Checks if an object is retained at least as requested. The times of S3 may lack milliseconds. */
export function isRetained(reported: ReportedRetention, { retain, legalHold }: Retention): boolean {
  const until = reported.ObjectLockRetainUntilDate?.getTime() ?? -Infinity;
  if (legalHold === true && reported.ObjectLockLegalHoldStatus !== 'ON') return false;
  if (retain === undefined) return true;
  const strong = reported.ObjectLockMode === 'COMPLIANCE' || reported.ObjectLockMode === retain.mode;
  return strong && until >= retain.untilMs - (retain.untilMs % 1000);
}

/**
 * Checks, before anything is written, that a bucket can retain objects.
 * @throws DrillproofError `io.KIND` if it was created without object lock
 */
export async function assertLockable(bucket: Bucket): Promise<void> {
  const { client, sdk, name } = bucket;
  const path = bucket.nameOf('');
  try {
    const answer = await client.send(new sdk.GetObjectLockConfigurationCommand({ Bucket: name }));
    if (answer.ObjectLockConfiguration?.ObjectLockEnabled === 'Enabled') return;
  } catch (cause) {
    if (s3StatusOf(cause) !== 404 || isBucketMissing(cause)) throw s3Error(cause, path, 'read');
  }
  throw new DrillproofError('io.KIND', `${path} has no object lock, which retention needs`, { path });
}

/**
 * Retains an object as requested. Some servers accept the retention of an upload in parts and ignore it, so it is
 * checked, and set if it is missing or shorter.
 * @throws DrillproofError `io.WRITE_FAILED` if the server does not retain it, `io.READ_ONLY` without permission
 */
export async function ensureRetained(bucket: Bucket, key: string, retention: Retention): Promise<void> {
  if (!needsLock(retention) || (await checkRetained(bucket, key, retention))) return;
  await setRetention(bucket, key, retention);
  if (await checkRetained(bucket, key, retention)) return;
  const path = bucket.nameOf(key);
  throw new DrillproofError('io.WRITE_FAILED', `the storage does not retain ${path} as requested`, { path });
}

const checkRetained = async (bucket: Bucket, key: string, retention: Retention): Promise<boolean> =>
  isRetained(await readRetention(bucket, key), retention);

async function readRetention(bucket: Bucket, Key: string): Promise<ReportedRetention> {
  const { client, sdk, name } = bucket;
  const head = new sdk.HeadObjectCommand({ Bucket: name, Key });
  return client.send(head).catch((cause: unknown) => {
    throw s3Error(cause, bucket.nameOf(Key), 'read');
  });
}

/** Checks that an object is not locked. Where objects are locked, S3 accepts a deletion, hides the object and keeps it. */
export async function assertUnlocked(bucket: Bucket, key: string): Promise<void> {
  const reported = await readRetention(bucket, key);
  const until = reported.ObjectLockRetainUntilDate;
  const isHeld = reported.ObjectLockLegalHoldStatus === 'ON';
  if (!isHeld && (until === undefined || until.getTime() <= (bucket.serverTimeMs() ?? 0))) return;
  const why = isHeld ? 'by a legal hold' : `until ${until?.toISOString()}`;
  throw new DrillproofError('inventory.HELD', `the storage holds ${bucket.nameOf(key)} ${why}`, {
    path: key,
  });
}

async function setRetention(bucket: Bucket, Key: string, { retain, legalHold }: Retention): Promise<void> {
  const { client, sdk } = bucket;
  const object = { Bucket: bucket.name, Key };
  try {
    if (retain !== undefined) {
      const Retention = { Mode: retain.mode, RetainUntilDate: new Date(retain.untilMs) };
      await client.send(new sdk.PutObjectRetentionCommand({ ...object, Retention }));
    }
    if (legalHold === true)
      await client.send(new sdk.PutObjectLegalHoldCommand({ ...object, LegalHold: { Status: 'ON' } }));
  } catch (cause) {
    throw s3Error(cause, bucket.nameOf(Key), 'write');
  }
}
