// Mirrors in a process that can be killed: `node mirror-child.ts URL FOLDER-OR-S3-ADDRESS [OPTIONS as JSON]`.
import { createClient } from '../../src/client/client.ts';
import { DrillproofError } from '../../src/errors.ts';
import { bagSink } from '../../src/mirror/bag-sink.ts';
import { mirrorExport } from '../../src/mirror/mirror.ts';
import { isS3Url, parseS3Location } from '../../src/node/s3/location.ts';
import { mirrorDirectory } from '../../src/node/volume/mirror.ts';
import { mirrorS3 } from '../../src/node/s3/mirror.ts';
import { openPartStore } from '../../src/node/volume/part-store.ts';

export type ChildOptions = { readonly store?: string; readonly bagit?: boolean; readonly waitMs?: number };

const [, , baseUrl = '', to = '', json = '{}'] = process.argv;
const { store, bagit = false, waitMs } = JSON.parse(json) as ChildOptions;
const evidenceExportId = 'evexp_000000000001';
const options = {
  ...(store !== undefined && { store: await openPartStore(store) }),
  ...(waitMs !== undefined && { lock: { waitMs } }),
};
const sink = isS3Url(to)
  ? mirrorS3(parseS3Location(to, { name: 'the address', code: 'usage.INVALID' }), options)
  : mirrorDirectory(to, options);
try {
  const receipt = await mirrorExport(
    { projectId: 'prj_000000000001', evidenceExportId },
    {
      client: createClient({ baseUrl, token: 'a-token' }),
      to: bagit ? bagSink(sink, { tool: 'drillproof/test', evidenceExportId }) : sink,
    },
  );
  process.stdout.write(receipt.outcome);
} catch (error) {
  if (!(error instanceof DrillproofError)) throw error;
  process.stdout.write(`${error.code}: ${error.message}`);
  process.exitCode = 3;
}
