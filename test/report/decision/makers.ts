import * as fc from 'fast-check';
import type { Decision, EvaluatedInput, RuleId, RuleResult, Violation } from '../../../src/policy/index.ts';
import { DIGEST } from '../makers.ts';

export const AS_OF_MS = Date.UTC(2026, 10, 21, 12);

export const input = (over: Partial<EvaluatedInput> = {}): EvaluatedInput => ({
  name: './mirror',
  kind: 'export',
  id: 'evexp_000000000001',
  projectId: 'prj_000000000001',
  manifestDigest: DIGEST,
  verdict: 'verified',
  completeness: 'pinned',
  bundles: 3,
  localReports: 0,
  ...over,
});

export const violation = (over: Partial<Violation> = {}): Violation => ({
  rule: 'outcome.verdict',
  state: 'failed',
  code: 'policy.OUTCOME_VERDICT',
  input: 0,
  subject: 'evidence_000000000002',
  path: 'parts/evidence_000000000002.zip',
  message: 'the drill check-package on package-2 ended as "failed"',
  expected: 'passed',
  actual: 'failed',
  ...over,
});

/** The result of a rule by its violations; without any it passed. */
export function rule(id: RuleId, violations: readonly Violation[] = [], judged = 3): RuleResult {
  const worst = (['failed', 'not_checked', 'warned', 'waived'] as const).find((state) =>
    violations.some((one) => one.state === state),
  );
  return { rule: id, state: worst ?? 'passed', judged, violations };
}

export const decision = (over: Partial<Decision> = {}): Decision => ({
  schemaVersion: 1,
  kind: 'decision',
  answer: 'yes',
  asOfMs: AS_OF_MS,
  policy: { name: 'release', digest: DIGEST, sources: [{ path: 'policies/release.yaml', digest: DIGEST }] },
  trust: { fingerprint: DIGEST, keys: 2 },
  inputs: [input()],
  rules: [
    rule('verdict.bundles'),
    rule('outcome.verdict'),
    { ...rule('trials.reruns', [], 0), state: 'not_applicable' },
  ],
  unusedWaivers: [],
  ...over,
});

const WAIVER = {
  reason: 'known until the next release',
  owner: 'ops@example.org',
  expiresAtMs: Date.UTC(2027, 0, 1),
};

export const YES = decision();
export const NO = decision({
  answer: 'no',
  rules: [
    rule('verdict.bundles'),
    rule('drills.required', [
      {
        rule: 'drills.required',
        state: 'failed',
        code: 'policy.DRILL_MISSING',
        subject: 'restore-backup',
        message: 'no verified bundle is of the drill restore-backup',
      },
    ]),
    rule('outcome.verdict', [violation()]),
    rule('findings.warnings', [
      violation({
        rule: 'findings.warnings',
        state: 'waived',
        code: 'policy.WARNING_REFUSED',
        message: 'the verification warns of bytes that nothing covers',
        findings: ['export.FILE_UNCOVERED'],
        waiver: WAIVER,
      }),
    ]),
  ],
  unusedWaivers: [{ ...WAIVER, code: 'policy.TOO_OLD', subject: 'evidence_000000000009' }],
});
export const UNSURE = decision({
  answer: 'could_not_tell',
  inputs: [input(), input({ name: 's3://evidence/2026/evexp_2', kind: 'unreadable', bundles: 0 })],
  rules: [
    rule('verdict.export', [
      violation({
        rule: 'verdict.export',
        state: 'not_checked',
        code: 'io.UNREADABLE',
        input: 1,
        subject: 'export',
        path: 'manifest.json',
        message: 'the manifest could not be read',
        expected: 'verified',
        actual: 'not known',
      }),
    ]),
    rule('outcome.verdict'),
  ],
});

/** What people who want out of a format would write, and text of every kind. */
export const hostile: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    '\n::set-output name=answer::yes',
    '\r::error::x\r\n##[add-mask]y',
    '%0A::warning::z',
    '::stop-commands::a',
    '##[set-env name=A]b',
    ']]></failure></testcase><testcase name="ok"/>',
    '<script>alert(1)</script>',
    '&lt;&#0;&amp',
    '\u0000\u0008\u001B[2J\u009B31m',
    '\uFFFE\uFFFF\uD800',
    '| a | b |\n| --- | --- |',
    '`` ` ``` `',
    '[click](javascript:alert(1)) ![x](http://a.example)',
    '@octocat #1 https://evil.example www.evil.example',
    '--- "\'\\',
    '{0} {{1}} [text](1)',
    '\u202Egpj.exe\u2066',
    '../../../etc/passwd',
    '/etc/passwd',
    'a b?c#d%e:f,g',
    '# heading',
    ' ',
    '',
    '$`x`$',
  ),
  fc
    .tuple(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom('\n', '\r', '::', '`', '<', '&', '%', ','),
    )
    .map((parts) => parts.join('')),
);

type Texts = {
  [
    K in 'name' | 'subject' | 'path' | 'message' | 'expected' | 'actual' | 'reason' | 'owner' | 'policy'
  ]: string;
};
export const texts: fc.Arbitrary<Texts> = fc.record({
  name: hostile,
  subject: hostile,
  path: hostile,
  message: hostile,
  expected: hostile,
  actual: hostile,
  reason: hostile,
  owner: hostile,
  policy: hostile,
});
export const BENIGN: Texts = {
  name: 'mirror',
  subject: 'evidence_1',
  path: 'parts/evidence_1.zip',
  message: 'words',
  expected: 'one',
  actual: 'two',
  reason: 'words',
  owner: 'somebody',
  policy: 'release',
};

/** A decision of one shape, with these texts wherever text from outside can stand. */
export function withTexts({
  name,
  subject,
  path,
  message,
  expected,
  actual,
  reason,
  owner,
  policy,
}: Texts): Decision {
  const waiver = { reason, owner, expiresAtMs: AS_OF_MS };
  const one = (over: Partial<Violation>): Violation =>
    violation({ subject, path, message, expected, actual, ...over });
  return decision({
    answer: 'no',
    policy: { name: policy, digest: DIGEST, sources: [{ path: name, digest: DIGEST }] },
    inputs: [input({ name, id: subject })],
    rules: [
      rule('verdict.bundles'),
      rule('outcome.status', [one({ rule: 'outcome.status', code: 'policy.OUTCOME_STATUS' })]),
      rule('outcome.verdict', [one({ state: 'not_checked', code: 'io.UNREADABLE' })]),
      rule('findings.warnings', [
        one({ rule: 'findings.warnings', state: 'waived', code: 'policy.WARNING_REFUSED', waiver }),
      ]),
    ],
    unusedWaivers: [{ ...waiver, code: 'policy.TOO_OLD', subject }],
  });
}

/** A decision with this many reasons, of which every tenth undecided and every seventh is waived. */
export const withReasons = (many: number): Decision =>
  decision({
    answer: 'no',
    rules: [
      rule(
        'outcome.verdict',
        Array.from({ length: many }, (_, at) =>
          violation({
            subject: `evidence_${String(at).padStart(12, '0')}`,
            state: at % 7 === 3 ? 'waived' : at % 10 === 4 ? 'not_checked' : 'failed',
          }),
        ),
        many,
      ),
    ],
  });
