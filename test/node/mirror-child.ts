// A process that mirrors and can be killed: `node mirror-child.ts URL FOLDER`.
import { createClient } from '../../src/client/index.ts';
import { mirrorExport } from '../../src/mirror/index.ts';
import { mirrorDirectory } from '../../src/node/mirror-directory.ts';

const [, , baseUrl = '', folder = ''] = process.argv;
const exportRef = { projectId: 'prj_000000000001', evidenceExportId: 'evexp_000000000001' };
const receipt = await mirrorExport(exportRef, {
  client: createClient({ baseUrl, token: 'a-token' }),
  to: mirrorDirectory(folder),
});
process.stdout.write(receipt.outcome);
