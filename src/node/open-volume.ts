import { isS3Url, type AwsEnvironment } from './s3/location.ts';
import { folderVolume } from './volume/folder.ts';
import type { Volume } from './volume/volume.ts';

/**
 * Opens a path or `s3://bucket/prefix`. The network code and the SDK are loaded for S3 only.
 * @throws DrillproofError `usage.INVALID`, `io.PACKAGE_MISSING`
 */
export async function openVolume(place: string, env: AwsEnvironment = process.env): Promise<Volume> {
  if (!isS3Url(place)) return folderVolume(place);
  const { openS3Volume } = await import('./s3/volume.ts');
  return openS3Volume(place, env);
}
