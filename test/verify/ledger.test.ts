import type { Finding } from '../../src/verify/report.ts';
import { describe, expect, it } from 'vitest';
import type { Code } from '../../src/codes/index.ts';
import { DrillproofError } from '../../src/errors.ts';
import { createLedger, type Ledger } from '../../src/verify/check.ts';
import { finding, findingsOf } from '../../src/verify/finding.ts';
import { foldInto } from '../../src/verify/fold.ts';

const of = (...codes: Code[]): Finding[] => codes.map((code) => finding(code, 'b', { message: 'so it is' }));

const folded = (take: (steps: Ledger) => void) => {
  const [ledger, steps] = [createLedger(), createLedger()];
  take(steps);
  const passed = foldInto(ledger, 'export.attestation', steps);
  return { passed, checks: ledger.checks, codes: ledger.findings.map(({ code }) => code) };
};

describe('steps that become one check', () => {
  const id = 'export.attestation';

  it('pass when all of them passed or do not apply, and keep their warnings', () => {
    expect(
      folded((steps) => {
        steps.ran('attestation.format', of('attestation.TIME_CLAIMED'));
        steps.skipped('attestation.key', 'not_applicable', 'so');
      }),
    ).toEqual({ passed: true, checks: [{ id, state: 'passed' }], codes: ['attestation.TIME_CLAIMED'] });
  });

  it('fail when one failed, even where another is open', () => {
    expect(
      folded((steps) => {
        steps.ran('attestation.format', of('attestation.TIME_CLAIMED', 'attestation.ISSUED_IN_FUTURE'));
        steps.skipped('attestation.key', 'not_checked', 'so');
      }),
    ).toEqual({
      passed: false,
      checks: [{ id, state: 'failed' }],
      codes: ['attestation.TIME_CLAIMED', 'attestation.ISSUED_IN_FUTURE'],
    });
  });

  it('are open when one is open, with its reason and what was found', () => {
    expect(
      folded((steps) => {
        steps.note(of('trust.STORE_ABSENT'));
        steps.ran('attestation.format', []);
        steps.skipped('attestation.key', 'not_checked', 'no store');
      }),
    ).toEqual({
      passed: false,
      checks: [{ id, state: 'not_checked', reason: 'no store' }],
      codes: ['trust.STORE_ABSENT'],
    });
  });

  it('are open when all that went wrong is that something could not be read', () => {
    expect(folded((steps) => steps.ran('attestation.format', of('io.UNREADABLE'))).checks).toEqual([
      { id, state: 'not_checked', reason: 'so it is' },
    ]);
  });
});

describe('the ledger', () => {
  it('says why a check could not run: of the first thing that could not be read', () => {
    const ledger = createLedger();
    const [first, second] = of('io.UNREADABLE', 'io.CHANGED');
    ledger.ran('part.bytes', [{ ...first!, message: 'first' }, second!]);
    expect(ledger.checks).toEqual([{ id: 'part.bytes', state: 'not_checked', reason: 'first' }]);
  });

  it('keeps a reason with what was skipped or failed', () => {
    const ledger = createLedger();
    ledger.skipped('part.bytes', 'not_applicable', 'alone');
    ledger.failed('export.files', 'one is gone');
    expect(ledger.checks).toEqual([
      { id: 'export.files', state: 'failed', reason: 'one is gone' },
      { id: 'part.bytes', state: 'not_applicable', reason: 'alone' },
    ]);
  });

  it('lets what could not be read open a pass, and make no failure of it better', () => {
    const ledger = createLedger();
    ledger.ran('part.bytes', []);
    ledger.amend('part.bytes', of('io.CHANGED'));
    ledger.amend('part.bytes', of('zip.ORDER_UNUSUAL'));
    expect(ledger.checks).toEqual([{ id: 'part.bytes', state: 'not_checked', reason: 'so it is' }]);
    ledger.amend('part.bytes', of('part.DIGEST_MISMATCH'));
    ledger.amend('part.bytes', of('io.CHANGED'));
    expect(ledger.checks).toEqual([{ id: 'part.bytes', state: 'failed' }]);
    expect(ledger.findings).toHaveLength(4);
  });

  it('makes no check of an amendment to one that never ran, and amends no other', () => {
    const ledger = createLedger();
    ledger.amend('part.bytes', of('io.CHANGED'));
    expect(ledger.checks).toEqual([]);
    ledger.ran('export.manifest', []);
    ledger.ran('part.archive', []);
    ledger.amend('part.archive', of('part.DIGEST_MISMATCH'));
    expect(ledger.checks.map(({ state }) => state)).toEqual(['passed', 'failed']);
  });

  it('notes what belongs to no check', () => {
    const ledger = createLedger();
    ledger.note(of('trust.STORE_ABSENT'));
    expect([ledger.checks, ledger.findings]).toEqual([[], of('trust.STORE_ABSENT')]);
  });
});

describe('a finding', () => {
  it('has what was said of it, and no member for what was not', () => {
    const plain = {
      code: 'io.UNREADABLE',
      class: 'inaccessible',
      severity: 'error',
      subject: 'b',
      message: 'm',
    };
    expect(finding('io.UNREADABLE', 'b', { message: 'm' })).toStrictEqual(plain);
    const values = { path: 'p', expected: 'e', actual: 'a' };
    expect(finding('io.UNREADABLE', 'b', { message: 'm', ...values })).toStrictEqual({ ...plain, ...values });
  });

  it.each([
    [undefined, undefined, undefined],
    [undefined, '/a', '/a'],
    ['m.json', undefined, 'm.json'],
    ['m.json', '', 'm.json'],
    ['m.json', 'm.json', 'm.json'],
    ['m.json', '/a', 'm.json#/a'],
  ])('of an error in %s at %s stands at %s', (outer, inner, path) => {
    const error = new DrillproofError('json.INVALID', 'no', inner === undefined ? {} : { path: inner });
    const [one] = findingsOf(error, 'b', outer);
    expect(one).toStrictEqual(
      finding('json.INVALID', 'b', { message: 'no', ...(path !== undefined && { path }) }),
    );
  });

  it('is one where a parser collected nothing', () => {
    const error = new DrillproofError('json.INVALID', 'no', { details: { issues: [] } });
    expect(findingsOf(error, 'b')).toHaveLength(1);
    const odd = new DrillproofError('json.INVALID', 'no', { details: { issues: 'many' } });
    expect(findingsOf(odd, 'b')).toHaveLength(1);
  });
});
