import { describe, expect, it } from 'vitest';
import type { EvidenceInput, RuleId } from '../../../src/policy/index.ts';
import { RULES } from '../../../src/policy/rules/catalogue.ts';
import { idOf, ORGANIZATION, PROJECT } from '../../../vectors/make/bundle.ts';
import {
  bundle,
  decide,
  digest,
  exportOf,
  found,
  given,
  inExport,
  ISSUED,
  keyOf,
  local,
  stateOf,
  unsigned,
  type BundleParts,
  type Rules,
} from '../make.ts';
import { ONE, EXPORT, EVERY, said, one, withoutPins, withoutOutcome, withoutSigners } from '../said.ts';

const late = (ms: number) => ({ issuer: 'acme-ci', keyId: 'key-1', issuedAtMs: ISSUED - ms });
const signerOf = (issuer: string, key: string) => ({
  issuer,
  keyId: key,
  issuedAtMs: ISSUED,
  thumbprint: keyOf(key),
  in: 'dsse' as const,
});
const isWarning = ({ severity }: { severity: string }) => severity === 'warning';

describe('a fact counts only where it is attested in full', () => {
  it.each<[string, BundleParts]>([
    ['intact', { verdict: 'intact' }],
    ['claimed', { provenance: 'claimed' }],
    ['by digests alone', { depth: 'digest' }],
  ])('and not where it is %s', (_, parts) => {
    expect(stateOf(decide({ verdict: { bundles: 'intact' }, ...EVERY }, one(parts)), 'outcome.verdict')).toBe(
      'not_checked',
    );
  });

  it.each<RuleId>([
    'run.drills',
    'run.targets',
    'run.scenarios',
    'run.builds',
    'run.packageLocks',
    'run.seeds',
    'run.trials',
    'trials.complete',
    'trials.attempts',
  ])('%s is not told by a report that does not say it', (rule) => {
    expect(stateOf(decide(EVERY, inExport(withoutPins())), rule)).toBe('not_checked');
  });

  it('the outcome is not told by a report that does not say it', () => {
    for (const rule of ['outcome.status', 'outcome.verdict'] as const)
      expect(stateOf(decide(EVERY, inExport(withoutOutcome())), rule)).toBe('not_checked');
    const required: Rules = { drills: { required: [{ drill: 'checkout', outcome: 'passed' }] } };
    expect(stateOf(decide(required, inExport(withoutOutcome())), 'drills.required')).toBe('failed');
  });

  it('a fact that is not pinned is none that is allowed', () => {
    const { scenarioId: _scenario, ...pins } = bundle(1).reproduction!;
    const inputs = inExport({ ...bundle(1), reproduction: pins });
    const required = { drills: { required: [{ drill: 'checkout', scenario: { pattern: '*' } }] } };
    expect(said(EVERY, inputs, 'run.scenarios')).toMatchObject([{ state: 'failed', actual: 'none' }]);
    expect(stateOf(decide(required, inputs), 'drills.required')).toBe('failed');
  });
});

describe('a violation names what was expected and what is there:', () => {
  const other = digest('other');
  const expectations: readonly (readonly [RuleId, BundleParts, string, string])[] = [
    ['scope.projects', { projectId: idOf('prj', 9) }, PROJECT, idOf('prj', 9)],
    ['run.drills', { pins: { drillId: 'refund' } }, 'checkout', 'refund'],
    ['run.targets', { pins: { targetId: 'till' } }, 'shop', 'till'],
    ['run.scenarios', { pins: { scenarioId: 'odd' } }, 'plain', 'odd'],
    ['run.builds', { pins: { buildHash: other } }, digest('build'), other],
    ['run.packageLocks', { pins: { packageLockHash: other } }, digest('lock'), other],
    ['run.seeds', { pins: { seed: '43' } }, '42', '43'],
    [
      'run.trials',
      { pins: { originalTrial: 2, originalAttemptLimit: 3 } },
      'trial 1, attemptLimit 1',
      'trial 2, attemptLimit 3',
    ],
    ['outcome.status', { outcome: { status: 'aborted' } }, 'completed', 'aborted'],
    ['outcome.verdict', { outcome: { verdict: 'failed' } }, 'passed', 'failed'],
    ['trials.reruns', { rerunOfHostedRunId: idOf('hrun', 7) }, '', `of ${idOf('hrun', 7)}`],
  ];

  it.each(expectations)('%s', (rule, parts, expected, actual) => {
    expect(said(EVERY, one(parts), rule)).toStrictEqual([
      {
        rule,
        code: RULES[rule].code,
        state: 'failed',
        input: 0,
        subject: ONE,
        ...(expected !== '' && { expected }),
        actual,
      },
    ]);
  });

  it('a pattern, and several of which one is enough', () => {
    const rules: Rules = { run: { drills: ['refund', { pattern: 'pay-*' }] } };
    expect(said(rules, one({}), 'run.drills')).toMatchObject([{ expected: 'refund or like pay-*' }]);
  });

  it('the organization of an export, or that it could not be read', () => {
    const rules: Rules = { scope: { organizations: ['org_a', 'org_b'] } };
    const { organizationId: _organization, ...report } = exportOf([]);
    const base = { rule: 'scope.organizations', code: 'policy.ORGANIZATION_NOT_ALLOWED', subject: EXPORT };
    expect(said(rules, [given(exportOf([])), given(report)], 'scope.organizations')).toStrictEqual([
      { ...base, state: 'failed', input: 0, expected: 'org_a or org_b', actual: ORGANIZATION },
      { ...base, state: 'not_checked', input: 1 },
    ]);
  });

  it('the age of the oldest statement, of bundles and of the list', () => {
    const base = { rule: 'age.max', code: 'policy.TOO_OLD', state: 'failed', input: 0 } as const;
    const signers = [0, 1].map((ms) => ({ ...late(ms), thumbprint: keyOf('one'), in: 'dsse' as const }));
    const values = { expected: 'at most 1h', actual: 'issued at 2025-12-31T22:59:59.999Z' };
    expect(said(EVERY, one({ signers }), 'age.max')).toStrictEqual([{ ...base, subject: ONE, ...values }]);
    const old = exportOf([bundle(1)], { signer: late(1) });
    expect(said(EVERY, [given(old)], 'age.max')).toStrictEqual([{ ...base, subject: EXPORT, ...values }]);
    const { signer: _signer, ...unsignedList } = exportOf([bundle(1)]);
    expect(said(EVERY, [given(unsignedList)], 'age.max')).toEqual([]);
    const odd = exportOf([], { signer: { ...late(0), issuedAtMs: -1e300 } });
    expect(said(EVERY, [given(odd)], 'age.max')).toMatchObject([{ actual: 'issued at -1e+300 ms' }]);
  });

  it('no age of a bundle whose report names no signature', () => {
    expect(said(EVERY, inExport(withoutSigners()), 'age.max')).toMatchObject([{ state: 'not_checked' }]);
    expect(said(EVERY, one({ signers: [] }), 'age.max')).toMatchObject([{ state: 'not_checked' }]);
  });

  it('the signers that there are', () => {
    const signers = [signerOf('eve', 'three'), signerOf('eve', 'four'), signerOf('eve', 'three')];
    const rules: Rules = {
      signers: { issuers: ['acme-ci', 'acme-qa'], keys: [keyOf('one'), keyOf('two')], distinct: 2 },
    };
    const base = { state: 'failed', input: 0, subject: ONE };
    const of = (rule: RuleId, inputs: readonly EvidenceInput[]) => said(rules, inputs, rule);
    expect(of('signers.issuers', one({ signers }))).toStrictEqual([
      {
        ...base,
        rule: 'signers.issuers',
        code: 'policy.ISSUER_NOT_ALLOWED',
        expected: 'acme-ci or acme-qa',
        actual: 'eve',
      },
    ]);
    expect(of('signers.keys', one({ signers }))).toStrictEqual([
      {
        ...base,
        rule: 'signers.keys',
        code: 'policy.KEY_NOT_ALLOWED',
        expected: `${keyOf('one')} or ${keyOf('two')}`,
        actual: `${keyOf('three')}, ${keyOf('four')}`,
      },
    ]);
    expect(of('signers.distinct', one({}))).toStrictEqual([
      {
        ...base,
        rule: 'signers.distinct',
        code: 'policy.TOO_FEW_KEYS',
        expected: 'at least 2',
        actual: '1',
      },
    ]);
    for (const rule of ['signers.issuers', 'signers.keys'] as const) {
      expect(of(rule, inExport(withoutSigners()))).toMatchObject([{ state: 'failed', actual: 'nobody' }]);
      expect(of(rule, [given(unsigned(1))])).toMatchObject([{ state: 'failed', actual: 'nobody' }]);
      const open = unsigned(1, { verdict: 'incomplete' });
      expect(of(rule, [given(open)])).toMatchObject([{ state: 'not_checked' }]);
    }
  });

  it('the local report that may not be there', () => {
    const report = exportOf([bundle(1)], { localReports: [local(1)] });
    expect(said(EVERY, [given(report)], 'localReports.allowed')).toStrictEqual([
      {
        rule: 'localReports.allowed',
        code: 'policy.LOCAL_REPORT_NOT_ALLOWED',
        state: 'failed',
        input: 0,
        subject: idOf('lrep', 1),
        path: `local-reports/${idOf('lrep', 1)}.zip`,
      },
    ]);
  });

  it('the warning that stands, with where and what, and no error or fact', () => {
    const warning = found('attestation.TIME_CLAIMED', ONE);
    const rest = { path: 'a#/b', expected: 'x', actual: 'y' };
    const findings = [warning, { ...warning, ...rest }, found('bundle.UNSIGNED', ONE)];
    expect(findings.map(isWarning)).toContain(true);
    const base = {
      rule: 'findings.warnings',
      code: 'policy.WARNING_REFUSED',
      state: 'failed',
      input: 0,
      subject: ONE,
    };
    const expected = findings
      .filter(isWarning)
      .map(({ code, ...more }) => ({ ...base, findings: [code], ...('path' in more && rest) }));
    const all = [...findings, found('part.DIGEST_MISMATCH', ONE)];
    expect(said(EVERY, one({ findings: all }), 'findings.warnings')).toStrictEqual(expected);
    const named: Rules = { findings: { warnings: ['bundle.UNSIGNED'] } };
    expect(said(named, one({ findings: all }), 'findings.warnings')).toMatchObject([
      { findings: ['bundle.UNSIGNED'] },
    ]);
  });
});
