import { EXPORT_ID, idOf, makeExport, PROJECT } from '../../support/evidence.ts';
import type { EvidenceExport } from '../../../src/contract/resources/evidence.ts';
import type { TestS3 } from '../../support/s3.ts';
import { sendBytes, serveExports, type Fault, type TestExport } from '../../faults/export-source.ts';
import { collectResult, drillproof, start, type CliResult } from '../make.ts';

export const TOKEN = 'token-that-must-never-appear';

/** Exports of real evidence, with ids that count from 1. */
export function realExports(count: number): Promise<readonly TestExport[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => realExport(idOf('evexp', i + 1))));
}

async function realExport(id: string = EXPORT_ID): Promise<TestExport> {
  const { files: all } = await makeExport({ reports: 0, input: { evidenceExportId: id } });
  const {
    'manifest.json': manifest,
    'export.json': resource,
    'export-attestation.json': attestation,
    ...files
  } = all;
  if (manifest === undefined || resource === undefined || attestation === undefined)
    throw new Error('the export has no documents');
  const typed = JSON.parse(Buffer.from(resource).toString()) as EvidenceExport;
  const manifestDigest = typed.manifestDigest as TestExport['manifestDigest'];
  return {
    id,
    files: new Map(Object.entries(files)),
    manifest,
    manifestDigest,
    resource: typed,
    attestation,
  };
}

/** Holds the answers with parts of one export until `open` is called. */
export function gate(id: string) {
  const held: (() => void)[] = [];
  let open = false;
  const fault: Fault = ({ path, bytes, seen, response }) => {
    if (open || !path.startsWith('parts/') || !seen.url.includes(id)) return false;
    held.push(() => sendBytes(response, seen, bytes));
    return true;
  };
  return {
    fault,
    /** Counts the waiting requests. */
    held: () => held.length,
    open() {
      open = true;
      for (const answer of held.splice(0)) answer();
    },
  };
}

/** Starts a control plane with exports; `worker` starts a process that mirrors them to S3 with a queue. */
export async function sharedWork(s3: TestS3, queue: string, all: readonly TestExport[], fault?: Fault) {
  const server = await serveExports(all, fault);
  const place = s3.url(await s3.bucket(), 'archive');
  const env = { ...s3.env, DRILLPROOF_TOKEN: TOKEN };
  const common = `mirror --list - --project ${PROJECT} --url ${server.url} --to ${place} --concurrency 1`;
  const shared = `--queue ${queue} --json --quiet`;
  const line = (...more: string[]): string[] => {
    const lost = more.includes('--queue-lost-after') ? [] : ['--queue-lost-after', '10s'];
    return [...`${common} ${shared}`.split(' '), ...lost, ...more];
  };
  return {
    server,
    place,
    env,
    line,
    worker(ids: readonly string[], ...more: string[]) {
      const child = start(line(...more), { env });
      child.stdin.end(ids.join('\n'));
      return { child, ended: collectResult(child) };
    },
    /** Verifies every export of the list in S3. */
    verify: (ids: readonly string[]): Promise<CliResult> =>
      drillproof('verify --list - --accept intact --json --quiet', {
        env,
        input: ids.map((id) => place.replace('archive', `archive/${id}/`)).join('\n'),
      }),
  };
}
