import * as z from 'zod/mini';
import {
  BYTES,
  BYTES_OR_TEXT,
  checkArguments,
  defined,
  type MembersOf,
  optional,
  optionsOf,
  TEXT,
} from '../bytes/arguments.ts';
import { canonicalJson } from '../bytes/json/canonical.ts';
import { digestOf } from '../bytes/hash.ts';
import { parseJson } from '../bytes/json/parse.ts';
import { toUtf8 } from '../bytes/text/encoding.ts';
import { MAX_TOOL_SOURCE_BYTES, type ToolSource, toolSourceSchema } from '../contract/resources/build.ts';
import { type LockedPackage, parseBuildLock } from '../evidence/build-lock.ts';
import { typeDocument } from '../evidence/document.ts';
import { listWaitingChecks } from './checks.ts';
import { finding, findingsOf } from './finding.ts';
import type { ToolSourceReport, Finding } from './report.ts';
import {
  endCheck,
  endRemaining,
  hasPassed,
  joinSteps,
  recordCheck,
  type Step,
  type ReadStep,
} from './step.ts';
import { rateFindings } from './verdict.ts';

/** The options of `verifyToolSource`. Without a lock the verdict is `intact` at best (formats §7). */
export type VerifyToolSourceOptions = {
  /** The bytes of a `build.json` that the caller trusts; their SHA-256 must be the `buildHash`. */
  readonly lock?: Uint8Array;
  /** What the source must be of; without a build and a package, any source that the lock has passes. */
  readonly expect?: { readonly projectId?: string; readonly buildHash?: string; readonly packageId?: string };
};

const SUBJECT = 'tool-source';
const TOOL_SOURCE_OPTIONS: MembersOf<VerifyToolSourceOptions> = {
  lock: optional(BYTES),
  expect: optional(
    optionsOf({ projectId: optional(TEXT), buildHash: optional(TEXT), packageId: optional(TEXT) }),
  ),
};
/** Room for 1 MiB of source with every character escaped, and for the other members. */
const MAX_RESOURCE_BYTES = 16 * 1024 * 1024;

/**
 * Verifies a tool source resource, which is the JSON from the control plane as bytes or text. Its source must match the
 * size and digest that it states, and it must be of the project, build and package that you expect. With a lock that you
 * trust, every field must match the lock (formats §7). The source is never imported or executed. Never throws for what is
 * in the bytes.
 * @throws TypeError for an argument of the wrong kind
 * @example
 * const report = verifyToolSource(await readFile('mailer.json'), {
 *   lock: await readFile('build.json'),
 *   expect: { packageId: 'mailer' },
 * });
 * if (report.verdict !== 'verified') throw new Error(report.findings[0]?.message);
 */
export function verifyToolSource(
  resource: string | Uint8Array,
  options: VerifyToolSourceOptions = {},
): ToolSourceReport {
  checkArguments({ resource: BYTES_OR_TEXT, options: optionsOf(TOOL_SOURCE_OPTIONS) }, { resource, options });
  const format = checkFormat(resource);
  const source = format.value;
  const reason = 'the document is not a tool source';
  const step =
    source === undefined
      ? endRemaining(format, listWaitingChecks('tool-source.format'), 'not_checked', reason)
      : joinSteps([
          format,
          checkBytes(source),
          checkExpected(source, options.expect ?? {}),
          checkLock(source, options.lock),
        ]);
  const intact = hasPassed(step, 'tool-source.lock') ? 'verified' : 'intact';
  return {
    schemaVersion: 1,
    kind: 'tool-source',
    verdict: rateFindings(step.findings) ?? intact,
    ...defined({
      packageId: source?.packageId,
      buildHash: source?.buildHash,
      artifactHash: source?.artifactHash,
    }),
    checks: step.checks,
    findings: step.findings,
  };
}

/** `tool-source.format` */
function checkFormat(resource: string | Uint8Array): ReadStep<ToolSource> {
  try {
    const bytes = typeof resource === 'string' ? toUtf8(resource) : resource;
    const json = parseJson(bytes, { maxBytes: MAX_RESOURCE_BYTES });
    const tooLarge = checkSize(json);
    const value =
      tooLarge.length > 0
        ? undefined
        : typeDocument(json, { schema: toolSourceSchema, code: 'tool-source.INVALID' });
    return { ...recordCheck('tool-source.format', tooLarge), value };
  } catch (error) {
    return recordCheck('tool-source.format', findingsOf(error, SUBJECT));
  }
}

const SourceText = z.looseObject({ implementation: z.looseObject({ source: z.string() }) });

/** Runs before the schema, which has the same limit, so that a large source has its own code. */
function checkSize(value: unknown): Finding[] {
  const { data } = SourceText.safeParse(value);
  if (data === undefined) return [];
  const { source } = data.implementation;
  // A code unit takes at least one byte, so longer text need not be encoded.
  const bytes =
    source.length > MAX_TOOL_SOURCE_BYTES ? source.length : new TextEncoder().encode(source).length;
  if (bytes <= MAX_TOOL_SOURCE_BYTES) return [];
  const path = '/implementation/source';
  const message = 'the source is larger than 1 MiB';
  const sizes = { expected: `at most ${MAX_TOOL_SOURCE_BYTES}`, actual: `at least ${bytes}` };
  return [finding('tool-source.TOO_LARGE', SUBJECT, { path, message, ...sizes })];
}

/** `tool-source.bytes` */
function checkBytes({ artifactHash, implementation }: ToolSource): Step {
  const bytes = toUtf8(implementation.source);
  const sizes = [String(implementation.bytes), String(bytes.length)] as const;
  const rows = [
    ['tool-source.BYTES_MISMATCH', '/implementation/bytes', 'size', ...sizes],
    ['tool-source.DIGEST_MISMATCH', '/artifactHash', 'SHA-256', artifactHash, digestOf(bytes)],
  ] as const;
  const findings = rows
    .filter(([, , , expected, actual]) => expected !== actual)
    .map(([code, path, what, expected, actual]) => {
      const message = `the ${what} of the source does not match`;
      return finding(code, SUBJECT, { path, message, expected, actual });
    });
  return recordCheck('tool-source.bytes', findings);
}

/** `tool-source.expected` */
function checkExpected(source: ToolSource, expect: NonNullable<VerifyToolSourceOptions['expect']>): Step {
  const names = (['projectId', 'buildHash', 'packageId'] as const).filter(
    (name) => expect[name] !== undefined,
  );
  if (names.length === 0)
    return endCheck('tool-source.expected', 'not_applicable', 'the caller expects nothing in particular');
  const findings = names
    .filter((name) => expect[name] !== source[name])
    .map((name) => {
      const message = `the ${name} of the source is not what the caller expects`;
      const values = { expected: expect[name]!, actual: source[name] };
      return finding('tool-source.SUBJECT_MISMATCH', SUBJECT, { path: `/${name}`, message, ...values });
    });
  return recordCheck('tool-source.expected', findings);
}

/** `tool-source.lock` */
function checkLock(source: ToolSource, lock: Uint8Array | undefined): Step {
  if (lock === undefined) return endCheck('tool-source.lock', 'not_checked', 'no lock was given');
  try {
    const { packages } = parseBuildLock(lock);
    const buildHash = digestOf(lock);
    const locked = packages.find((entry) => entry.packageId === source.packageId);
    return recordCheck('tool-source.lock', [
      ...compareField('/buildHash', buildHash, source.buildHash),
      ...(locked === undefined ? [unlockedFinding(source.packageId)] : compareLock(source, locked)),
    ]);
  } catch (error) {
    const faults = findingsOf(error, SUBJECT, 'lock');
    return recordCheck(
      'tool-source.lock',
      faults.map((fault) => finding('tool-source.LOCK_INVALID', SUBJECT, fault)),
    );
  }
}

const unlockedFinding = (packageId: string): Finding =>
  finding('tool-source.PACKAGE_UNLOCKED', SUBJECT, {
    path: '/packageId',
    message: `the lock has no package ${packageId}`,
  });

function compareLock(source: ToolSource, locked: LockedPackage): Finding[] {
  return [
    ...compareField('/version', locked.version, source.version),
    ...compareField('/manifestHash', locked.manifestHash, source.manifestHash),
    ...compareField('/artifactHash', locked.artifactHash, source.artifactHash),
    ...compareField('/ui', canonicalJson(locked.ui ?? null), canonicalJson(source.ui ?? null)),
  ];
}

function compareField(path: string, expected: string, actual: string): Finding[] {
  if (expected === actual) return [];
  const message = `${path.slice(1)} does not match the lock`;
  return [finding('tool-source.LOCK_MISMATCH', SUBJECT, { path, message, expected, actual })];
}
