import { describe, expect, it } from 'vitest';
import { codeEntry } from '../../../src/codes/index.ts';
import { actionOf } from '../../../src/report/decision/action.ts';
import { violation } from './makers.ts';

const said = (code: Parameters<typeof codeEntry>[0]): string => codeEntry(code).action;

describe('what to do about a violation', () => {
  it('is what its code says', () => {
    expect(actionOf(violation({ code: 'policy.OUTCOME_VERDICT' }))).toBe(said('policy.OUTCOME_VERDICT'));
  });

  it('is what the findings behind it say, each once, so that a missing trust store is named', () => {
    const findings = ['trust.STORE_ABSENT', 'part.MISSING', 'trust.STORE_ABSENT'] as const;
    const action = actionOf(violation({ rule: 'verdict.bundles', code: 'policy.BUNDLE_VERDICT', findings }));
    expect(action).toBe(`${said('trust.STORE_ABSENT')} ${said('part.MISSING')}`);
    expect(action).toContain('--trust');
  });

  it('does not say of what undecided that the evidence is authentic', () => {
    const open = violation({ rule: 'outcome.verdict', code: 'policy.OUTCOME_VERDICT', state: 'not_checked' });
    expect(actionOf(open)).toContain('verdict.bundles');
    expect(actionOf({ ...open, code: 'io.UNREADABLE' })).toBe(said('io.UNREADABLE'));
  });
});
