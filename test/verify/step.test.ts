import { describe, expect, it } from 'vitest';
import type { Code } from '../../src/codes/catalogue.ts';
import { CHECKS, type CheckId } from '../../src/verify/checks.ts';
import type { Check, Finding } from '../../src/verify/report.ts';
import { finding } from '../../src/verify/finding.ts';
import {
  endCheck,
  endRemaining,
  foldSteps,
  joinSteps,
  NOTHING,
  noteFindings,
  recordCheck,
  type Step,
} from '../../src/verify/step.ts';

const makeFindings = (...codes: Code[]): Finding[] =>
  codes.map((code) => finding(code, 'b', { message: 'the reason' }));
const codesOf = ({ findings }: Step): Code[] => findings.map(({ code }) => code);

it.each<[Code[], Check['state']]>([
  [[], 'passed'],
  [['zip.ORDER_UNUSUAL'], 'passed'],
  [['io.UNREADABLE'], 'not_checked'],
  [['io.UNREADABLE', 'zip.ORDER_UNUSUAL'], 'not_checked'],
  [['io.UNREADABLE', 'part.DIGEST_MISMATCH'], 'failed'],
  [['part.DIGEST_MISMATCH'], 'failed'],
])('a check that ran with the findings %j is %s', (codes, state) => {
  const step = recordCheck('part.bytes', makeFindings(...codes));
  expect([step.checks[0]?.state, codesOf(step)]).toEqual([state, codes]);
});

it('a check that ran is open for the reason of the first finding about reading', () => {
  const [first, second] = makeFindings('io.UNREADABLE', 'io.CHANGED');
  const { checks } = recordCheck('part.bytes', [{ ...first!, message: 'first' }, second!]);
  expect(checks).toEqual([{ id: 'part.bytes', state: 'not_checked', reason: 'first' }]);
});

describe('joined steps', () => {
  it('have their checks in the order of the table and their findings in the order of the steps', () => {
    const ids = Object.keys(CHECKS) as CheckId[];
    const all = joinSteps(ids.toReversed().map((id) => recordCheck(id, [])));
    expect(all.checks.map(({ id }) => id)).toEqual(ids);
    const [absent, changed] = makeFindings('trust.STORE_ABSENT', 'io.CHANGED');
    const step = joinSteps([noteFindings([absent!]), NOTHING, noteFindings([changed!])]);
    expect([step.checks, codesOf(step)]).toEqual([[], ['trust.STORE_ABSENT', 'io.CHANGED']]);
  });

  const open = { state: 'not_checked', reason: 'the reason' } as const;
  it.each<[Code[][], Partial<Check>]>([
    [[[], ['io.CHANGED'], ['zip.ORDER_UNUSUAL']], open],
    [[[], ['io.CHANGED'], ['part.DIGEST_MISMATCH'], ['io.CHANGED']], { state: 'failed' }],
    [[[], ['zip.ORDER_UNUSUAL']], { state: 'passed' }],
  ])('give a check that ran several times its worst state and all findings: %j', (runs, check) => {
    const step = joinSteps(runs.map((codes) => recordCheck('part.bytes', makeFindings(...codes))));
    expect(step.checks).toEqual([{ id: 'part.bytes', ...check }]);
    expect(codesOf(step)).toEqual(runs.flat());
  });

  it('keep the state of other checks', () => {
    const failed = recordCheck('part.archive', makeFindings('part.DIGEST_MISMATCH'));
    const { checks } = joinSteps([recordCheck('export.manifest', []), failed]);
    expect(checks.map(({ state }) => state)).toEqual(['passed', 'failed']);
  });
});

it('checks that remain get a state, and those that ended keep theirs', () => {
  const ended = endCheck('part.bytes', 'not_applicable', 'alone');
  const step = endRemaining(ended, ['part.bytes', 'part.archive'], 'not_checked', 'unread');
  expect(step.checks).toEqual([
    { id: 'part.bytes', state: 'not_applicable', reason: 'alone' },
    { id: 'part.archive', state: 'not_checked', reason: 'unread' },
  ]);
});

const key = (state: 'not_checked' | 'not_applicable') => endCheck('attestation.key', state, 'no store');
const format = (...codes: Code[]) => recordCheck('attestation.format', makeFindings(...codes));

describe('steps that are reported as one check', () => {
  const id = 'export.attestation';
  it.each<[string, Step[], Partial<Check>]>([
    [
      'pass when all passed or do not apply',
      [format('attestation.TIME_CLAIMED'), key('not_applicable')],
      { state: 'passed' },
    ],
    [
      'fail when one failed, even where another is open',
      [format('attestation.ISSUED_IN_FUTURE'), key('not_checked')],
      { state: 'failed' },
    ],
    [
      'are open when one is open, for its reason',
      [noteFindings(makeFindings('trust.STORE_ABSENT')), format(), key('not_checked')],
      { state: 'not_checked', reason: 'no store' },
    ],
    [
      'are open for the reason of the first open check of the first step',
      [key('not_checked'), endCheck('attestation.key', 'not_checked', 'second')],
      { state: 'not_checked', reason: 'no store' },
    ],
    [
      'are open when the only errors are about reading',
      [format('io.UNREADABLE')],
      { state: 'not_checked', reason: 'the reason' },
    ],
  ])('%s', (_, steps, check) => {
    const folded = foldSteps(id, steps);
    expect(folded.checks).toEqual([{ id, ...check }]);
    expect(codesOf(folded)).toEqual(steps.flatMap(codesOf));
  });
});
