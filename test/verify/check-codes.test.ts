import { beforeAll, describe, expect, it, vi } from 'vitest';
import { JUDGES } from '../../src/selftest/index.ts';
import type { Code } from '../../src/codes/index.ts';
import { CHECKS, type CheckId, type Ledger } from '../../src/verify/check.ts';
import { CHECK_CODES, checksOf, codesOf, isCheckId } from '../../src/verify/check-codes.ts';
import type { Finding } from '../../src/verify/finding.ts';
import { readVectors } from '../vectors/read.ts';

/** Every code that a check gave while the vectors were judged. */
const { found, note } = vi.hoisted(() => {
  const codes = new Map<string, Set<string>>();
  const add = (id: CheckId, findings: readonly Finding[]): void => {
    const known = codes.get(id) ?? new Set();
    for (const { code } of findings) known.add(code);
    codes.set(id, known);
  };
  return { found: codes, note: add };
});

// The ledger as it is, with a listener: which finding belongs to which check stands nowhere else.
vi.mock('../../src/verify/check.ts', async (original) => {
  const actual = await original<typeof import('../../src/verify/check.ts')>();
  return {
    ...actual,
    createLedger: (): Ledger => {
      const ledger = actual.createLedger();
      return {
        ...ledger,
        ran: (id, findings) => (note(id, findings), ledger.ran(id, findings)),
        amend: (id, findings) => (note(id, findings), ledger.amend(id, findings)),
      };
    },
  };
});

/** Bags around exports and envelopes beside them have tests of their own and are no part of these kinds of vectors. */
const OUTSIDE_VECTORS: readonly CheckId[] = [
  'export.bag',
  'dsse.envelope',
  'dsse.threshold',
  'dsse.attestation',
];

/** Codes that no vector makes a check give, with the reason. */
const WITHOUT_VECTOR: Readonly<Partial<Record<CheckId, readonly Code[]>>> = {
  // A document of more than 100,000 rows is larger than all vectors together.
  'bundle.manifest': ['bundle.OBJECTS_EXCEEDED'],
  // No input is known on which two implementations disagree.
  'second.reader': ['zip.SECOND_OPINION'],
  'second.crypto': ['attestation.SECOND_OPINION'],
};

const checks = (Object.keys(CHECKS) as CheckId[]).filter((id) => !OUTSIDE_VECTORS.includes(id));

describe('the table of checks and their codes', () => {
  beforeAll(async () => {
    for (const kind of ['attestations', 'dsse', 'bundles', 'exports', 'tool-sources'])
      for (const { input } of readVectors(kind).cases) await JUDGES[kind]?.outcomes(input);
  });

  it.each(checks)('has every code that a vector makes %s give', (check) => {
    expect(found.has(check)).toBe(true);
    expect([...(found.get(check) ?? [])].filter((code) => !isOf(check, code))).toEqual([]);
  });

  it.each(checks)('names no code as that of %s that no vector makes it give', (check) => {
    const unseen = CHECK_CODES[check].own.filter((code) => found.get(check)?.has(code) !== true);
    expect(unseen).toEqual(WITHOUT_VECTOR[check] ?? []);
  });

  it.each(Object.keys(CHECKS) as CheckId[])('names each code of %s once', (check) => {
    expect(codesOf(check)).toEqual([...new Set(codesOf(check))]);
  });

  it('knows the checks of a code, and that facts beside the checks have none', () => {
    expect(checksOf('part.DIGEST_MISMATCH')).toEqual(['part.bytes']);
    expect(checksOf('bundle.MANIFEST_INVALID')).toEqual(['bundle.manifest', 'attestation.binding']);
    expect(checksOf('bundle.UNSIGNED')).toEqual([]);
  });

  it.each(['__proto__', 'toString', '', 'part', 'part.BYTES'])('has no check %j', (name) => {
    expect(isCheckId(name)).toBe(false);
  });
});

const isOf = (check: CheckId, code: string): boolean => codesOf(check).some((one) => one === code);
