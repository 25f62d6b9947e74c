import * as z from 'zod/mini';
import { attestationSchema, exportAttestationSchema } from '../../src/contract/resources/attestation.ts';
import { evidenceExportSchema, localReportItemSchema } from '../../src/contract/resources/evidence.ts';
import { atMsSchema, countSchema, digestSchema, openObjectSchema } from '../../src/contract/scalars.ts';
import { bundleManifestSchema } from '../../src/evidence/bundle/manifest.ts';
import { exportManifestSchema } from '../../src/evidence/export/manifest.ts';
import {
  acknowledgementSchema,
  inventoryLineSchema,
  inventoryRowSchema,
} from '../../src/mirror/inventory.ts';
import { decisionSchema } from '../../src/policy/decision.ts';
import { reportDiffSchema } from '../../src/report/diff.ts';
import { errorSchema, reportsSchema } from '../../src/report/many/reports.ts';
import { archiveSchema } from '../../src/report/many/archives.ts';
import { scrubSchema } from '../../src/report/many/scrubs.ts';
import { challengeSchema } from '../../src/verify/challenge/ledger.ts';
import {
  attestationReportSchema,
  bundleReportSchema,
  checkIdSchema,
  codeClassSchema,
  codeSchema,
  exportReportSchema,
  severitySchema,
  toolSourceReportSchema,
} from '../../src/verify/report-schema.ts';
import { mirrorEventSchema } from './mirror-events.ts';
import {
  reportChainSchema,
  receiptsReportSchema,
  signedReportSchema,
  summaryReportSchema,
} from './report-schemas.ts';
import type { SchemaRow } from './schema.ts';
import { selftestReportSchema } from './selftest-report.ts';

const count = z.int().check(z.gte(0));
const product = <const K extends string, S extends z.core.$ZodLooseShape>(kind: K, members: S) =>
  z.strictObject({ schemaVersion: z.literal(1), kind: z.literal(kind), ...members });

const inventoryHead = {
  number: countSchema.check(z.describe('of the last line')),
  head: z.exactOptional(digestSchema),
  atMs: atMsSchema,
};

const codeRow = {
  code: codeSchema,
  class: codeClassSchema,
  severity: severitySchema,
  meaning: z.string(),
  action: z.string(),
  clause: z.string(),
  exitCode: z
    .exactOptional(z.literal([1, 2, 3]))
    .check(z.describe('exit code of a command that ends with this code; errors only')),
  checks: z.array(checkIdSchema).check(z.describe('checks that can report this code')),
};
const checkRow = { check: checkIdSchema, proves: z.string(), codes: z.array(codeSchema) };

const packed = { manifestDigest: digestSchema, path: z.string() };

/** Outputs of the command with `--json`. */
export const OUTPUT_SCHEMAS: readonly SchemaRow[] = [
  {
    name: 'signed-report',
    version: 1,
    title: 'Signed report',
    description:
      'Payload of the DSSE envelope that "--sign" and "--signer" make: an in-toto Statement v1. Its subject is the canonical JSON (RFC 8785) of the report in the predicate, which follows the schema of its kind (docs/verify/reports.md).',
    schema: signedReportSchema,
  },
  {
    name: 'challenge',
    version: 1,
    title: 'Challenge',
    description:
      'Payload of a line of a ledger, a DSSE envelope that "drillproof challenge issue" makes: an in-toto Statement v1. Its subject is the canonical JSON (RFC 8785) of the seed in the predicate (docs/verify/time.md).',
    schema: challengeSchema,
  },
  {
    name: 'report-chain',
    version: 1,
    title: 'Report on a chain of signed reports',
    description: 'Output of "drillproof report verify --json" (docs/verify/reports.md).',
    schema: reportChainSchema,
  },
  {
    name: 'export-report',
    version: 1,
    title: 'Report on an export',
    description:
      'Output of "drillproof verify --json" for an export (formats §4), and result of verifyExport.',
    schema: exportReportSchema,
  },
  {
    name: 'bundle-report',
    version: 1,
    title: 'Report on a bundle',
    description:
      'Output of "drillproof verify --json" for a single part (formats §4), and result of verifyPart.',
    schema: bundleReportSchema,
  },
  {
    name: 'attestation-report',
    version: 1,
    title: 'Report on an attestation alone',
    description: 'Result of verifyAttestation.',
    schema: attestationReportSchema,
  },
  {
    name: 'tool-source-report',
    version: 1,
    title: 'Report on a tool source',
    description: 'Output of "drillproof tool-source --json", and result of verifyToolSource.',
    schema: toolSourceReportSchema,
  },
  {
    name: 'reports',
    version: 1,
    title: 'Reports on several paths',
    description: 'Output of "drillproof verify --json" for several paths or a list of paths.',
    schema: reportsSchema,
  },
  {
    name: 'decision',
    version: 1,
    title: 'Decision of a gate',
    description: 'Output of "drillproof gate --json" (formats §8), and result of evaluate.',
    schema: decisionSchema,
  },
  {
    name: 'report-diff',
    version: 1,
    title: 'Difference of two reports',
    description: 'Output of "drillproof diff --json".',
    schema: reportDiffSchema,
  },
  {
    name: 'error',
    version: 1,
    title: 'Error',
    description: 'Output of every command with --json when its work could not continue.',
    schema: errorSchema,
  },
  {
    name: 'code',
    version: 1,
    title: 'Code',
    description: 'Output of "drillproof explain CODE --json".',
    schema: product('code', codeRow),
  },
  {
    name: 'check',
    version: 1,
    title: 'Check',
    description: 'Output of "drillproof explain CHECK --json".',
    schema: product('check', checkRow),
  },
  {
    name: 'word',
    version: 1,
    title: 'Word of a report',
    description: 'Output of "drillproof explain WORD --json".',
    schema: product('word', { word: z.string(), meaning: z.string() }),
  },
  {
    name: 'codes',
    version: 1,
    title: 'Catalogue of codes and checks',
    description: 'Output of "drillproof explain --json".',
    schema: product('codes', {
      codes: z.array(z.strictObject(codeRow)),
      checks: z.array(z.strictObject(checkRow)),
    }),
  },
  {
    name: 'selftest-report',
    version: 1,
    title: 'Report of a selftest',
    description: 'Output of "drillproof selftest --json" (docs/formats/selftest.md).',
    schema: selftestReportSchema,
  },
  {
    name: 'packed-bundle',
    version: 1,
    title: 'Packed bundle',
    description: 'Output of "drillproof pack --json".',
    schema: product('packed-bundle', {
      ...packed,
      evidenceBundleId: z.string(),
      digest: digestSchema,
      bytes: count,
      objects: count,
      signed: z.boolean(),
      issuer: z.exactOptional(z.string()),
      keyId: z.exactOptional(z.string()),
    }),
  },
  {
    name: 'packed-export',
    version: 1,
    title: 'Packed export',
    description: 'Output of "drillproof export --json".',
    schema: product('packed-export', {
      ...packed,
      evidenceExportId: z.string(),
      bundles: count,
      localReports: count,
      attested: z.boolean(),
    }),
  },
  {
    name: 'export-contents',
    version: 1,
    title: 'Contents of an export',
    description: 'Output of "drillproof inspect --json" for an export, without a verdict.',
    schema: product('export-contents', {
      manifestDigest: digestSchema,
      manifest: exportManifestSchema,
      resource: z.exactOptional(evidenceExportSchema),
      attestation: z.exactOptional(exportAttestationSchema),
      otherFiles: z.array(z.strictObject({ path: z.string(), bytes: count })),
    }),
  },
  {
    name: 'part-contents',
    version: 1,
    title: 'Contents of a part',
    description:
      'Output of "drillproof inspect --json" for a part, without a verdict. Its run result has a schema of its own.',
    schema: product('part-contents', {
      manifestDigest: digestSchema,
      manifest: bundleManifestSchema,
      attestation: z.exactOptional(attestationSchema),
      runResult: z.exactOptional(openObjectSchema),
    }),
  },
  {
    name: 'mirror-event',
    version: 1,
    title: 'Event of a mirror',
    description: 'One line on standard error of "drillproof mirror --format json".',
    schema: mirrorEventSchema,
  },
  {
    name: 'mirror-archive',
    version: 1,
    title: 'Report on the mirrors of many exports',
    description: 'Output of "drillproof mirror --json" with --list or --all.',
    schema: archiveSchema,
  },
  {
    name: 'scrub',
    version: 1,
    title: 'Report on the scrub of an archive',
    description: 'Output of "drillproof scrub --json".',
    schema: scrubSchema,
  },
  {
    name: 'archive-inventory',
    version: 1,
    title: 'Line of the inventory of an archive',
    description: 'One line of inventory.jsonl.',
    schema: inventoryLineSchema,
  },
  {
    name: 'archive-listed',
    version: 1,
    title: 'Inventory of an archive',
    description: 'Output of "drillproof archive list --json".',
    schema: product('archive.listed', {
      place: z.string(),
      ...inventoryHead,
      exports: z.array(
        z.extend(inventoryRowSchema, {
          readAtMs: z.exactOptional(
            atMsSchema.check(z.describe('when a scrub last began to read it to its end; absent with --at')),
          ),
        }),
      ),
      acknowledged: z.array(acknowledgementSchema),
    }),
  },
  {
    name: 'archive-verified',
    version: 1,
    title: 'Comparison of an archive with its inventory',
    description: 'Output of "drillproof archive verify --json".',
    schema: product('archive.verified', {
      place: z.string(),
      outcome: z.enum(['complete', 'incomplete']),
      ...inventoryHead,
      faults: z.array(z.strictObject({ mirror: z.string(), code: codeSchema, message: z.string() })),
    }),
  },
  {
    name: 'archive-acknowledged',
    version: 1,
    title: 'Acknowledged damage',
    description: 'Output of "drillproof archive acknowledge --json".',
    schema: product('archive.acknowledged', {
      place: z.string(),
      acknowledged: z.array(acknowledgementSchema),
    }),
  },
  {
    name: 'archive-changed',
    version: 1,
    title: 'Changed export of an archive',
    description: 'Output of "drillproof archive hold", "release" and "remove" with --json.',
    schema: product('archive.changed', { place: z.string(), export: inventoryRowSchema }),
  },
  {
    name: 'receipts-verified',
    version: 1,
    title: 'Report on the receipts of mirrors',
    description: 'Output of "drillproof receipts verify --json"; each report is a result of verifyReceipts.',
    schema: product('receipts.verified', {
      mirrors: z.array(z.strictObject({ path: z.string(), report: receiptsReportSchema })),
    }),
  },
  {
    name: 'receipts-listed',
    version: 1,
    title: 'Receipts of mirrors',
    description: 'Output of "drillproof receipts list --json" without a verdict.',
    schema: product('receipts.listed', {
      mirrors: z.array(
        z.strictObject({
          path: z.string(),
          ...z.pick(receiptsReportSchema, { evidenceExportId: true, head: true, receipts: true }).shape,
        }),
      ),
    }),
  },
  {
    name: 'summary-report',
    version: 1,
    title: 'Report on a verification summary',
    description: 'Output of "drillproof vsa verify --json", and result of verifySummary.',
    schema: summaryReportSchema,
  },
  {
    name: 'local-reports',
    version: 1,
    title: 'Local reports of an export',
    description: 'Output of "drillproof reports --json": items of a control plane.',
    schema: product('local-reports', { items: z.array(localReportItemSchema) }),
  },
];
