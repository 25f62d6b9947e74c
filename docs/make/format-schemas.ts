import type { SchemaRow } from './schema.ts';
import * as z from 'zod/mini';
import { runFileResultSchema, runFileSchema } from '../../src/cli/pack/input.ts';
import { attestationSchema, exportAttestationSchema } from '../../src/contract/resources/attestation.ts';
import { evidenceBundleSchema, evidenceExportSchema } from '../../src/contract/resources/evidence.ts';
import { runResultSchema } from '../../src/contract/resources/run.ts';
import { toolSourceSchema } from '../../src/contract/resources/build.ts';
import { buildLockSchema } from '../../src/evidence/build-lock.ts';
import { bundleManifestSchema } from '../../src/evidence/bundle/manifest.ts';
import { exportManifestSchema } from '../../src/evidence/export/manifest.ts';
import { receiptSchema, unlinkedReceiptSchema } from '../../src/evidence/export/receipt.ts';
import { casesSchema } from '../../src/policy/cases.ts';
import { policySchema } from '../../src/policy/document/document.ts';
import { importSchema } from '../../src/server/admin/import.ts';
import { oidcSchema } from '../../src/server/http/oidc.ts';
import { trustedKeySchema } from '../../src/trust/trusted-key.ts';

const base64url = (bytes: number) =>
  z
    .string()
    .check(
      z.regex(/^[A-Za-z0-9_-]*$/),
      z.length(Math.ceil((bytes * 4) / 3)),
      z.describe(`${bytes} bytes, base64url`),
    );

/** A JWK Set (RFC 7517) with the members of drillproof; ignored members can have any value. */
const trustStoreSchema = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        ...trustedKeySchema.shape,
        kty: z.literal('EC'),
        crv: z.literal('P-256'),
        use: z.literal('sig'),
        alg: z.literal('ES256'),
        x: base64url(32),
        y: base64url(32),
        key_ops: z.optional(z.array(z.string())),
        ext: z.optional(z.unknown()),
        x5u: z.optional(z.unknown()),
        x5c: z.optional(z.unknown()),
        x5t: z.optional(z.unknown()),
        'x5t#S256': z.optional(z.unknown()),
      }),
    )
    .check(z.minLength(1)),
});

const CANONICAL = 'Its bytes must be their own RFC 8785 form.';

/** Documents in archives and folders, and files that people write for the command. */
export const FORMAT_SCHEMAS: readonly SchemaRow[] = [
  {
    name: 'bundle-manifest',
    version: 1,
    title: 'Bundle manifest',
    description: `manifest.json of a part (formats §1). ${CANONICAL} Paths are portable and sorted by their UTF-8 bytes; no two are twins; each signed role appears at most once.`,
    schema: bundleManifestSchema,
  },
  {
    name: 'export-manifest',
    version: 1,
    title: 'Export manifest',
    description: `manifest.json of an export (formats §1). ${CANONICAL} Ordinals count from 0 without a gap, paths follow from the ids, and the selection digest covers the lists.`,
    schema: exportManifestSchema,
  },
  {
    name: 'export-resource',
    version: 1,
    title: 'Evidence export resource',
    description:
      'export.json of an export, as the control plane returns it (formats §1; control API, Evidence export).',
    schema: evidenceExportSchema,
  },
  {
    name: 'bundle-resource',
    version: 1,
    title: 'Evidence bundle resource',
    description: 'An evidence bundle, as the control plane returns it (control API, Evidence bundle).',
    schema: evidenceBundleSchema,
  },
  {
    name: 'run-result',
    version: 1,
    title: 'Run result',
    description: `The object of role run-result in a bundle (control API, Hosted run). ${CANONICAL}`,
    schema: runResultSchema,
  },
  {
    name: 'attestation',
    version: 1,
    title: 'Attestation of a bundle',
    description: `attestation.json of a part (formats §2). ${CANONICAL} The signature is over the RFC 8785 bytes of the statement.`,
    schema: attestationSchema,
  },
  {
    name: 'export-attestation',
    version: 1,
    title: 'Attestation of an export',
    description: `export-attestation.json of an export (formats §2). ${CANONICAL}`,
    schema: exportAttestationSchema,
  },
  {
    name: 'trust-store',
    version: 1,
    title: 'Trust store',
    description:
      'Trusted keys as a JWK Set of P-256 keys (formats §3). No two have the same issuer and kid; no period ends before it begins; a compromised key is revoked; the point is on the curve.',
    schema: trustStoreSchema,
  },
  {
    name: 'build-lock',
    version: 1,
    title: 'Build lock',
    description: `build.json of a build archive (formats §7); its SHA-256 is the buildHash. ${CANONICAL} No package appears twice.`,
    schema: buildLockSchema,
  },
  {
    name: 'tool-source',
    version: 1,
    title: 'Tool source resource',
    description:
      'The source of a locked tool (control API, Tool source). artifactHash and bytes describe the UTF-8 bytes of the source, at most 1 MiB.',
    schema: toolSourceSchema,
  },
  {
    name: 'mirror-receipt',
    version: 1,
    title: 'Receipt of a mirror, without a link',
    description: 'An old receipt without a link to the previous one. It is read but no longer written.',
    schema: unlinkedReceiptSchema,
  },
  {
    name: 'mirror-receipt',
    version: 2,
    title: 'Receipt of a mirror',
    description:
      'Record of one run of "drillproof mirror", in receipts/ and as its output with --json. complete means that no file failed; previous names the receipt before it.',
    schema: receiptSchema,
  },
  {
    name: 'run-file',
    version: 1,
    title: 'Description of a run',
    description: 'RUN.json, which describes a run for "drillproof pack"; see its --help.',
    schema: z.extend(runFileSchema, {
      runResult: z.exactOptional(
        z.union([
          z.string().check(z.describe('the path of a file with the run result')),
          runFileResultSchema,
        ]),
      ),
    }),
  },
  {
    name: 'import',
    version: 1,
    title: 'Import file',
    description:
      'Resources for "drillproof admin import" (docs/server/server.md). Each belongs to a project of its organization; a session names an environment and a run a session of the project, in the file or stored.',
    schema: importSchema,
  },
  {
    name: 'oidc',
    version: 1,
    title: 'Issuers of OpenID Connect',
    description:
      'The issuers whose tokens "drillproof serve --oidc" accepts, and the rights that their claims give (docs/server/access.md).',
    schema: oidcSchema,
  },
  {
    name: 'policy',
    version: 1,
    title: 'Policy',
    description:
      'What evidence must satisfy (formats §8), for "drillproof gate". The schema does not reject codes that cannot be waived or invalid dates.',
    schema: policySchema,
  },
  {
    name: 'policy-cases',
    version: 1,
    title: 'Cases of a policy',
    description:
      'Cases for "drillproof policy test": evidence and the expected decision (docs/gate/policy.md).',
    schema: casesSchema,
  },
];
