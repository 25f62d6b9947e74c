// A process that mirrors and can be killed: `node mirror-child.ts URL FOLDER [OPTIONS as JSON]`.
import { createClient } from '../../../src/client/index.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { bagSink, mirrorExport } from '../../../src/mirror/index.ts';
import { mirrorDirectory } from '../../../src/node/volume/mirror.ts';
import { openPartStore } from '../../../src/node/volume/part-store.ts';

/** What differs from a plain mirror into a folder. */
export type ChildOptions = {
  readonly store?: string;
  readonly bagit?: boolean;
  readonly waitMs?: number;
};

const [, , baseUrl = '', folder = '', options = '{}'] = process.argv;
const { store, bagit = false, waitMs } = JSON.parse(options) as ChildOptions;
const evidenceExportId = 'evexp_000000000001';
const directory = mirrorDirectory(folder, {
  ...(store !== undefined && { store: await openPartStore(store) }),
  ...(waitMs !== undefined && { lock: { waitMs } }),
});
try {
  const receipt = await mirrorExport(
    { projectId: 'prj_000000000001', evidenceExportId },
    {
      client: createClient({ baseUrl, token: 'a-token' }),
      to: bagit ? bagSink(directory, { tool: 'drillproof/test', evidenceExportId }) : directory,
    },
  );
  process.stdout.write(receipt.outcome);
} catch (error) {
  if (!(error instanceof DrillproofError)) throw error;
  process.stdout.write(`${error.code}: ${error.message}`);
  process.exitCode = 3;
}
