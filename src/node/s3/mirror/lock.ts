import { DrillproofError } from '../../../errors.ts';
import type { Bucket } from '../bucket.ts';
import { s3Error, statusOf } from '../errors.ts';
import { asksForLock, isRetained, type Retention } from './retention.ts';

/**
 * Makes sure that a bucket can keep objects from deletion, before anything is written.
 * @throws DrillproofError `io.KIND` when it was made without object lock
 */
export async function assertLockable(bucket: Bucket): Promise<void> {
  const { client, sdk, name } = bucket;
  const where = bucket.nameOf('');
  try {
    const answer = await client.send(new sdk.GetObjectLockConfigurationCommand({ Bucket: name }));
    if (answer.ObjectLockConfiguration?.ObjectLockEnabled === 'Enabled') return;
  } catch (cause) {
    if (statusOf(cause) !== 404 || (cause instanceof Error && cause.name === 'NoSuchBucket'))
      throw s3Error(cause, where, 'read');
  }
  throw new DrillproofError('io.KIND', `${where} has no object lock, which retention needs`, { path: where });
}

/**
 * Makes sure that an object is kept as asked. Some servers take the retention of an upload in parts and forget it, so
 * it is looked for and, where it is absent or shorter, set.
 * @throws DrillproofError `io.WRITE_FAILED` when the server does not keep to it, `io.READ_ONLY` without the right
 */
export async function ensureRetained(bucket: Bucket, key: string, retention: Retention): Promise<void> {
  if (!asksForLock(retention) || (await isKept(bucket, key, retention))) return;
  await setRetention(bucket, key, retention);
  if (await isKept(bucket, key, retention)) return;
  const path = bucket.nameOf(key);
  throw new DrillproofError('io.WRITE_FAILED', `the storage does not retain ${path} as asked`, { path });
}

async function isKept(bucket: Bucket, Key: string, retention: Retention): Promise<boolean> {
  const { client, sdk, name } = bucket;
  const head = new sdk.HeadObjectCommand({ Bucket: name, Key });
  const stated = await client.send(head).catch((cause: unknown) => {
    throw s3Error(cause, bucket.nameOf(Key), 'read');
  });
  return isRetained(stated, retention);
}

async function setRetention(bucket: Bucket, Key: string, { retain, legalHold }: Retention): Promise<void> {
  const { client, sdk } = bucket;
  const object = { Bucket: bucket.name, Key };
  try {
    if (retain !== undefined) {
      const Retention = { Mode: retain.mode, RetainUntilDate: new Date(retain.untilMs) };
      await client.send(new sdk.PutObjectRetentionCommand({ ...object, Retention }));
    }
    if (legalHold === true) {
      await client.send(new sdk.PutObjectLegalHoldCommand({ ...object, LegalHold: { Status: 'ON' } }));
    }
  } catch (cause) {
    throw s3Error(cause, bucket.nameOf(Key), 'write');
  }
}
