import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { digestOf } from '../../bytes/hash.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import { parseBundleManifest } from '../../evidence/bundle/manifest.ts';
import { parseExportManifest, selectionDigest } from '../../evidence/export/manifest.ts';
import { secondOpinion } from '../../node/second-opinion/second-opinion.ts';
import { verifyTimestamps } from '../../node/time/timestamps.ts';
import { findStamp, resolveSettings, type SecondOpinion } from '../../verify/options.ts';
import { verifyLedger } from '../../verify/challenge/ledger.ts';
import { verifyAttestation } from '../../verify/verify-attestation.ts';
import { verifyToolSource } from '../../verify/tool-source.ts';
import {
  bytesOfBase64,
  type CaseKind,
  defineKind,
  makeOutcome,
  type CaseOutcome,
  trustOf,
} from '../outcome.ts';
import { createClient } from '../../client/client.ts';
import { typedDigestSchema } from '../../contract/scalars.ts';
import type { LocalReportItem } from '../../contract/resources/evidence.ts';

const attestationShape = z.object({
  attestation: z.string(),
  trust: z.exactOptional(z.string()),
  asOfMs: z.int(),
  projectId: z.exactOptional(z.string()),
  organizationId: z.exactOptional(z.string()),
  manifestDigest: z.exactOptional(z.string()),
});

function testAttestation(
  input: z.infer<typeof attestationShape>,
  options: { secondOpinion?: SecondOpinion } = {},
): CaseOutcome {
  const { attestation, trust, ...rest } = input;
  const report = verifyAttestation(attestation, { ...rest, ...trustOf(trust), ...options });
  return makeOutcome(report.verdict, [report]);
}

const timestampShape = z.object({
  attestation: z.string(),
  tokens: z.record(z.string(), z.string()),
  trust: z.string(),
  asOfMs: z.int(),
});

async function testTimestamps(input: z.infer<typeof timestampShape>): Promise<CaseOutcome> {
  const { attestation, asOfMs } = input;
  const trusted = trustOf(input.trust);
  const files = Object.entries(input.tokens).map(([name, text]) => ({ name, token: bytesOfBase64(text) }));
  const timestamps = await verifyTimestamps(files, { asOfMs, ...trusted });
  const report = verifyAttestation(attestation, { asOfMs, ...trusted, timestamps });
  const stamp = findStamp(resolveSettings({ asOfMs, timestamps }), toUtf8(attestation));
  return { ...makeOutcome(report.verdict, [report]), ...defined({ stampedAtMs: stamp?.atMs }) };
}

const ledgerShape = z.object({
  ledger: z.string(),
  trust: z.exactOptional(z.string()),
  asOfMs: z.int(),
  expectLast: z.exactOptional(typedDigestSchema),
});

function testLedger({ ledger, trust, ...rest }: z.infer<typeof ledgerShape>): CaseOutcome {
  const report = verifyLedger(toUtf8(ledger), { ...rest, ...trustOf(trust) });
  return makeOutcome(report.verdict, [report]);
}

const toolShape = z.object({
  resource: z.string(),
  repeatedSource: z.optional(z.object({ text: z.string(), times: z.int() })),
  lock: z.optional(z.string()),
  expect: z.optional(z.object({ buildHash: z.string(), packageId: z.string() })),
});
const resourceShape = z.looseObject({ implementation: z.looseObject({}) });

function testToolSource({ resource, repeatedSource, lock, expect }: z.infer<typeof toolShape>): CaseOutcome {
  let text = resource;
  if (repeatedSource !== undefined) {
    const { implementation, ...rest } = resourceShape.parse(JSON.parse(resource));
    const source = repeatedSource.text.repeat(repeatedSource.times);
    text = JSON.stringify({ ...rest, implementation: { ...implementation, source } });
  }
  const report = verifyToolSource(
    text,
    defined({ lock: lock === undefined ? undefined : toUtf8(lock), expect }),
  );
  return makeOutcome(report.verdict, [report]);
}

/** A parsed manifest must be written as the same bytes. */
function assertSameBytes(bytes: Uint8Array, written: Uint8Array): void {
  if (digestOf(bytes) !== digestOf(written)) throw new TypeError('the written bytes differ');
}

const limit = z.exactOptional(z.int());
const shape = z.object({
  pages: z.array(z.object({ items: z.int(), nextCursor: z.optional(z.unknown()) })),
  limits: z.optional(z.object({ pages: limit, items: limit })),
});
type Input = z.infer<typeof shape>;
type Body = (text: string) => BodyInit;

const HASH = `sha256:${'0'.repeat(64)}`;
const PROJECT = 'prj_000000000001';

/** A row of an answer, whose content is not tested. */
const item = (n: number): LocalReportItem => ({
  source: {
    ordinal: n,
    projectId: PROJECT,
    localReportId: `lrep_${n}`,
    submissionDigest: HASH,
    manifestDigest: HASH,
    archiveBytes: 1,
    provenance: { origin: 'user_produced', trust: 'unattested', uploadedBy: 'somebody' },
    summary: {
      runId: 'run_000001',
      drillId: 'drill',
      targetId: 'target',
      reportedBuildHash: HASH,
      reportedPackageLockHash: HASH,
      seed: '1',
      reportedStatus: 'completed',
      artifactCount: 1,
      expandedBytes: 1,
      redacted: false,
    },
    createdAtMs: 1,
    verifiedAtMs: 1,
  },
  archive: { localReportId: `lrep_${n}`, path: `local-reports/lrep_${n}.zip`, digest: HASH, bytes: '1' },
});

/** Creates a server that answers with the pages one after the other, and records the cursor of each request. */
function createPageServer(pages: Input['pages'], body: Body, cursors: (string | null)[]): typeof fetch {
  return (address) => {
    const { searchParams } = new URL(address instanceof Request ? address.url : address);
    const page = pages[cursors.length];
    if (page === undefined) throw new TypeError('the client requests more pages than exist');
    const before = pages.slice(0, cursors.length).reduce((sum, { items }) => sum + items, 0);
    cursors.push(searchParams.get('cursor'));
    const rows = Array.from({ length: page.items }, (_, n) => item(before + n));
    const text = JSON.stringify({ ...page, items: rows });
    return Promise.resolve(new Response(body(text), { headers: { 'Content-Type': 'application/json' } }));
  };
}

async function readList({ pages, limits = {} }: Input, body: Body) {
  const cursors: (string | null)[] = [];
  const client = createClient({
    baseUrl: 'https://control.example',
    token: 'none',
    fetch: createPageServer(pages, body, cursors),
    retry: { retries: 0 },
    limits,
  });
  let items = 0;
  const rows = client.localReports({ projectId: PROJECT, evidenceExportId: 'evexp_000000000001' });
  for await (const _ of rows) items++;
  return { cursors, items };
}

const streamBytewise = (text: string): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start(controller) {
      for (const byte of toUtf8(text)) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });

export const documentsKinds: Readonly<Record<string, CaseKind>> = {
  'bundle-manifests': defineKind(
    z.object({ manifest: z.string(), limits: z.optional(z.object({ objects: z.int() })) }),
    [
      'parsed',
      (input) => {
        const bytes = toUtf8(input.manifest);
        const manifest = parseBundleManifest(bytes, { ...DEFAULT_LIMITS, ...input.limits });
        assertSameBytes(bytes, canonicalBytes(manifest));
        return { digest: digestOf(bytes), objects: manifest.objects.length };
      },
    ],
  ),
  'export-manifests': defineKind(
    z.object({ manifest: z.string(), limits: z.optional(z.object({ parts: z.int() })) }),
    [
      'parsed',
      (input) => {
        const bytes = toUtf8(input.manifest);
        const manifest = parseExportManifest(bytes, { ...DEFAULT_LIMITS, ...input.limits });
        assertSameBytes(bytes, canonicalBytes(manifest));
        const { parts, localReports } = manifest;
        return {
          digest: digestOf(bytes),
          selectionDigest: selectionDigest(parts, localReports),
          parts: parts.length,
          localReports: localReports.length,
        };
      },
    ],
  ),
  attestations: defineKind(
    attestationShape,
    ['alone', (input) => testAttestation(input)],
    ['with a second opinion', (input) => testAttestation(input, { secondOpinion })],
  ),
  timestamps: defineKind(timestampShape, ['tokens', testTimestamps]),
  challenges: defineKind(ledgerShape, ['ledger', testLedger]),
  'tool-sources': defineKind(toolShape, ['resource', testToolSource]),
  cursors: defineKind(
    shape,
    ['answers as a whole', (input) => readList(input, (text) => text)],
    ['answers one byte at a time', (input) => readList(input, streamBytewise)],
  ),
};
