import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from '../src/bytes/async.ts';
import { packBundle, packExport, partPath, readPartFacts, type PartFacts } from '../src/evidence/index.ts';
import { formatChecksums } from '../src/evidence/export/checksums.ts';
import { openFile } from '../src/node/evidence/file-access.ts';
import { generateSigningKey } from '../src/node/keys/keys.ts';
import { trustStore, trustStoreJwks } from '../src/trust/index.ts';
import {
  makeBundleInput,
  makeSigning,
  ISSUER,
  NOW,
  ORGANIZATION,
  PROJECT,
} from '../test/support/evidence.ts';

/** What an export for a measurement is made of. */
export type Shape = {
  readonly parts: number;
  readonly objectBytes: number;
  readonly compression: 'store' | 'deflate';
};

/** Bytes that look like a log: half of them compress, and the same seed gives the same ones. */
function logBytes(seed: number, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  let line = createHash('sha256').update(String(seed)).digest();
  for (let at = 0; at < length; at += 64) {
    line = createHash('sha256').update(line).digest();
    bytes.write(line.toString('hex'), at, 'latin1');
  }
  return bytes;
}

/** Writes a signed export of this shape with its SHA256SUMS and trust.json beside it. */
export async function writeExport(root: string, { parts, objectBytes, compression }: Shape): Promise<void> {
  mkdirSync(join(root, 'export/parts'), { recursive: true });
  const { signer } = generateSigningKey();
  const facts: PartFacts[] = [];
  for (let n = 0; n < parts; n++) {
    const input = makeBundleInput(n);
    const content = logBytes(n, objectBytes);
    const log = { path: 'objects/run.log', mediaType: 'text/plain', open: () => once(content) };
    const packed = await packBundle({ ...input, objects: [...input.objects, log] }, makeSigning(signer));
    const path = join(root, 'export', partPath(input.evidenceBundleId));
    const chunks: Uint8Array[] = [];
    for await (const chunk of packed.archive({ compression })) chunks.push(chunk);
    writeFileSync(path, Buffer.concat(chunks));
    const access = await openFile(path);
    facts.push(await readPartFacts(access));
    await access.close();
  }
  await writeDocuments(root, facts, signer);
}

async function writeDocuments(
  root: string,
  parts: readonly PartFacts[],
  signer: ReturnType<typeof generateSigningKey>['signer'],
): Promise<void> {
  const { documents, manifest } = await packExport(
    {
      evidenceExportId: 'evexp_000000000001',
      organizationId: ORGANIZATION,
      scope: { kind: 'project', projectId: PROJECT },
      fromAtMs: NOW - 200_000,
      throughAtMs: NOW,
      operationId: 'op_000000000001',
      requestedBy: 'bench',
      createdAtMs: NOW,
      completedAtMs: NOW,
      parts,
      localReports: [],
    },
    { signer, issuer: ISSUER, issuedAtMs: NOW },
  );
  for (const { path, bytes } of documents) writeFileSync(join(root, 'export', path), bytes);
  writeFileSync(join(root, 'export/SHA256SUMS'), formatChecksums(manifest.parts));
  const purposes = ['evidence', 'export'] as const;
  const key = { issuer: ISSUER, keyId: signer.keyId, point: signer.point, compromised: true, purposes };
  writeFileSync(join(root, 'trust.json'), JSON.stringify(trustStoreJwks(trustStore([key]))));
}
