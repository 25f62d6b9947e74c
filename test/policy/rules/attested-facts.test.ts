import { describe, expect, it } from 'vitest';
import type { EvidenceInput } from '../../../src/policy/facts.ts';
import type { RuleId } from '../../../src/policy/catalogue.ts';
import { idOf, ORGANIZATION, PROJECT } from '../../../vectors/make/bundle.ts';
import {
  bundle,
  decide,
  digest,
  exportOf,
  findingOf,
  inputOf,
  inExport,
  ISSUED,
  keyOf,
  local,
  stateOf,
  unsigned,
  type BundleParts,
  type Rules,
  ONE,
  EXPORT,
  EVERY,
  problemsOf,
  single,
  omit,
} from '../make.ts';

const late = (ms: number) => ({ issuer: 'acme-ci', keyId: 'key-1', issuedAtMs: ISSUED - ms });
const signerOf = (issuer: string, key: string) => ({
  issuer,
  keyId: key,
  issuedAtMs: ISSUED,
  thumbprint: keyOf(key),
  in: 'dsse' as const,
});
const isWarning = ({ severity }: { severity: string }) => severity === 'warning';

describe('a fact counts only if it is attested in full', () => {
  it('and not if the bundle is verified, but its provenance is only claimed', () => {
    expect(stateOf(decide(EVERY, single({ provenance: 'claimed' })), 'outcome.verdict')).toBe('not_checked');
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
  ])('%s is undecided if the report does not have the fact', (rule) => {
    expect(stateOf(decide(EVERY, inExport(omit(bundle(1), 'reproduction'))), rule)).toBe('not_checked');
  });

  it('the outcome is undecided if the report does not have it', () => {
    const inputs = inExport(omit(bundle(1), 'outcome'));
    for (const rule of ['outcome.status', 'outcome.verdict'] as const)
      expect(stateOf(decide(EVERY, inputs), rule)).toBe('not_checked');
    const required: Rules = { drills: { required: [{ drill: 'checkout', outcome: 'passed' }] } };
    expect(stateOf(decide(required, inputs), 'drills.required')).toBe('failed');
  });

  it('a fact that is not pinned is not allowed', () => {
    const reproduction = omit(bundle(1).reproduction!, 'scenarioId');
    const inputs = inExport({ ...bundle(1), reproduction });
    const required = { drills: { required: [{ drill: 'checkout', scenario: { pattern: '*' } }] } };
    expect(problemsOf(EVERY, inputs, 'run.scenarios')).toMatchObject([{ state: 'failed', actual: 'none' }]);
    expect(stateOf(decide(required, inputs), 'drills.required')).toBe('failed');
  });
});

describe('a violation has the expected and the actual value:', () => {
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
    expect(problemsOf(EVERY, single(parts), rule)).toStrictEqual([
      { state: 'failed', input: 0, subject: ONE, ...(expected !== '' && { expected }), actual },
    ]);
  });

  it('several conditions are joined with or, and patterns are marked', () => {
    const rules: Rules = { run: { drills: ['refund', { pattern: 'pay-*' }] } };
    expect(problemsOf(rules, single({}), 'run.drills')).toMatchObject([
      { expected: 'refund or one like pay-*' },
    ]);
  });

  it('the organization of an export, or that it could not be read', () => {
    const rules: Rules = { scope: { organizations: ['org_a', 'org_b'] } };
    const report = omit(exportOf([]), 'organizationId');
    const base = { subject: EXPORT };
    expect(problemsOf(rules, [inputOf(exportOf([])), inputOf(report)], 'scope.organizations')).toStrictEqual([
      { ...base, state: 'failed', input: 0, expected: 'org_a or org_b', actual: ORGANIZATION },
      { ...base, state: 'not_checked', input: 1 },
    ]);
  });

  it('the age of the oldest statement, of bundles and of the list', () => {
    const base = { state: 'failed', input: 0 } as const;
    const signers = [0, 1].map((ms) => ({ ...late(ms), thumbprint: keyOf('one'), in: 'dsse' as const }));
    const values = { expected: 'at most 1h', actual: 'issued at 2025-12-31T22:59:59.999Z' };
    expect(problemsOf(EVERY, single({ signers }), 'age.max')).toStrictEqual([
      { ...base, subject: ONE, ...values },
    ]);
    const old = exportOf([bundle(1)], { signer: late(1) });
    expect(problemsOf(EVERY, [inputOf(old)], 'age.max')).toStrictEqual([
      { ...base, subject: EXPORT, ...values },
    ]);
    const unsignedList = omit(exportOf([bundle(1)]), 'signer');
    expect(problemsOf(EVERY, [inputOf(unsignedList)], 'age.max')).toEqual([]);
    const odd = exportOf([], { signer: { ...late(0), issuedAtMs: -1e300 } });
    expect(problemsOf(EVERY, [inputOf(odd)], 'age.max')).toMatchObject([{ actual: 'issued at -1e+300 ms' }]);
  });

  it('the age of a bundle without signatures in its report is undecided', () => {
    for (const parts of [inExport(omit(bundle(1), 'signers')), single({ signers: [] })])
      for (const rule of ['age.max', 'age.run', 'contradictions.time'] as const)
        expect(problemsOf(EVERY, parts, rule)).toMatchObject([{ state: 'not_checked' }]);
  });

  it('the signers of the bundle', () => {
    const signers = [signerOf('eve', 'three'), signerOf('eve', 'four'), signerOf('eve', 'three')];
    const rules: Rules = {
      signers: { issuers: ['acme-ci', 'acme-qa'], keys: [keyOf('one'), keyOf('two')], distinct: 2 },
    };
    const base = { state: 'failed', input: 0, subject: ONE };
    const check = (rule: RuleId, inputs: readonly EvidenceInput[]) => problemsOf(rules, inputs, rule);
    expect(check('signers.issuers', single({ signers }))).toStrictEqual([
      { ...base, expected: 'acme-ci or acme-qa', actual: 'eve' },
    ]);
    const [one, two, three, four] = ['one', 'two', 'three', 'four'].map(keyOf);
    expect(check('signers.keys', single({ signers }))).toStrictEqual([
      { ...base, expected: `${one} or ${two}`, actual: `${three}, ${four}` },
    ]);
    const crossed = [signerOf('acme-ci', 'three'), signerOf('eve', 'one')];
    expect(check('signers.issuers', single({ signers: crossed }))).toEqual([]);
    expect(check('signers.keys', single({ signers: crossed }))).toMatchObject([{ state: 'failed' }]);
    expect(check('signers.distinct', single({}))).toStrictEqual([
      { ...base, expected: 'at least 2', actual: '1' },
    ]);
    for (const rule of ['signers.issuers', 'signers.keys'] as const) {
      for (const inputs of [inExport(omit(bundle(1), 'signers')), [inputOf(unsigned(1))]])
        expect(check(rule, inputs)).toMatchObject([{ state: 'failed', actual: 'no signer' }]);
      const open = unsigned(1, { verdict: 'incomplete' });
      expect(check(rule, [inputOf(open)])).toMatchObject([{ state: 'not_checked' }]);
    }
  });

  it('the local report that is not allowed', () => {
    const report = exportOf([bundle(1)], { localReports: [local(1)] });
    expect(problemsOf(EVERY, [inputOf(report)], 'localReports.allowed')).toStrictEqual([
      { state: 'failed', input: 0, subject: idOf('lrep', 1), path: `local-reports/${idOf('lrep', 1)}.zip` },
    ]);
  });

  it('the refused warning with its place and values, and no error or note', () => {
    const warning = findingOf('attestation.TIME_CLAIMED', ONE);
    const rest = { path: 'a#/b', expected: 'x', actual: 'y' };
    const findings = [warning, { ...warning, ...rest }, findingOf('bundle.UNSIGNED', ONE)];
    expect(findings.map(isWarning)).toContain(true);
    const base = { state: 'failed', input: 0, subject: ONE };
    const expected = findings
      .filter(isWarning)
      .map(({ code, ...more }) => ({ ...base, findings: [code], ...('path' in more && rest) }));
    const all = [...findings, findingOf('part.DIGEST_MISMATCH', ONE)];
    expect(problemsOf(EVERY, single({ findings: all }), 'findings.warnings')).toStrictEqual(expected);
    const named: Rules = { findings: { warnings: ['bundle.UNSIGNED'] } };
    expect(problemsOf(named, single({ findings: all }), 'findings.warnings')).toMatchObject([
      { findings: ['bundle.UNSIGNED'] },
    ]);
  });
});
