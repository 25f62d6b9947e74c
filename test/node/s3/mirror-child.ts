// A process that mirrors into S3 and can be killed: `node mirror-child.ts URL S3-ADDRESS [OPTIONS as JSON]`.
import { createClient } from '../../../src/client/index.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { bagSink, mirrorExport } from '../../../src/mirror/index.ts';
import { openPartStore } from '../../../src/node/volume/part-store.ts';
import { parseS3Location } from '../../../src/node/s3/location.ts';
import { mirrorS3 } from '../../../src/node/s3/mirror.ts';
import type { ChildOptions } from '../volume/mirror-child.ts';

const [, , baseUrl = '', address = '', options = '{}'] = process.argv;
const { store, bagit = false, waitMs } = JSON.parse(options) as ChildOptions;
const evidenceExportId = 'evexp_000000000001';
const sink = mirrorS3(parseS3Location(address, { name: 'the address', code: 'usage.INVALID' }), {
  ...(store !== undefined && { store: await openPartStore(store) }),
  ...(waitMs !== undefined && { lock: { waitMs } }),
});
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
