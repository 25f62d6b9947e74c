import * as z from 'zod';
import {
  attestationSchema,
  digestSchema,
  evidenceExportSchema,
  exportAttestationSchema,
  localReportItemSchema,
} from '../../src/contract/index.ts';
import { mirrorEventSchema } from '../../src/cli/mirror/event-schema.ts';
import { bundleManifestSchema } from '../../src/evidence/bundle/manifest.ts';
import { exportManifestSchema } from '../../src/evidence/export/manifest.ts';
import { summaryReportSchema } from '../../src/policy/vsa/schema.ts';
import { decisionSchema } from '../../src/policy/decision.ts';
import { reportDiffSchema } from '../../src/report/diff-schema.ts';
import { errorSchema, reportsSchema } from '../../src/report/merge/reports-schema.ts';
import { archiveSchema } from '../../src/report/merge/archive-schema.ts';
import { scrubSchema } from '../../src/report/merge/scrub-schema.ts';
import { selftestReportSchema } from '../../src/selftest/index.ts';
import {
  attestationReportSchema,
  bundleReportSchema,
  checkIdSchema,
  codeClassSchema,
  codeSchema,
  exportReportSchema,
  receiptsReportSchema,
  severitySchema,
  toolSourceReportSchema,
} from '../../src/verify/report.ts';
import type { SchemaRow } from './schema.ts';

const count = z.int().min(0);
const product = <const K extends string, S extends z.core.$ZodLooseShape>(kind: K, members: S) =>
  z.strictObject({ schemaVersion: z.literal(1), kind: z.literal(kind), ...members });

const codeRow = {
  code: codeSchema,
  class: codeClassSchema,
  severity: severitySchema,
  meaning: z.string(),
  action: z.string(),
  clause: z.string(),
  exitCode: z.literal([1, 2, 3]).exactOptional().describe('of a command that ends with it; errors only'),
  checks: z.array(checkIdSchema).describe('checks of a verification that can find it'),
};
const checkRow = { check: checkIdSchema, proves: z.string(), codes: z.array(codeSchema) };

const packed = { manifestDigest: digestSchema, path: z.string() };

/** Outputs of the command: the reports of a verification, and the products of other commands with `--json`. */
export const OUTPUT_SCHEMAS: readonly SchemaRow[] = [
  {
    name: 'export-report',
    version: 1,
    title: 'Report on an export',
    description: 'What "drillproof verify --json" says of an export (formats §4), and verifyExport gives.',
    schema: exportReportSchema,
  },
  {
    name: 'bundle-report',
    version: 1,
    title: 'Report on a bundle',
    description: 'What "drillproof verify --json" says of a single part (formats §4), and verifyPart gives.',
    schema: bundleReportSchema,
  },
  {
    name: 'attestation-report',
    version: 1,
    title: 'Report on an attestation by itself',
    description: 'What verifyAttestation gives.',
    schema: attestationReportSchema,
  },
  {
    name: 'tool-source-report',
    version: 1,
    title: 'Report on a tool source',
    description: 'What "drillproof tool-source --json" says, and verifyToolSource gives.',
    schema: toolSourceReportSchema,
  },
  {
    name: 'reports',
    version: 1,
    title: 'Reports on several paths',
    description: 'What "drillproof verify --json" says when it was given several paths, or a list of them.',
    schema: reportsSchema,
  },
  {
    name: 'decision',
    version: 1,
    title: 'Decision of a gate',
    description: 'What "drillproof gate --json" says (formats §8), and evaluate gives.',
    schema: decisionSchema,
  },
  {
    name: 'report-diff',
    version: 1,
    title: 'Difference of two reports',
    description: 'What "drillproof diff --json" says.',
    schema: reportDiffSchema,
  },
  {
    name: 'error',
    version: 1,
    title: 'Error',
    description: 'What every command says with --json when its work could not go on.',
    schema: errorSchema,
  },
  {
    name: 'code',
    version: 1,
    title: 'Code',
    description: 'What "drillproof explain CODE --json" says.',
    schema: product('code', codeRow),
  },
  {
    name: 'check',
    version: 1,
    title: 'Check',
    description: 'What "drillproof explain CHECK --json" says.',
    schema: product('check', checkRow),
  },
  {
    name: 'word',
    version: 1,
    title: 'Word of a report',
    description: 'What "drillproof explain WORD --json" prints.',
    schema: product('word', { word: z.string(), meaning: z.string() }),
  },
  {
    name: 'codes',
    version: 1,
    title: 'Catalogue of codes and checks',
    description: 'What "drillproof explain --json" says.',
    schema: product('codes', {
      codes: z.array(z.strictObject(codeRow)),
      checks: z.array(z.strictObject(checkRow)),
    }),
  },
  {
    name: 'selftest-report',
    version: 1,
    title: 'Report of a selftest',
    description: 'What "drillproof selftest --json" says (docs/selftest.md).',
    schema: selftestReportSchema,
  },
  {
    name: 'packed-bundle',
    version: 1,
    title: 'Bundle that was packed',
    description: 'What "drillproof pack --json" says.',
    schema: product('packed-bundle', {
      ...packed,
      evidenceBundleId: z.string(),
      digest: digestSchema,
      bytes: count,
      objects: count,
      signed: z.boolean(),
      issuer: z.string().exactOptional(),
      keyId: z.string().exactOptional(),
    }),
  },
  {
    name: 'packed-export',
    version: 1,
    title: 'Export that was put together',
    description: 'What "drillproof export --json" says.',
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
    description: 'What "drillproof inspect --json" says of an export, without a verdict.',
    schema: product('export-contents', {
      manifestDigest: digestSchema,
      manifest: exportManifestSchema,
      resource: evidenceExportSchema.exactOptional(),
      attestation: exportAttestationSchema.exactOptional(),
      otherFiles: z.array(z.strictObject({ path: z.string(), bytes: count })),
    }),
  },
  {
    name: 'part-contents',
    version: 1,
    title: 'Contents of a part',
    description: 'What "drillproof inspect --json" says of a part, without a verdict.',
    schema: product('part-contents', {
      manifestDigest: digestSchema,
      manifest: bundleManifestSchema,
      attestation: attestationSchema.exactOptional(),
    }),
  },
  {
    name: 'mirror-event',
    version: 1,
    title: 'Event of a mirror',
    description: 'One line of what "drillproof mirror --format json" writes to standard error while it runs.',
    schema: mirrorEventSchema,
  },
  {
    name: 'mirror-archive',
    version: 1,
    title: 'Report on the mirrors of many exports',
    description: 'What "drillproof mirror --list --json" and "--all" say, and "report merge" of several.',
    schema: archiveSchema,
  },
  {
    name: 'scrub',
    version: 1,
    title: 'Report on the scrub of an archive',
    description: 'What "drillproof scrub --json" says.',
    schema: scrubSchema,
  },
  {
    name: 'receipts-verified',
    version: 1,
    title: 'Report on the receipts of mirrors',
    description:
      'What "drillproof receipts verify --json" says; verifyReceipts gives the report on each mirror.',
    schema: product('receipts.verified', {
      mirrors: z.array(z.strictObject({ path: z.string(), report: receiptsReportSchema })),
    }),
  },
  {
    name: 'receipts-listed',
    version: 1,
    title: 'Receipts of mirrors',
    description: 'What "drillproof receipts list --json" says, without a judgement.',
    schema: product('receipts.listed', {
      mirrors: z.array(
        z.strictObject({
          path: z.string(),
          ...receiptsReportSchema.pick({ evidenceExportId: true, head: true, receipts: true }).shape,
        }),
      ),
    }),
  },
  {
    name: 'summary-report',
    version: 1,
    title: 'Report on a verification summary',
    description: 'What "drillproof vsa verify --json" says, and verifySummary gives.',
    schema: summaryReportSchema,
  },
  {
    name: 'local-reports',
    version: 1,
    title: 'Local reports of an export',
    description: 'What "drillproof reports --json" says: rows of the manifest, or items of a control plane.',
    schema: product('local-reports', {
      items: z.union([exportManifestSchema.shape.localReports, z.array(localReportItemSchema)]),
    }),
  },
];
