import { idOf } from '../../make/bundle.ts';
import type { Waiver } from '../../../src/policy/document/document.ts';
import {
  AS_OF,
  bundle,
  exportOf,
  findingOf,
  inputOf,
  inExport,
  unattested,
  unsigned,
  local,
} from '../../make/report.ts';
import { answer, caseOf, no, untold, YES, type PolicyCase, type Row, type Rules } from './case.ts';

const E1 = idOf('evidence', 1);
const EXPORT = idOf('evexp', 1);
const at = (ms: number): string => new Date(ms).toISOString();

const waiver = (code: Waiver['code'], subject: string, expires = at(AS_OF + 1)): Waiver => ({
  code,
  subject,
  reason: 'known, and being mended',
  owner: 'release@acme.example',
  expires,
});
const drillFailed: Rules = { outcome: { verdict: ['passed'] } };
const lost = bundle(1, { outcome: { verdict: 'failed' } });
const lifted = answer('yes', [], { waived: ['policy.OUTCOME_VERDICT'] });
const failed = bundle(1, {
  ...unattested('failed'),
  findings: [findingOf('object.DIGEST_MISMATCH', E1), findingOf('object.BYTES_MISMATCH', E1)],
});
const both = (...codes: Waiver['code'][]): Rules => ({ waivers: codes.map((code) => waiver(code, E1)) });

const refuseAll: Rules = { findings: { warnings: 'refuse' } };
const warned = bundle(1, { findings: [findingOf('attestation.TIME_CLAIMED', E1)] });

const rows: readonly Row[] = [
  [
    'note-is-no-warning',
    'what is merely noted is not refused',
    'PolicyRule',
    { ...refuseAll, verdict: { export: 'intact', bundles: 'intact' } },
    [
      inputOf(
        exportOf([bundle(1)], {
          localReports: [local(1, { findings: [findingOf('local-report.UNATTESTED', idOf('lrep', 1))] })],
        }),
      ),
    ],
    YES,
  ],
  [
    'waiver-of-a-fault-beside-an-unsigned-bundle',
    'the fault of one bundle is waived; that another is unsigned keeps the export intact',
    'Waiver',
    { verdict: { bundles: 'intact' }, ...both('object.DIGEST_MISMATCH', 'object.BYTES_MISMATCH') },
    [inputOf(exportOf([failed, unsigned(2)], { verdict: 'failed' }))],
    answer('no', ['policy.EXPORT_VERDICT'], { waived: ['policy.BUNDLE_VERDICT'] }),
  ],
  ['no-warning', 'nothing is warned of', 'Usual', refuseAll, inExport(bundle(1)), YES],
  [
    'warning-refused',
    'every warning is refused',
    'PolicyRule',
    refuseAll,
    inExport(warned),
    no('policy.WARNING_REFUSED'),
  ],
  ['warning-not-said', 'a policy without a rule about warnings', 'Usual', {}, inExport(warned), YES],
  [
    'warning-of-another-code',
    'another warning is refused',
    'PolicyRule',
    { findings: { warnings: ['export.COMPLETENESS_CLAIMED'] } },
    inExport(warned),
    YES,
  ],
  [
    'warning-of-this-code',
    'this warning is refused',
    'PolicyRule',
    { findings: { warnings: ['attestation.TIME_CLAIMED'] } },
    inExport(warned),
    no('policy.WARNING_REFUSED'),
  ],
  [
    'warning-waived',
    'the warning is waived for this bundle',
    'Waiver',
    { ...refuseAll, waivers: [waiver('attestation.TIME_CLAIMED', E1)] },
    inExport(warned),
    answer('yes', [], { waived: ['policy.WARNING_REFUSED'] }),
  ],
  [
    'warning-waived-of-another',
    'the warning is waived for another bundle',
    'Waiver',
    { ...refuseAll, waivers: [waiver('attestation.TIME_CLAIMED', idOf('evidence', 2))] },
    inExport(warned),
    answer('no', ['policy.WARNING_REFUSED'], { unusedWaivers: 1 }),
  ],
  [
    'waived',
    'the rule is lifted for this bundle, for one more millisecond',
    'Waiver',
    { ...drillFailed, waivers: [waiver('policy.OUTCOME_VERDICT', E1)] },
    inExport(lost),
    lifted,
  ],
  [
    'waiver-ends-now',
    'at the moment that it names it counts no more',
    'Waiver',
    { ...drillFailed, waivers: [waiver('policy.OUTCOME_VERDICT', E1, at(AS_OF))] },
    inExport(lost),
    answer('no', ['policy.OUTCOME_VERDICT'], { unusedWaivers: 1 }),
  ],
  [
    'waiver-ended',
    'it ended one millisecond ago',
    'Waiver',
    { ...drillFailed, waivers: [waiver('policy.OUTCOME_VERDICT', E1, at(AS_OF - 1))] },
    inExport(lost),
    answer('no', ['policy.OUTCOME_VERDICT'], { unusedWaivers: 1 }),
  ],
  [
    'waiver-by-date',
    'a date is its midnight in UTC',
    'Waiver',
    { ...drillFailed, waivers: [waiver('policy.OUTCOME_VERDICT', E1, '2026-01-01')] },
    inExport(lost),
    answer('no', ['policy.OUTCOME_VERDICT'], { unusedWaivers: 1 }),
  ],
  [
    'waiver-by-the-next-date',
    'one day later',
    'Waiver',
    { ...drillFailed, waivers: [waiver('policy.OUTCOME_VERDICT', E1, '2026-01-02')] },
    inExport(lost),
    lifted,
  ],
  [
    'waiver-with-a-zone',
    'one hour east of UTC it is midnight already',
    'Waiver',
    { ...drillFailed, waivers: [waiver('policy.OUTCOME_VERDICT', E1, '2026-01-01T01:00:00+01:00')] },
    inExport(lost),
    answer('no', ['policy.OUTCOME_VERDICT'], { unusedWaivers: 1 }),
  ],
  [
    'waiver-met-nothing',
    'a waiver of what is not there',
    'Waiver',
    { waivers: [waiver('policy.OUTCOME_VERDICT', E1)] },
    inExport(bundle(1)),
    answer('yes', [], { unusedWaivers: 1 }),
  ],
  [
    'waiver-of-another-rule',
    'another rule is lifted',
    'Waiver',
    { ...drillFailed, waivers: [waiver('policy.OUTCOME_STATUS', E1)] },
    inExport(lost),
    answer('no', ['policy.OUTCOME_VERDICT'], { unusedWaivers: 1 }),
  ],
  [
    'waiver-of-one-of-two-subjects',
    'one of two bundles is waived',
    'Waiver',
    { ...drillFailed, waivers: [waiver('policy.OUTCOME_VERDICT', E1)] },
    inExport(lost, bundle(2, { outcome: { verdict: 'failed' } })),
    answer('no', ['policy.OUTCOME_VERDICT'], { waived: ['policy.OUTCOME_VERDICT'] }),
  ],
  [
    'waiver-of-one-of-two-causes',
    'one of two faults is waived',
    'Waiver',
    both('object.DIGEST_MISMATCH'),
    [inputOf(failed)],
    no('policy.BUNDLE_VERDICT'),
  ],
  [
    'waiver-of-both-causes',
    'both faults are waived, and no rule reads what is damaged',
    'Waiver',
    both('object.DIGEST_MISMATCH', 'object.BYTES_MISMATCH'),
    [inputOf(failed)],
    answer('yes', [], { waived: ['policy.BUNDLE_VERDICT'] }),
  ],
  [
    'waiver-makes-nothing-true',
    'the faults are waived, and the outcome of damaged evidence stays unattested',
    'Waiver',
    { ...drillFailed, ...both('object.DIGEST_MISMATCH', 'object.BYTES_MISMATCH', 'policy.OUTCOME_VERDICT') },
    [inputOf(failed)],
    answer('could_not_tell', ['policy.OUTCOME_VERDICT'], {
      waived: ['policy.BUNDLE_VERDICT'],
      unusedWaivers: 1,
    }),
  ],
  [
    'waiver-of-a-verdict-as-a-whole',
    'a verdict is waived by what lowered it, not by the rule',
    'Waiver',
    both('policy.BUNDLE_VERDICT'),
    [inputOf(failed)],
    answer('no', ['policy.BUNDLE_VERDICT'], { unusedWaivers: 1 }),
  ],
  [
    'waiver-for-unsigned',
    'an unsigned bundle that a waiver names',
    'Waiver',
    { ...drillFailed, ...both('bundle.UNSIGNED', 'policy.OUTCOME_VERDICT') },
    [inputOf(unsigned(1))],
    answer('yes', [], { waived: ['policy.BUNDLE_VERDICT', 'policy.OUTCOME_VERDICT'] }),
  ],
  [
    'waiver-of-a-part-lifts-its-export',
    'what lowered the export is the bundle alone',
    'Waiver',
    both('bundle.UNSIGNED'),
    [inputOf(exportOf([unsigned(1), bundle(2)], { verdict: 'intact' }))],
    answer('yes', [], { waived: ['policy.EXPORT_VERDICT', 'policy.BUNDLE_VERDICT'] }),
  ],
  [
    'waiver-of-the-export',
    'the export is waived by its id',
    'Waiver',
    { completeness: { vouched: ['pinned'] }, waivers: [waiver('policy.COMPLETENESS_CLAIMED', EXPORT)] },
    inExport(bundle(1)),
    answer('yes', [], { waived: ['policy.COMPLETENESS_CLAIMED'] }),
  ],
  [
    'waiver-of-unread',
    'no waiver applies to what could not be read',
    'Waiver',
    { ...drillFailed, ...both('policy.BUNDLE_VERDICT', 'policy.OUTCOME_VERDICT') },
    [inputOf(bundle(1, unattested('incomplete')))],
    answer('could_not_tell', ['policy.BUNDLE_VERDICT', 'policy.OUTCOME_VERDICT'], { unusedWaivers: 2 }),
  ],
  [
    'waiver-of-a-missing-drill',
    'a drill that is not there, by its id',
    'Waiver',
    { drills: { required: ['refund'] }, waivers: [waiver('policy.DRILL_MISSING', 'refund')] },
    inExport(bundle(1)),
    answer('yes', [], { waived: ['policy.DRILL_MISSING'] }),
  ],
  [
    'waiver-and-nothing-given',
    'no waiver applies to an empty set',
    'EmptySet',
    { waivers: [waiver('policy.BUNDLE_VERDICT', E1)] },
    [],
    answer('could_not_tell', [], { unusedWaivers: 1 }),
  ],
  [
    'waiver-twice',
    'one of two waivers of the same has ended',
    'Waiver',
    {
      ...drillFailed,
      waivers: [waiver('policy.OUTCOME_VERDICT', E1, at(AS_OF)), waiver('policy.OUTCOME_VERDICT', E1)],
    },
    inExport(lost),
    answer('yes', [], { waived: ['policy.OUTCOME_VERDICT'], unusedWaivers: 1 }),
  ],
  [
    'waiver-letter-case',
    'subjects are compared exactly',
    'LetterCase',
    { ...drillFailed, waivers: [waiver('policy.OUTCOME_VERDICT', E1.toUpperCase())] },
    inExport(lost),
    answer('no', ['policy.OUTCOME_VERDICT'], { unusedWaivers: 1 }),
  ],
  [
    'waiver-untold-stays',
    'an unsigned bundle whose outcome is not waived',
    'Waiver',
    { ...drillFailed, ...both('bundle.UNSIGNED') },
    [inputOf(unsigned(1))],
    { ...untold('policy.OUTCOME_VERDICT'), waived: ['policy.BUNDLE_VERDICT'] },
  ],
];

export const waivers = (): PolicyCase[] => rows.map(caseOf);
