import { beforeAll, describe, expect, it, vi } from 'vitest';
import { CASE_KINDS } from '../../src/selftest/result.ts';
import type { Code } from '../../src/codes/catalogue.ts';
import { CHECK_TEXTS, checksOf, codesOf } from '../../src/verify/check-texts.ts';
import {
  CHECK_IDS,
  CHECKS,
  listWaitingChecks,
  isCheckId,
  listRequiredChecks,
  type CheckId,
} from '../../src/verify/checks.ts';
import { isDeep } from '../support/deep.ts';
import type { Step } from '../../src/verify/step.ts';
import { readVectors } from '../vectors/read.ts';
import type { Finding } from '../../src/verify/report.ts';

/** Every code that a check gave during the verification of the vectors. */
const { seen, note } = vi.hoisted(() => {
  const codes = new Map<string, Set<string>>();
  const add = (id: CheckId, findings: readonly Finding[]): void => {
    const ofCheck = codes.get(id) ?? new Set();
    for (const { code } of findings) ofCheck.add(code);
    codes.set(id, ofCheck);
  };
  return { seen: codes, note: add };
});

// The steps as they are, with a listener: nothing else shows which finding belongs to which check.
vi.mock('../../src/verify/step.ts', async (original) => {
  const actual = await original<typeof import('../../src/verify/step.ts')>();
  return {
    ...actual,
    recordCheck: (id: CheckId, findings: readonly Finding[]) => (
      note(id, findings),
      actual.recordCheck(id, findings)
    ),
    foldSteps: (id: CheckId, steps: readonly Step[]) => {
      const folded = actual.foldSteps(id, steps);
      note(id, folded.checks[0]?.state === 'not_checked' ? [] : folded.findings);
      return folded;
    },
  };
});

/** Bags and envelopes given with exports have tests of their own and are not part of these kinds of vectors. */
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

const ATTESTATION_CHECKS = ['format', 'key', 'signature', 'binding'].map((name) => `attestation.${name}`);

const checks = CHECK_IDS.filter((id) => !OUTSIDE_VECTORS.includes(id));

describe('the table of checks and their codes', () => {
  beforeAll(async () => {
    for (const kind of ['attestations', 'dsse', 'bundles', 'exports', 'tool-sources', 'timestamps']) {
      const { cases } = readVectors(kind);
      // The quick run verifies one case of each result.
      const byResult = new Map(
        cases.map(({ id, input, expected }) => [isDeep ? id : JSON.stringify(expected), input]),
      );
      for (const input of byResult.values()) await CASE_KINDS[kind]?.outcomes(input);
    }
  });

  it.each(checks)('has every code that a vector makes %s give', (check) => {
    expect(seen.has(check)).toBe(true);
    expect([...(seen.get(check) ?? [])].filter((code) => !isOf(check, code))).toEqual([]);
  });

  it.each(checks)('names no code as that of %s that no vector makes it give', (check) => {
    const unseen = CHECK_TEXTS[check].own.filter((code) => seen.get(check)?.has(code) !== true);
    expect(unseen).toEqual(WITHOUT_VECTOR[check] ?? []);
  });

  it.each(CHECK_IDS)('names each code of %s once', (check) => {
    expect(codesOf(check)).toEqual([...new Set(codesOf(check))]);
  });

  it('lists the checks of a code, and none for facts that belong to no check', () => {
    expect(checksOf('part.DIGEST_MISMATCH')).toEqual(['part.bytes']);
    expect(checksOf('bundle.MANIFEST_INVALID')).toEqual(['bundle.manifest', 'attestation.binding']);
    expect(checksOf('bundle.UNSIGNED')).toEqual([]);
  });

  it.each(['__proto__', 'toString', '', 'part', 'part.BYTES'])('has no check %j', (name) => {
    expect(isCheckId(name)).toBe(false);
  });
});

describe('the table of checks', () => {
  it.each([
    ['attestation.format', ['attestation.key', 'attestation.signature', 'attestation.binding']],
    ['attestation.binding', []],
    ['bundle.row', []],
    [
      'export.manifest',
      ['export.expected', 'export.resource', 'export.selection', 'export.attestation', 'export.files'],
    ],
  ] as const)('lists the checks that cannot run without %s: %j', (check, waiting) => {
    expect(listWaitingChecks(check)).toEqual(waiting);
  });

  it('includes checks on request only if they were requested', () => {
    expect(listWaitingChecks('bundle.manifest')).not.toContain('second.reader');
    expect(listWaitingChecks('bundle.manifest', { secondOpinion: true })).toContain('second.reader');
    const waiting = listWaitingChecks('attestation.format', { secondOpinion: true });
    expect(waiting).toEqual([...ATTESTATION_CHECKS.slice(1), 'second.crypto']);
  });

  it('requires the checks that depth and verdict of a bundle need', () => {
    expect(listRequiredChecks('bundle', 'always')).toEqual(['part.bytes', 'bundle.expected']);
    const full = ['part.archive', 'bundle.manifest', 'bundle.row', 'bundle.objects'];
    expect(listRequiredChecks('bundle', 'full')).toEqual(full);
    expect(listRequiredChecks('bundle', 'verified')).toEqual(ATTESTATION_CHECKS);
    expect(listRequiredChecks('bundle', 'opinion')).toEqual(['second.reader', 'second.crypto']);
  });

  it.each(CHECK_IDS)('places %s below every check that it waits for', (check) => {
    const ids: readonly string[] = CHECK_IDS;
    for (const before of CHECKS[check].after ?? []) {
      expect(ids).toContain(before);
      expect(ids.indexOf(before)).toBeLessThan(ids.indexOf(check));
    }
  });
});

const isOf = (check: CheckId, code: string): boolean => codesOf(check).some((listed) => listed === code);
