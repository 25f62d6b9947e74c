import * as z from 'zod/mini';
import { canonicalJson } from '../../../src/bytes/json/canonical.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { Flag } from '../../flags.ts';
import { VALID, type VectorCase, accepts, digestTextSchema, refused } from '../../kind.ts';
import { bundle } from '../../make/bundle.ts';
import { sha256Of } from '../../make/bytes.ts';
import { exportManifest } from '../../make/export.ts';
import type { Patch } from '../../make/patch.ts';

export const inputSchema = z.strictObject({
  manifest: z.string().check(z.describe('manifest.json as text; its bytes are the UTF-8 of it')),
  limits: z.optional(z.strictObject({ parts: z.int() })),
});

export const expectedSchema = accepts(
  z.strictObject({
    verdict: z.literal('valid'),
    digest: digestTextSchema,
    selectionDigest: digestTextSchema.check(z.describe('what the rows give, which the manifest states too')),
    parts: z.int(),
    localReports: z.int(),
  }),
);

export type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;

export const bundles = [bundle(1, { signer: 'a' }), bundle(2)];

export const sound = canonicalJson(exportManifest(bundles, 2));

export const good = (
  id: string,
  manifest: string,
  counts: readonly [number, number],
  selectionDigest: string,
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { manifest },
  expected: {
    ...VALID,
    digest: sha256Of(manifest),
    selectionDigest,
    parts: counts[0],
    localReports: counts[1],
  },
});

export const raw = (id: string, manifest: string, code: Code, flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: { manifest },
  expected: refused(code),
});

export const bad = (id: string, rows: Patch, manifest: Patch, flag: Flag, comment: string): Case =>
  raw(
    id,
    canonicalJson(exportManifest(bundles, 2, rows, manifest)),
    'export.MANIFEST_INVALID',
    flag,
    comment,
  );

export const digestOf = (
  ...rows: readonly (readonly [member: string, id: string, manifest: string])[]
): string =>
  sha256Of(
    `[${rows.map(([member, id, digest]) => `{"${member}":"${id}","manifestDigest":"${digest}"}`).join(',')}]`,
  );

export const partOf = (n: number) =>
  ['evidenceBundleId', `evidence_00000000000${n}`, sha256Of(bundle(n).manifestBytes)] as const;

export const reportOf = (n: number) =>
  ['localReportId', `lrep_00000000000${n}`, sha256Of(`manifest of report ${n}`)] as const;
