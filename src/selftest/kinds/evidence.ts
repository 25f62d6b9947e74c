import * as z from 'zod/mini';
import { typedDigestSchema } from '../../contract/scalars.ts';
import { compareUtf8, toUtf8 } from '../../bytes/text/encoding.ts';
import { digestOf } from '../../bytes/hash.ts';
import { memoryAccess, type RandomAccess } from '../../bytes/random-access.ts';
import { bagSource, isBag } from '../../evidence/subtrees.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import { type EvidenceSource, memorySource, type SourceFile, zipSource } from '../../evidence/source.ts';
import type { ExportReport } from '../../verify/report.ts';
import { verifyExport } from '../../verify/export/export.ts';
import type { VerifyOptions } from '../../verify/options.ts';
import { verifyPart } from '../../verify/part/part.ts';
import { openZip } from '../../zip/read/open.ts';
import {
  bytesOfBase64,
  type CaseKind,
  defineKind,
  makeOutcome,
  type CaseOutcome,
  trustOf,
  WAYS,
} from '../outcome.ts';
import { secondOpinion } from '../../node/second-opinion/second-opinion.ts';

const common = {
  coverage: z.optional(z.literal(true)),
  trust: z.optional(z.string()),
  asOfMs: z.int(),
  expect: z.optional(
    z.object({
      manifestDigest: z.exactOptional(typedDigestSchema),
      evidenceExportId: z.exactOptional(z.string()),
      organizationId: z.exactOptional(z.string()),
      projectId: z.exactOptional(z.string()),
      bundles: z.exactOptional(z.int()),
    }),
  ),
};
const partShape = z.object({ ...common, zip: z.string(), sha256: z.string() });
const exportShape = z.object({
  ...common,
  files: z.optional(z.record(z.string(), z.string())),
  irregular: z.optional(z.array(z.string())),
  zip: z.optional(z.string()),
  depth: z.optional(z.enum(['full', 'digest'])),
  envelopes: z.optional(z.array(z.string())),
  limits: z.optional(z.object({ parts: z.exactOptional(z.int()), files: z.exactOptional(z.int()) })),
});
type Part = z.infer<typeof partShape>;
type Tree = z.infer<typeof exportShape>;
type Open = (bytes: Uint8Array) => RandomAccess;

const optionsOf = ({ trust, asOfMs, expect = {} }: Part | Tree): VerifyOptions => ({
  asOfMs,
  expect,
  ...trustOf(trust),
});

async function testPart(input: Part, open: Open, more: Partial<VerifyOptions> = {}): Promise<CaseOutcome> {
  const bytes = bytesOfBase64(input.zip);
  if (digestOf(bytes) !== input.sha256) throw new TypeError('the archive was decoded incorrectly');
  const report = await verifyPart(open(bytes), { ...optionsOf(input), ...more });
  return { ...makeOutcome(report.verdict, [report]), ...(input.coverage && coverageOf(report)) };
}

const coverageOf = ({
  coverage: { totalBytes, coveredBytes, attestedBytes },
}: Pick<ExportReport, 'coverage'>): object => ({ coverage: { totalBytes, coveredBytes, attestedBytes } });

/** Creates a tree in memory whose files are opened by `open`; the `irregular` paths are not regular files. */
function createTree(
  files: Readonly<Record<string, Uint8Array>>,
  irregular: readonly string[],
  open: Open,
): EvidenceSource {
  const source = memorySource(files);
  return {
    kind: 'memory',
    async files() {
      const links = irregular.map((path): SourceFile => ({ path, bytes: 0, regular: false }));
      return [...(await source.files()), ...links].toSorted((a, b) => compareUtf8(a.path, b.path));
    },
    async open(path) {
      const file = await source.open(path);
      const bytes = await file.read(0, file.size);
      return { ...open(bytes), close: () => file.close() };
    },
  };
}

async function openSource({ files = {}, irregular = [], zip }: Tree, open: Open): Promise<EvidenceSource> {
  if (zip !== undefined) {
    const access = open(bytesOfBase64(zip));
    return zipSource(await openZip(access));
  }
  const decoded = Object.entries(files).map(([path, content]) => [path, bytesOfBase64(content)] as const);
  const source = createTree(Object.fromEntries(decoded), irregular, open);
  return isBag(Object.keys(files)) ? bagSource(source) : source;
}

async function testExport(input: Tree, open: Open, more: Partial<VerifyOptions> = {}): Promise<CaseOutcome> {
  const { depth = 'full', limits, envelopes = [] } = input;
  const report = await verifyExport(await openSource(input, open), {
    ...optionsOf(input),
    depth,
    dsse: envelopes.map((text) => toUtf8(text)),
    limits: { ...DEFAULT_LIMITS, ...limits },
    ...more,
  });
  const reports = [report, ...report.parts, ...report.localReports];
  const outcome = { ...makeOutcome(report.verdict, reports), completeness: report.completeness };
  return input.coverage === true ? { ...outcome, ...coverageOf(report) } : outcome;
}

/**
 * A second opinion may report more about refused evidence, so only the verdict is compared then, and every code of the
 * first opinion must be among those of both.
 */
const compareOpinions =
  <I>(run: (input: I, open: Open, more?: Partial<VerifyOptions>) => Promise<CaseOutcome>) =>
  async (input: I): Promise<CaseOutcome> => {
    const first = await run(input, memoryAccess);
    const both = await run(input, memoryAccess, { secondOpinion });
    const codes = z.array(z.string());
    const reported = new Set(codes.parse(both['codes']));
    const allReported = codes.parse(first['codes']).every((code) => reported.has(code));
    return first.verdict === 'invalid' && both.verdict === 'invalid' && allReported ? first : both;
  };

export const evidenceKinds: Readonly<Record<string, CaseKind>> = {
  bundles: defineKind(
    partShape,
    ...WAYS.map(([name, open]) => [name, (input: Part) => testPart(input, open)] as const),
    ['with a second opinion', compareOpinions(testPart)],
  ),
  exports: defineKind(
    exportShape,
    ...WAYS.map(([name, open]) => [name, (input: Tree) => testExport(input, open)] as const),
    ['with a second opinion', compareOpinions(testExport)],
  ),
};
