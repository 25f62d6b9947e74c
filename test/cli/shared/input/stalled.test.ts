import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { exportRef } from '../../../client/make.ts';
import { faultServer } from '../../../faults/server.ts';
import { cleanUp, exportId, makeArchive, partOf, rot } from '../../../node/scrub/make.ts';
import { NOW } from '../../../support/evidence.ts';
import { call as callWith, expectPass, expectResult } from '../../make.ts';

const stalled = await faultServer(() => undefined);
const failing = await faultServer((_, response) => void response.writeHead(503).end());
afterAll(() => Promise.all([stalled.close(), failing.close()]));
afterAll(cleanUp);

const { projectId, evidenceExportId } = exportRef;
const { root, exports } = await makeArchive({ mirrors: 1 });
const folder = join(root, exportId(1));
const pin = exports[0]!.packed.manifestDigest;
const call = (line: string, url: string) =>
  callWith(`${line} --project ${projectId} --url ${url} --timeout 1s`, {
    env: { DRILLPROOF_TOKEN: 'token' },
    now: () => NOW,
  });

await expectPass(`policy init ${root}/policy.yaml`);

const LINES: readonly (readonly [line: string, operation: string])[] = [
  [`reports ${evidenceExportId}`, 'evidence.exports.read'],
  [`tool-source sha256:${'0'.repeat(64)} package`, 'builds.tools.source'],
  [`mirror ${evidenceExportId} --to ${root}/none`, 'export.json'],
  [`mirror --all --to ${root}/none`, 'the list of exports'],
  [`gate ${evidenceExportId} --policy ${root}/policy.yaml`, 'evidence.exports.read'],
];

describe('a command that calls a control plane', () => {
  it.each(LINES)('ends with 3 after --timeout if no answer arrives: %s', async (line) => {
    const startedAtMs = performance.now();
    await expectResult(call(line, stalled.url), 3, 'transport.TIMEOUT');
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
  });

  it.each(LINES)('prints a line for each retry on standard error: %s', async (line, operation) => {
    const { code, stderr } = await call(line, failing.url);
    expect(code).toBe(3);
    expect(stderr).toMatch(new RegExp(`^again in \\d\\.\\d s: ${operation}: .*503`, 'm'));
  });

  it('prints no retry with --quiet', async () => {
    const { code, stderr } = await call(`reports ${evidenceExportId} --quiet`, failing.url);
    expect([code, stderr]).toEqual([3, expect.not.stringMatching(/^again/m)]);
  });

  it('scrub --repair-from source prints a line for each retry, and names the timeout', async () => {
    await rot(partOf(folder));
    const line = `scrub ${folder} --repair-from source --expect-manifest ${pin}`;
    const { code, stdout, stderr } = await call(line, failing.url);
    expect([code, stdout]).toEqual([1, expect.stringContaining('transport.')]);
    expect(stderr).toMatch(/^again in \d\.\d s: evidence\.exports\.read: .*503/m);
    await expectResult(call(line, stalled.url), 1, 'transport.TIMEOUT');
  });
});
