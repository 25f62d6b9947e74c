import * as z from 'zod';
import { digestOf } from '../bytes/hash.ts';
import { canonicalJson } from '../bytes/json/canonical.ts';
import { toUtf8 } from '../bytes/text/utf8.ts';
import { MAX_TOOL_SOURCE_BYTES, toolSourceSchema, type ToolSource } from '../contract/index.ts';
import { parseBuildLock, typeDocument, type LockedPackage } from '../evidence/index.ts';
import { createLedger, type Ledger } from './check.ts';
import { finding, findingsOf, type Finding } from './finding.ts';
import type { ToolSourceReport } from './report.ts';
import { verdictOfFindings } from './verdict.ts';

export type VerifyToolSourceOptions = {
  /** The bytes of a `build.json` that the caller trusts; their SHA-256 must be the `buildHash`. */
  readonly lock?: Uint8Array;
};

const SUBJECT = 'tool-source';

/**
 * Verifies the bytes of a tool source resource against what it says of itself and, given a lock that the caller
 * trusts, every field against the lock (formats §7). Nothing of the source is imported or executed.
 */
export function verifyToolSource(value: unknown, options: VerifyToolSourceOptions = {}): ToolSourceReport {
  const ledger = createLedger();
  const source = checkFormat(ledger, value);
  if (source === undefined) {
    ledger.skipped('tool-source.bytes', 'not_checked', 'the document is no tool source');
    ledger.skipped('tool-source.lock', 'not_checked', 'the document is no tool source');
  } else {
    checkBytes(ledger, source);
    checkLock(ledger, source, options.lock);
  }
  const locked = ledger.checks.some((check) => check.id === 'tool-source.lock' && check.state === 'passed');
  return {
    schemaVersion: 1,
    kind: 'tool-source',
    verdict: verdictOfFindings(ledger.findings) ?? (locked ? 'verified' : 'intact'),
    ...(source && {
      packageId: source.packageId,
      buildHash: source.buildHash,
      artifactHash: source.artifactHash,
    }),
    checks: ledger.checks,
    findings: ledger.findings,
  };
}

function checkFormat(ledger: Ledger, value: unknown): ToolSource | undefined {
  const faults = sizeFaults(value);
  if (faults.length > 0) {
    ledger.ran('tool-source.format', faults);
    return undefined;
  }
  let source: ToolSource;
  try {
    source = typeDocument(value, { schema: toolSourceSchema, code: 'tool-source.INVALID' });
  } catch (error) {
    ledger.ran('tool-source.format', findingsOf(error, SUBJECT));
    return undefined;
  }
  const text = source.implementation.source;
  const path = '/implementation/source';
  if (!text.isWellFormed()) {
    const message = 'the source holds a lone surrogate';
    ledger.ran('tool-source.format', [finding('tool-source.TEXT_INVALID', SUBJECT, { path, message })]);
    return undefined;
  }
  ledger.ran('tool-source.format', []);
  return source;
}

const SourceText = z.looseObject({ implementation: z.looseObject({ source: z.string() }) });

/** Judged before the shape, which has the same limit, so that a source too large is reported as that. */
function sizeFaults(value: unknown): Finding[] {
  const { data } = SourceText.safeParse(value);
  if (data === undefined) return [];
  const { source } = data.implementation;
  // One code unit is at least one byte: text that is longer need not be encoded.
  const bytes =
    source.length > MAX_TOOL_SOURCE_BYTES ? source.length : new TextEncoder().encode(source).length;
  if (bytes <= MAX_TOOL_SOURCE_BYTES) return [];
  const path = '/implementation/source';
  const message = 'the source is larger than 1 MiB';
  const sizes = { expected: `at most ${MAX_TOOL_SOURCE_BYTES}`, actual: `at least ${bytes}` };
  return [finding('tool-source.TOO_LARGE', SUBJECT, { path, message, ...sizes })];
}

function checkBytes(ledger: Ledger, { artifactHash, implementation }: ToolSource): void {
  const bytes = toUtf8(implementation.source);
  const found: Finding[] = [];
  if (bytes.length !== implementation.bytes) {
    const counts = { expected: String(implementation.bytes), actual: String(bytes.length) };
    const message = 'the source has another size';
    found.push(
      finding('tool-source.BYTES_MISMATCH', SUBJECT, { path: '/implementation/bytes', message, ...counts }),
    );
  }
  const digest = digestOf(bytes);
  if (digest !== artifactHash) {
    const digests = { expected: artifactHash, actual: digest };
    const message = 'the source has another SHA-256';
    found.push(
      finding('tool-source.DIGEST_MISMATCH', SUBJECT, { path: '/artifactHash', message, ...digests }),
    );
  }
  ledger.ran('tool-source.bytes', found);
}

function checkLock(ledger: Ledger, source: ToolSource, lock: Uint8Array | undefined): void {
  if (lock === undefined) {
    ledger.skipped('tool-source.lock', 'not_checked', 'no lock was given');
    return;
  }
  try {
    const { packages } = parseBuildLock(lock);
    const buildHash = digestOf(lock);
    const locked = packages.find((one) => one.packageId === source.packageId);
    ledger.ran('tool-source.lock', [
      ...difference('/buildHash', buildHash, source.buildHash),
      ...(locked === undefined ? [unlocked(source.packageId)] : lockDifferences(source, locked)),
    ]);
  } catch (error) {
    const faults = findingsOf(error, SUBJECT, 'lock');
    ledger.ran(
      'tool-source.lock',
      faults.map((one) => finding('tool-source.LOCK_INVALID', SUBJECT, one)),
    );
  }
}

const unlocked = (packageId: string): Finding =>
  finding('tool-source.PACKAGE_UNLOCKED', SUBJECT, {
    path: '/packageId',
    message: `the lock has no package ${packageId}`,
  });

function lockDifferences(source: ToolSource, locked: LockedPackage): Finding[] {
  return [
    ...difference('/version', locked.version, source.version),
    ...difference('/manifestHash', locked.manifestHash, source.manifestHash),
    ...difference('/artifactHash', locked.artifactHash, source.artifactHash),
    ...difference('/ui', canonicalJson(locked.ui ?? null), canonicalJson(source.ui ?? null)),
  ];
}

function difference(path: string, expected: string, actual: string): Finding[] {
  if (expected === actual) return [];
  const message = `the lock has another ${path.slice(1)}`;
  return [finding('tool-source.LOCK_MISMATCH', SUBJECT, { path, message, expected, actual })];
}
