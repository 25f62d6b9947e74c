import { expect, it } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { once } from '../../src/bytes/async.ts';
import { attestDsse } from '../../src/evidence/in-toto.ts';
import { parseAttestation } from '../../src/evidence/bundle/attestation.ts';
import { zipSource } from '../../src/evidence/source.ts';
import { verifyDirectory } from '../../src/node/verify-directory.ts';
import { renderJson } from '../../src/report/json.ts';
import { encodeDsse } from '../../src/trust/dsse.ts';
import { trustStore } from '../../src/trust/store.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import type { ExportReport } from '../../src/verify/report.ts';
import { openZip } from '../../src/zip/read/open.ts';
import {
  makeBundleInput,
  makeExport,
  makeObject,
  makePart,
  makeSigner,
  makeTrust,
  NOW,
  pack,
  unpack,
} from '../support/evidence.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';

/** The parts together are so large that threads are started for them. */
const LARGE = new Uint8Array(6 * 2 ** 20).map((_, at) => (at * 2_654_435_761) >>> (at % 13));
const large = makeObject('files/large.bin', '', { open: () => once(LARGE) });
const objects = [...makeBundleInput(1).objects, large];

const [first, second] = [makeSigner(), makeSigner()];
const trust = trustStore([...makeTrust(first).keys, ...makeTrust(second).keys]);
const root = await makeFolder();

/** Makes an envelope of the second signer for the bundle of a part. */
async function makeEnvelope(part: Uint8Array): Promise<Uint8Array> {
  const entries = await unpack(part);
  const { statement } = parseAttestation(entries.get('attestation.json')!);
  return encodeDsse(await attestDsse({ ...statement, keyId: second.keyId }, [second]));
}

const { files } = await makeExport({ signer: first, parts: 3, bundle: { objects } });
await writeFiles(root, files);
const zip = await pack(Object.entries(files));
const partOf = (n: number): Uint8Array => files[`parts/evidence_00000000000${n}.zip`]!;
const foreign = (await makePart(9, second)).bytes;
const envelopes = await Promise.all([partOf(3), partOf(1), foreign].map(makeEnvelope));

const verifyInFolder = (dsse: readonly Uint8Array[], jobs: number): Promise<ExportReport> =>
  verifyDirectory(root, { asOfMs: NOW, trust, dsse, jobs });
const signersOf = ({ parts }: ExportReport) => parts.map(({ signers }) => signers?.length);

it.each([
  ['that are valid', envelopes.slice(0, 2), 'verified'],
  ['of which one names a bundle of another export', envelopes, 'failed'],
])('envelopes about bundles of an export in a folder reach the threads: %s', async (_, dsse, verdict) => {
  const expected = await verifyInFolder(dsse, 1);
  expect([expected.verdict, signersOf(expected)]).toEqual([verdict, [2, 1, 2]]);
  for (const jobs of [2, 4]) expect(renderJson(await verifyInFolder(dsse, jobs))).toBe(renderJson(expected));
  const source = zipSource(await openZip(memoryAccess(zip)));
  const packed = await verifyExport(source, { asOfMs: NOW, trust, dsse });
  const checks = packed.checks.filter(({ id }) => id !== 'export.container');
  // Every byte of the container counts but the claims of export.json. No file of the folder contains ZIP metadata.
  const coverage = { ...packed.coverage, totalBytes: expected.coverage.totalBytes };
  const folderBytes = Object.values(files).reduce((sum, { length }) => sum + length, 0);
  const claimed = folderBytes - expected.coverage.totalBytes;
  expect(claimed).toBeGreaterThan(0);
  expect(packed.coverage.totalBytes).toBe(zip.length - claimed);
  expect(renderJson({ ...packed, checks, coverage })).toBe(renderJson(expected));
});
