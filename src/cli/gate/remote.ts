import { join } from 'node:path';
import { defined } from '../../bytes/arguments.ts';
import { mirrorExport } from '../../mirror/mirror.ts';
import { inTemporaryFolder } from '../../node/temporary-folder.ts';
import { mirrorDirectory } from '../../node/volume/mirror.ts';
import type { BundleReport, ExportReport } from '../../verify/report.ts';
import type { Cli } from '../cli.ts';
import { readToolName } from '../shared/output/product.ts';
import { openProject } from '../shared/input/remote.ts';
import { type VerifySettings, verifyPath } from '../shared/input/verify.ts';
import type { GateOptions } from './options.ts';

/**
 * Copies an export from a control plane into a temporary folder, verifies it, and always removes the folder. A separate
 * module, because most gates need no client.
 */
export async function verifyRemote(
  cli: Cli,
  evidenceExportId: string,
  options: GateOptions,
  settings: VerifySettings,
): Promise<ExportReport | BundleReport> {
  const { wait } = options;
  const { client, project } = await openProject(cli, options, 'Name the project with --project ID.');
  return inTemporaryFolder('gate', async (folder) => {
    const to = join(folder, evidenceExportId);
    await mirrorExport(
      { projectId: project, evidenceExportId },
      {
        client,
        to: mirrorDirectory(to),
        tool: await readToolName(),
        signal: cli.signal,
        now: cli.now,
        ...defined({ waitMs: wait, expectManifest: settings.expect?.manifestDigest }),
      },
    );
    return verifyPath(cli, to, settings);
  });
}
