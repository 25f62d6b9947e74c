// A process that mirrors into S3 and can be killed: `node mirror-child.ts URL S3-ADDRESS`.
import { createClient } from '../../../src/client/index.ts';
import { mirrorExport } from '../../../src/mirror/index.ts';
import { parseS3Location } from '../../../src/node/s3/location.ts';
import { mirrorS3 } from '../../../src/node/s3/mirror-s3.ts';

const [, , baseUrl = '', address = ''] = process.argv;
const exportRef = { projectId: 'prj_000000000001', evidenceExportId: 'evexp_000000000001' };
const receipt = await mirrorExport(exportRef, {
  client: createClient({ baseUrl, token: 'a-token' }),
  to: mirrorS3(parseS3Location(address, { name: 'the address', code: 'usage.INVALID' })),
});
process.stdout.write(receipt.outcome);
