/** Small makers of evidence for tests: everything is real and signed, and every fact can be overridden. */
import { platform } from '#platform';
import { digestOf } from '../../src/bytes/hash.ts';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { toUtf8 } from '../../src/bytes/utf8.ts';
import type { RunResult } from '../../src/contract/index.ts';
import {
  packBundle,
  packExport,
  readPartFacts,
  type BundleInput,
  type BundleSigning,
  type ExportInput,
  type LocalReportFacts,
  type ObjectInput,
  type PackedBundle,
  type PackedExport,
} from '../../src/evidence/index.ts';
import {
  createSigner,
  trustStore,
  type Signer,
  type TrustedKey,
  type TrustStore,
} from '../../src/trust/index.ts';

export const NOW = 1_790_000_000_000;
export const ISSUER = 'https://drills.example';
export const ORGANIZATION = 'org_000000000001';
export const PROJECT = 'prj_000000000001';
export const EXPORT_ID = 'evexp_000000000001';

/** `name` made an identifier body of 12 digits. */
export const idOf = (prefix: string, n: number): string => `${prefix}_${String(n).padStart(12, '0')}`;
export const hashOf = (text: string): string => digestOf(toUtf8(text));
export const makeSigner = (): Signer => createSigner(platform.p256.generateScalar());

export async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Uint8Array.from(Buffer.concat(chunks));
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export const makeObject = (path: string, text: string, rest: Partial<ObjectInput> = {}): ObjectInput => ({
  path: `objects/${path}`,
  mediaType: 'text/plain',
  open: () => once(toUtf8(text)),
  ...rest,
});

export function makeRunResult(
  n: number,
  rest: Partial<RunResult> = {},
): NonNullable<BundleInput['runResult']> {
  return {
    schemaVersion: 1,
    identity: {
      runId: `run_test-${n}-run`,
      worldInstanceId: `world-${n}`,
      drillId: 'check-package',
      targetId: `target-${n}`,
      buildHash: hashOf('build'),
      packageLockHash: hashOf('lock'),
      seed: String(n),
      trial: 1,
      trialCount: 1,
      attempt: 1,
      attemptLimit: 1,
      scenarioId: 'plain',
      setupHash: hashOf('setup'),
    },
    startedAtVirtualUs: 0,
    finishedAtVirtualUs: 1_000_000,
    bindingEvidence: 'complete',
    worldConsistency: 'consistent',
    interactions: [],
    checkpoints: [],
    budgetUsage: {
      toolCalls: { limit: 10, attempted: 1, rejected: 0 },
      scheduledEvents: { limit: 10, processed: 0, exhausted: false },
    },
    status: 'completed',
    verdict: 'passed',
    assertionResults: [],
    evidenceRange: { fromSequence: 1, toSequence: 2 },
    ...rest,
  };
}

/** The input of a small bundle with every role; `n` tells bundles apart. */
export function makeBundleInput(n: number, rest: Partial<BundleInput> = {}): BundleInput {
  return {
    evidenceBundleId: idOf('evidence', n),
    organizationId: ORGANIZATION,
    projectId: PROJECT,
    hostedRunId: idOf('hrun', n),
    runId: `run_test-${n}-run`,
    createdAtMs: NOW - 100_000 + n,
    objects: [
      makeObject('evidence.jsonl', `{"sequence":1,"run":${n}}\n{"sequence":2}\n`, { role: 'evidence' }),
      makeObject('state.json', `{"run":${n}}`, { role: 'state', mediaType: 'application/json' }),
      makeObject('trajectory.jsonl', `{"step":${n}}\n`, { role: 'trajectory' }),
      makeObject('files/readme.txt', 'hello '.repeat(50), { role: 'file' }),
    ],
    runResult: makeRunResult(n),
    ...rest,
  };
}

export const makeSigning = (signer: Signer, rest: Partial<BundleSigning> = {}): BundleSigning => ({
  signer,
  issuer: ISSUER,
  issuedAtMs: NOW - 50_000,
  ...rest,
});

export const makeTrust = (signer: Signer, rest: Partial<TrustedKey> = {}): TrustStore =>
  trustStore([
    {
      issuer: ISSUER,
      keyId: signer.keyId,
      point: signer.point,
      compromised: true,
      purposes: ['evidence', 'export'],
      ...rest,
    },
  ]);

export type MadePart = { readonly packed: PackedBundle; readonly bytes: Uint8Array };

/** A packed part archive; unsigned without a signer. */
export async function makePart(
  n: number,
  signer?: Signer,
  rest: Partial<BundleInput> = {},
): Promise<MadePart> {
  const packed = await packBundle(makeBundleInput(n, rest), signer && makeSigning(signer));
  return { packed, bytes: await collect(packed.archive()) };
}

export type MadeExport = {
  readonly packed: PackedExport;
  readonly files: Record<string, Uint8Array>;
  readonly signer: Signer;
};

type ExportChoices = {
  readonly signer?: Signer;
  readonly parts?: number;
  readonly signedParts?: boolean;
  readonly signedList?: boolean;
  readonly reports?: number;
  readonly input?: Partial<ExportInput>;
};

/** A whole export in memory, by path: by default two signed parts, one local report, a signed list. */
export async function makeExport(choices: ExportChoices = {}): Promise<MadeExport> {
  const { signer = makeSigner(), parts = 2, reports = 1, signedParts = true, signedList = true } = choices;
  const files: Record<string, Uint8Array> = {};
  const facts = [];
  for (let n = 1; n <= parts; n++) {
    const { bytes, packed } = await makePart(n, signedParts ? signer : undefined);
    files[`parts/${packed.manifest.evidenceBundleId}.zip`] = bytes;
    facts.push(await readPartFacts(memoryAccess(bytes)));
  }
  const localReports = Array.from({ length: reports }, (_, i) => makeReport(i + 1));
  for (const { facts: report, bytes } of localReports)
    files[`local-reports/${report.localReportId}.zip`] = bytes;
  const packed = await packExport(
    {
      evidenceExportId: EXPORT_ID,
      organizationId: ORGANIZATION,
      scope: { kind: 'project', projectId: PROJECT },
      fromAtMs: NOW - 200_000,
      throughAtMs: NOW,
      operationId: 'op_000000000001',
      requestedBy: 'tester',
      createdAtMs: NOW - 40_000,
      completedAtMs: NOW - 30_000,
      parts: facts,
      localReports: localReports.map((report) => report.facts),
      ...choices.input,
    },
    signedList ? { signer, issuer: ISSUER, issuedAtMs: NOW - 30_000 } : undefined,
  );
  for (const { path, bytes } of packed.documents) files[path] = bytes;
  return { packed, files, signer };
}

/** An opaque local report: its bytes need not even be a ZIP. */
export function makeReport(n: number): { facts: LocalReportFacts; bytes: Uint8Array } {
  const bytes = toUtf8(`local report ${n}`);
  const facts = {
    localReportId: idOf('lrep', n),
    projectId: PROJECT,
    createdAtMs: NOW - 90_000 + n,
    digest: digestOf(bytes),
    bytes: bytes.length,
    manifestDigest: hashOf(`manifest of report ${n}`),
    expandedBytes: '1000',
  };
  return { facts, bytes };
}
