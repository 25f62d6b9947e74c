/** Makers of evidence for tests: everything is real and signed, and every fact can be overridden. */
import { platform } from '#platform';
import { randomBytes } from 'node:crypto';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { digestOf } from '../../src/bytes/hash.ts';
import { fromUtf8, toUtf8 } from '../../src/bytes/text/encoding.ts';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { once } from '../../src/bytes/async.ts';
import type { Code } from '../../src/codes/catalogue.ts';
import type { Attestation } from '../../src/contract/resources/attestation.ts';
import type { RunResult } from '../../src/contract/resources/run.ts';
import { DrillproofError } from '../../src/errors.ts';
import { attest, type Statement } from '../../src/evidence/bundle/attestation.ts';
import {
  packBundle,
  type BundleInput,
  type ObjectInput,
  type PackedBundle,
} from '../../src/evidence/bundle/pack-bundle.ts';
import {
  packExport,
  type ExportInput,
  type LocalReportFacts,
  type PackedExport,
} from '../../src/evidence/export/pack-export.ts';
import { readPartFacts, type PartFacts } from '../../src/evidence/bundle/part.ts';
import type { BundleSigning } from '../../src/evidence/bundle/statement.ts';
import { createSigner, type Signer } from '../../src/trust/key/signer.ts';
import { trustStore, type TrustStore } from '../../src/trust/store.ts';
import type { TrustedKey } from '../../src/trust/trusted-key.ts';
import type { Check } from '../../src/verify/report.ts';
import type { CheckId } from '../../src/verify/checks.ts';
import type { Listing } from '../../src/verify/part/context.ts';
import { openZip } from '../../src/zip/read/open.ts';
import { writeZip } from '../../src/zip/write/write.ts';

export const NOW = 1_790_000_000_000;
export const ISSUER = 'https://drills.example';
export const ORGANIZATION = 'org_000000000001';
export const PROJECT = 'prj_000000000001';
export const EXPORT_ID = 'evexp_000000000001';

/** An identifier such as `evidence_000000000001`. */
export const idOf = (prefix: string, n: number): string => `${prefix}_${String(n).padStart(12, '0')}`;
export const hashOf = (text: string): string => digestOf(toUtf8(text));
export const makeSigner = (): Signer => createSigner(platform.p256.generateScalar());

export async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Uint8Array.from(Buffer.concat(chunks));
}

export const makeObject = (path: string, text: string, rest: Partial<ObjectInput> = {}): ObjectInput => ({
  path: `objects/${path}`,
  mediaType: 'text/plain',
  open: () => once(toUtf8(text)),
  ...rest,
});

type RunChoices = Partial<Omit<RunResult, 'identity'>> & {
  readonly identity?: Partial<RunResult['identity']>;
};

/** The result of run `n`, which passed; any fact can be overridden. */
export function makeRunResult(
  n: number,
  { identity, ...rest }: RunChoices = {},
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
      ...identity,
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

/** The input of a small bundle with every role; bundles differ by `n`. */
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
  signing: Partial<BundleSigning> = {},
): Promise<MadePart> {
  const packed = await packBundle(makeBundleInput(n, rest), signer && makeSigning(signer, signing));
  return { packed, bytes: await collect(packed.archive()) };
}

export type MadeExport = {
  readonly packed: PackedExport;
  readonly packedParts: readonly PackedBundle[];
  readonly files: Record<string, Uint8Array>;
  readonly signer: Signer;
};

type ExportChoices = {
  readonly signer?: Signer;
  readonly issuer?: string;
  readonly parts?: number;
  readonly signedParts?: boolean;
  readonly signedList?: boolean;
  readonly reports?: number;
  /** Members of every bundle. */
  readonly bundle?: Partial<BundleInput>;
  /** Members of every statement about a bundle. */
  readonly signing?: Partial<BundleSigning>;
  readonly input?: Partial<ExportInput>;
  /** The time of the statement about the export; default shortly before `NOW`. */
  readonly issuedAtMs?: number;
};

/** The input of an export of these parts. */
export const makeExportInput = (parts: readonly PartFacts[]): ExportInput => ({
  evidenceExportId: EXPORT_ID,
  organizationId: ORGANIZATION,
  scope: { kind: 'project', projectId: PROJECT },
  fromAtMs: NOW - 200_000,
  throughAtMs: NOW,
  operationId: 'op_000000000001',
  requestedBy: 'tester',
  createdAtMs: NOW - 40_000,
  completedAtMs: NOW - 30_000,
  parts,
  localReports: [],
});

/** A whole export in memory, by path: by default two signed parts, one local report, a signed list. */
export async function makeExport(choices: ExportChoices = {}): Promise<MadeExport> {
  const {
    signer = makeSigner(),
    issuer = ISSUER,
    parts = 2,
    reports = 1,
    signedParts = true,
    signedList = true,
  } = choices;
  const files: Record<string, Uint8Array> = {};
  const facts = [];
  const packedParts: PackedBundle[] = [];
  for (let n = 1; n <= parts; n++) {
    const signing = { issuer, ...choices.signing };
    const { bytes, packed } = await makePart(n, signedParts ? signer : undefined, choices.bundle, signing);
    files[`parts/${packed.manifest.evidenceBundleId}.zip`] = bytes;
    facts.push(await readPartFacts(memoryAccess(bytes)));
    packedParts.push(packed);
  }
  const localReports = Array.from({ length: reports }, (_, i) => makeReport(i + 1));
  for (const { facts: report, bytes } of localReports)
    files[`local-reports/${report.localReportId}.zip`] = bytes;
  const packed = await packExport(
    { ...makeExportInput(facts), localReports: localReports.map((report) => report.facts), ...choices.input },
    signedList ? { signer, issuer, issuedAtMs: choices.issuedAtMs ?? NOW - 30_000 } : undefined,
  );
  for (const { path, bytes } of packed.documents) files[path] = bytes;
  return { packed, packedParts, files, signer };
}

/** A signed export of two parts so large that two threads verify them. */
export function makeLargeExport(): Promise<MadeExport> {
  const half = randomBytes(9 * 2 ** 20); // threads start above 16 MiB
  const large = makeObject('files/large.bin', '', { role: 'file', open: () => once(half) });
  return makeExport({ bundle: { objects: [...makeBundleInput(1).objects, large] } });
}

/** A local report; its bytes need not even be a ZIP. */
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

/** The bytes with one bit flipped. */
export function flipBit(bytes: Uint8Array, offset: number, bit = offset % 8): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[offset]! ^= 1 << bit;
  return copy;
}

/** The entries of an archive by name, in its order. */
export async function unpack(bytes: Uint8Array): Promise<Map<string, Uint8Array>> {
  const archive = await openZip(memoryAccess(bytes));
  const entries = new Map<string, Uint8Array>();
  for (const entry of archive.entries) entries.set(entry.name, await collect(archive.read(entry)));
  return entries;
}

/** A sound archive of these entries, in this order, stored. */
export function pack(entries: Iterable<readonly [string, Uint8Array]>): Promise<Uint8Array> {
  const inputs = Array.from(entries, ([name, bytes]) => ({ name, open: () => once(bytes) }));
  return collect(writeZip(inputs, { compression: 'store' }));
}

/** Packs an archive again after an edit of its entries, as an attacker does, so that CRC-32 and sizes hold. */
export async function repack(
  bytes: Uint8Array,
  edit: (entries: Map<string, Uint8Array>) => void | Promise<void>,
): Promise<Uint8Array> {
  const entries = await unpack(bytes);
  await edit(entries);
  return pack(entries);
}

/** Any JSON, to be edited in place. */
export type Json = Record<string, unknown>;

/** A JSON document in canonical form after an edit in place, or the value that the edit returns. */
export function editJson<T = Json>(bytes: Uint8Array | undefined, edit: (value: T) => T | void): Uint8Array {
  const value = JSON.parse(fromUtf8(bytes ?? toUtf8('null'))) as T;
  return canonicalBytes(edit(value) ?? value);
}

/** Signs a statement after an edit. */
export async function forge(
  bytes: Uint8Array | undefined,
  signer: Signer,
  edit: (statement: Statement) => void = () => undefined,
): Promise<Uint8Array> {
  const { statement } = JSON.parse(fromUtf8(bytes ?? toUtf8('null'))) as Attestation;
  statement.keyId = signer.keyId;
  edit(statement);
  return canonicalBytes(await attest(statement, { ...signer, keyId: statement.keyId }));
}

/** The row of a part in an export manifest. */
export async function listingOf(bytes: Uint8Array): Promise<Listing> {
  const { manifest, manifestDigest, signed, digest } = await readPartFacts(memoryAccess(bytes));
  return {
    row: {
      ordinal: 0,
      evidenceBundleId: manifest.evidenceBundleId,
      projectId: manifest.projectId,
      path: `parts/${manifest.evidenceBundleId}.zip`,
      digest,
      bytes: String(bytes.length),
      manifestDigest,
      signed,
    },
    organizationId: manifest.organizationId,
    fromAtMs: NOW - 200_000,
    throughAtMs: NOW,
  };
}

type HasFindings = { readonly findings: readonly { readonly code: string; readonly severity: string }[] };

/** The codes of the findings of a report, sorted, each once. */
export const codesOf = ({ findings }: HasFindings): string[] =>
  [...new Set(findings.map(({ code }) => code))].toSorted();

/** The codes of the errors of a report, sorted, each once. */
export const errorsOf = ({ findings }: HasFindings): string[] =>
  codesOf({ findings: findings.filter(({ severity }) => severity === 'error') });

/** The state of a check of a report. */
export const stateOf = (report: { readonly checks: readonly Check[] }, id: CheckId): string | undefined =>
  report.checks.find((check) => check.id === id)?.state;

/** Bytes whose read number `failing` fails, counted from 0; `reads` is the number of reads so far. */
export function faultyAccess(bytes: Uint8Array, failing: number, failure: Code | Error = 'io.UNREADABLE') {
  const inner = memoryAccess(bytes);
  const access = {
    size: bytes.length,
    reads: 0,
    read(offset: number, length: number) {
      if (access.reads++ === failing)
        throw failure instanceof Error ? failure : new DrillproofError(failure, 'the disk failed');
      return inner.read(offset, length);
    },
  };
  return access;
}
