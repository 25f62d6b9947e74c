import * as fc from 'fast-check';
import type { Decision, EvaluatedInput, RuleResult, Violation } from '../../../src/policy/decision.ts';
import type { RuleId } from '../../../src/policy/catalogue.ts';
import { AS_OF_MS, decided, exportInput } from '../../policy/vsa-makers.ts';
import { DIGEST } from '../makers.ts';

export const input = (over: Partial<EvaluatedInput> = {}): EvaluatedInput =>
  exportInput({ projectId: 'prj_000000000001', manifestDigest: DIGEST, bundles: 3, ...over });

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
export function rule(id: RuleId, violations: readonly Violation[] = [], examined = 3): RuleResult {
  const worst = (['failed', 'not_checked', 'warned', 'waived'] as const).find((state) =>
    violations.some((violated) => violated.state === state),
  );
  return { rule: id, state: worst ?? 'passed', examined, violations };
}

export const decision = (over: Partial<Decision> = {}): Decision =>
  decided({
    policy: { name: 'release', digest: DIGEST, sources: [{ path: 'policies/release.yaml', digest: DIGEST }] },
    trust: { fingerprint: DIGEST, keys: 2 },
    inputs: [input()],
    rules: [
      rule('verdict.bundles'),
      rule('outcome.verdict'),
      { ...rule('trials.reruns', [], 0), state: 'not_applicable' },
    ],
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
  waivers: [
    {
      ...WAIVER,
      code: 'policy.TOO_OLD',
      subject: 'evidence_000000000009',
      state: 'no_longer_needed',
      violations: 0,
    },
  ],
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

export const NOTHING = decision({ answer: 'could_not_tell', inputs: [], rules: [] });

/** Texts that try to leave a format, and texts of every kind. */
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

/** The members of a decision that have text from outside, with harmless values. */
export const BENIGN = {
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
type Texts = typeof BENIGN;
export const texts: fc.Arbitrary<Texts> = fc
  .infiniteStream(hostile)
  .map(
    (stream) => Object.fromEntries(Object.keys(BENIGN).map((name) => [name, stream.next().value])) as Texts,
  );

/** A decision of one shape with these texts. */
export function withTexts({ name, policy, reason, owner, ...facts }: Texts): Decision {
  const { subject } = facts;
  const waiver = { reason, owner, expiresAtMs: AS_OF_MS };
  const violate = (over: Partial<Violation>): Violation => violation({ ...facts, ...over });
  return decision({
    answer: 'no',
    policy: { name: policy, digest: DIGEST, sources: [{ path: name, digest: DIGEST }] },
    inputs: [input({ name, id: subject })],
    rules: [
      rule('verdict.bundles'),
      rule('outcome.status', [violate({ rule: 'outcome.status', code: 'policy.OUTCOME_STATUS' })]),
      rule('outcome.verdict', [violate({ state: 'not_checked', code: 'io.UNREADABLE' })]),
      rule('findings.warnings', [
        violate({ rule: 'findings.warnings', state: 'waived', code: 'policy.WARNING_REFUSED', waiver }),
      ]),
    ],
    waivers: [{ ...waiver, code: 'policy.TOO_OLD', subject, state: 'no_longer_needed', violations: 0 }],
  });
}

/** A decision with this many reasons. Every tenth is undecided, and every seventh is waived. */
export const withReasons = (many: number, over: Partial<Violation> = {}): Decision =>
  decision({
    answer: 'no',
    rules: [
      rule(
        'outcome.verdict',
        Array.from({ length: many }, (_, at) =>
          violation({
            subject: `evidence_${String(at).padStart(12, '0')}`,
            state: at % 7 === 3 ? 'waived' : at % 10 === 4 ? 'not_checked' : 'failed',
            ...over,
          }),
        ),
        many,
      ),
    ],
  });
