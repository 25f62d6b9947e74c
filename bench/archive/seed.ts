/** Makes a control plane with many small exports from a seed. */
import { mkdir } from 'node:fs/promises';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { packBundle } from '../../src/evidence/bundle/pack-bundle.ts';
import { readPartFacts } from '../../src/evidence/bundle/part.ts';
import { partPath } from '../../src/evidence/export/manifest.ts';
import { packExport } from '../../src/evidence/export/pack-export.ts';
import { memorySource } from '../../src/evidence/source.ts';
import { createAdmin, openEmbedded } from '../../src/server.ts';
import {
  collect,
  idOf,
  makeBundleInput,
  makeExportInput,
  makeSigning,
  NOW,
  ORGANIZATION,
  PROJECT,
} from '../../test/support/evidence.ts';
import { signer } from '../inputs.ts';

/** An export of 3 to 10 parts, as its files. No two exports share a part. */
async function makeFiles(n: number): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {};
  const facts = [];
  for (let at = 1; at <= 3 + (n % 8); at++) {
    const input = makeBundleInput(n * 10 + at, { createdAtMs: NOW - 100_000 + n });
    const bytes = await collect((await packBundle(input, makeSigning(signer))).archive({}));
    files[partPath(input.evidenceBundleId)] = bytes;
    facts.push(await readPartFacts(memoryAccess(bytes)));
  }
  const input = { ...makeExportInput(facts), evidenceExportId: idOf('evexp', n) };
  const { documents } = await packExport(input, makeSigning(signer));
  for (const { path, bytes } of documents) files[path] = bytes;
  return files;
}

/** Stores exports of these numbers in the folder of a control plane, and returns a token that reads them. */
export async function seedPlane(data: string, numbers: Iterable<number>): Promise<string> {
  await mkdir(data, { recursive: true });
  const { store, blobs } = await openEmbedded(data);
  const admin = createAdmin({ store, blobs });
  try {
    const name = 'bench';
    await admin.createOrganization({ organizationId: ORGANIZATION, name });
    await admin.createProject({ organizationId: ORGANIZATION, projectId: PROJECT, name });
    for (const n of numbers) await admin.ingestExport(memorySource(await makeFiles(n)));
    const permissions = ['evidence.read'] as const;
    return (await admin.createToken({ organizationId: ORGANIZATION, projects: [PROJECT], permissions }))
      .token;
  } finally {
    await store.close();
  }
}
