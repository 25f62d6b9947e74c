import { describe, expect, it } from 'vitest';
import {
  AS_OF,
  bundle,
  decide,
  exportOf,
  findingOf,
  inExport,
  inputOf,
  stateOf,
  unattested,
  unsigned,
  violationsOf,
  ONE,
  TWO,
  single,
} from './make.ts';
import { decisionRenderers } from '../../src/report/decision-renderers.ts';
import { idOf } from '../../vectors/make/bundle.ts';
import type { Waiver } from '../../src/policy/document/document.ts';

const waiverBy = (owner: string, expires: string, subject = ONE) => ({
  code: 'policy.OUTCOME_VERDICT' as const,
  subject,
  reason: `known to ${owner}`,
  owner,
  expires,
});

/** A verified bundle of this drill, which failed. */
const makeFailed = (drillId: string, n = 1) =>
  bundle(n, { pins: { drillId }, outcome: { verdict: 'failed' } });

describe('a waiver', () => {
  const failed = single({ outcome: { verdict: 'failed' } });
  const decideWith = (...waivers: readonly ReturnType<typeof waiverBy>[]) =>
    decide({ outcome: { verdict: ['passed'] }, waivers }, failed);
  const ownerOf = (...waivers: readonly ReturnType<typeof waiverBy>[]) =>
    violationsOf(decideWith(...waivers), 'outcome.verdict')[0]?.waiver?.owner;

  it('that expires last applies, and of those that expire together the first', () => {
    expect(ownerOf(waiverBy('a', '2026-02-01'), waiverBy('b', '2026-03-01'))).toBe('b');
    expect(ownerOf(waiverBy('b', '2026-03-01'), waiverBy('a', '2026-02-01'))).toBe('b');
    expect(ownerOf(waiverBy('a', '2026-02-01'), waiverBy('b', '2026-02-01'))).toBe('a');
  });

  it('is reported with the violation in full', () => {
    expect(violationsOf(decideWith(waiverBy('a', '2026-01-02')), 'outcome.verdict')).toMatchObject([
      { state: 'waived', waiver: { reason: 'known to a', owner: 'a', expiresAtMs: AS_OF + 86_400_000 } },
    ]);
  });

  it('that matched nothing or has expired is reported in full', () => {
    const { waivers } = decideWith(waiverBy('a', '2026-01-01'), waiverBy('b', '2026-01-02', TWO));
    const code = 'policy.OUTCOME_VERDICT';
    expect(waivers).toStrictEqual([
      {
        code,
        subject: ONE,
        reason: 'known to a',
        owner: 'a',
        expiresAtMs: AS_OF,
        state: 'expired',
        violations: 0,
      },
      {
        code,
        subject: TWO,
        reason: 'known to b',
        owner: 'b',
        expiresAtMs: AS_OF + 86_400_000,
        state: 'no_longer_needed',
        violations: 0,
      },
    ]);
    expect(decideWith(waiverBy('a', '2026-01-02')).waivers).toMatchObject([
      { state: 'needed', violations: 1 },
    ]);
  });

  describe('for a drill', () => {
    const { subject: _subject, ...anyBundle } = waiverBy('a', '2026-02-01');
    const twin = (drillId: string) =>
      inputOf(exportOf([makeFailed(drillId)], { evidenceExportId: idOf('evexp', 2) }));
    const first = makeFailed('checkout');

    it.each([
      ['covers every bundle of the drill', inExport(first, makeFailed('checkout', 2)), 'waived'],
      ['does not cover another drill', inExport(first, makeFailed('refund', 2)), 'failed'],
      ['covers an id of this drill in two exports', [...inExport(first), twin('checkout')], 'waived'],
      ['does not cover an id of two drills', [twin('refund'), ...inExport(first)], 'failed'],
    ] as const)('%s', (_, inputs, state) => {
      const waivers = [{ ...anyBundle, drill: 'checkout' }];
      const decision = decide({ outcome: { verdict: ['passed'] }, waivers }, inputs);
      expect(stateOf(decision, 'outcome.verdict')).toBe(state);
    });

    it('does not cover a bundle that no key attests, whatever drill it names', () => {
      const code = 'part.DIGEST_MISMATCH';
      const broken = bundle(1, { ...unattested('failed'), findings: [findingOf(code, ONE)] });
      for (const [scope, state] of [
        [{ subject: ONE }, 'waived'],
        [{ drill: 'checkout' }, 'failed'],
      ] as const) {
        const decision = decide({ waivers: [{ ...anyBundle, code, ...scope }] }, [inputOf(broken)]);
        expect(stateOf(decision, 'verdict.bundles')).toBe(state);
      }
    });

    it('covers the missing drill itself', () => {
      for (const [drill, state] of [
        ['refund', 'waived'],
        ['checkout', 'failed'],
      ] as const) {
        const waivers = [{ ...anyBundle, code: 'policy.DRILL_MISSING' as const, drill }];
        const decision = decide({ drills: { required: ['refund'] }, waivers }, inExport(bundle(1)));
        expect(stateOf(decision, 'drills.required')).toBe(state);
      }
    });
  });

  it.each<[string, Waiver['code'][], string | undefined]>([
    ['integrity', ['part.DIGEST_MISMATCH', 'zip.CRC_MISMATCH'], 'integrity'],
    ['integrity, which is worse,', ['trust.KEY_UNKNOWN', 'object.MISSING'], 'integrity'],
    ['authenticity', ['attestation.SIGNATURE_INVALID'], 'authenticity'],
    ['neither', ['expect.PROJECT_MISMATCH'], undefined],
  ])('that removes %s states so in the decision and in its text', (_, codes, removes) => {
    const findings = codes.map((code) => findingOf(code, ONE));
    const broken = bundle(1, { ...unattested('failed'), findings });
    const waivers = codes.map((code) => ({ ...waiverBy('a', '2026-02-01'), code }));
    const decision = decide({ waivers }, [inputOf(broken)]);
    expect(violationsOf(decision, 'verdict.bundles')[0]?.waiver?.removes).toBe(removes);
    const text = decisionRenderers.text(decision, { detail: 'brief' });
    expect(/It removes (\w+)/.exec(text.replaceAll(/\s+/g, ' '))?.[1]).toBe(removes);
  });

  it('is needed for each of several causes, and the first to expire is shown', () => {
    const codes = ['part.DIGEST_MISMATCH', 'part.BYTES_MISMATCH'] as const;
    const findings = codes.map((code) => findingOf(code, ONE));
    const broken = bundle(1, { ...unattested('failed'), findings });
    const applyWaivers = (...expires: readonly string[]) => {
      const waivers = expires.map((day, at) => ({ ...waiverBy(`w${at}`, day), code: codes[at]! }));
      const decision = decide({ waivers }, [inputOf(broken)]);
      const [violation] = violationsOf(decision, 'verdict.bundles');
      return [
        violation?.state,
        violation?.waiver?.owner,
        decision.waivers.filter(({ state }) => state !== 'needed').length,
      ];
    };
    expect(applyWaivers('2026-02-01', '2026-03-01')).toEqual(['waived', 'w0', 0]);
    expect(applyWaivers('2026-03-01', '2026-02-01')).toEqual(['waived', 'w1', 0]);
    expect(applyWaivers('2026-02-01', '2026-02-01')).toEqual(['waived', 'w0', 0]);
    expect(applyWaivers('2026-02-01')).toEqual(['failed', undefined, 0]);
  });

  it('does not count inside a set of anyOf, and counts for all sets together', () => {
    const anyOf = [{ outcome: { verdict: ['passed'] } }, { age: { max: '1s' } }];
    const answerWith = (code: Waiver['code'], subject: string) =>
      decide({ anyOf, waivers: [{ ...waiverBy('a', '2026-02-01', subject), code }] }, failed).answer;
    expect(answerWith('policy.OUTCOME_VERDICT', ONE)).toBe('no');
    expect(answerWith('policy.NO_ALTERNATIVE', 'all')).toBe('yes');
    const waivers = [{ ...waiverBy('a', '2026-02-01', 'all'), code: 'policy.NO_ALTERNATIVE' as const }];
    const unread = decide({ anyOf, waivers }, [inputOf(unsigned(1, { verdict: 'incomplete' }))]);
    expect(stateOf(unread, 'anyOf.sets')).toBe('not_checked');
  });

  it('with the code of the rule applies to a verdict only if no finding led to it', () => {
    const code = 'policy.BUNDLE_VERDICT' as const;
    const stateWith = (findings: ReturnType<typeof findingOf>[]) => {
      const report = bundle(1, { ...unattested('failed'), findings });
      const decision = decide({ waivers: [{ ...waiverBy('a', '2026-02-01'), code }] }, [inputOf(report)]);
      return violationsOf(decision, 'verdict.bundles')[0]?.state;
    };
    expect(stateWith([])).toBe('waived');
    expect(stateWith([findingOf('part.DIGEST_MISMATCH', ONE)])).toBe('failed');
  });
});
