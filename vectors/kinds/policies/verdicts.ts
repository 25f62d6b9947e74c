import {
  bundle,
  exportOf,
  found,
  given,
  inExport,
  local,
  unattested,
  unsigned,
  AS_OF,
} from '../../make/report.ts';
import { idOf } from '../../make/bundle.ts';
import { caseOf, no, untold, YES, type PolicyCase, type Row } from './case.ts';

const failed = bundle(1, {
  ...unattested('failed'),
  findings: [found('object.DIGEST_MISMATCH', idOf('evidence', 1), 'objects/log.txt')],
});
const unread = bundle(1, {
  ...unattested('incomplete'),
  findings: [found('io.UNREADABLE', idOf('evidence', 1))],
});

const rows: readonly Row[] = [
  ['nothing-given', 'no input at all', 'EmptySet', {}, [], untold()],
  [
    'nothing-given-where-much-is-required',
    'without evidence, it is unknown whether something is missing',
    'EmptySet',
    { drills: { required: ['checkout'] }, completeness: { bundles: 2, localReports: 1 } },
    [],
    untold('policy.DRILL_MISSING', 'policy.BUNDLE_COUNT', 'policy.LOCAL_REPORT_COUNT'),
  ],
  [
    'unreadable-list-where-much-is-required',
    'what could not be read could hold all that is required',
    'EmptySet',
    { drills: { required: [{ drill: 'checkout', min: 9 }] }, completeness: { bundles: 9 } },
    [...inExport(bundle(1)), { name: 'gone', failure: { code: 'io.UNREADABLE', message: 'the disk' } }],
    untold('policy.BUNDLE_VERDICT', 'policy.DRILL_MISSING', 'policy.BUNDLE_COUNT'),
  ],
  [
    'export-empty',
    'an export without a bundle',
    'EmptySet',
    {},
    [given(exportOf([], { verdict: 'incomplete', findings: [found('export.EMPTY', 'export')] }))],
    untold('policy.EXPORT_VERDICT'),
  ],
  [
    'export-empty-that-calls-itself-verified',
    'a report that claims more than there is',
    'EmptySet',
    {},
    [given(exportOf([]))],
    untold(),
  ],
  [
    'local-reports-only',
    'local reports count for nothing',
    'EmptySet',
    { verdict: { export: 'intact', bundles: 'intact' } },
    [given(exportOf([], { verdict: 'intact', localReports: [local(1)] }))],
    untold(),
  ],
  ['verified-export', 'everything is verified', 'Usual', {}, inExport(bundle(1), bundle(2)), YES],
  ['verified-part', 'a part by itself', 'Usual', {}, [given(bundle(1))], YES],
  [
    'unreadable-input',
    'evidence that is not there',
    'EmptySet',
    {},
    [{ name: 'gone', failure: { code: 'io.NOT_FOUND', message: 'it does not exist' } }],
    untold('policy.BUNDLE_VERDICT'),
  ],
  [
    'unreadable-beside-verified',
    'one of two inputs cannot be read',
    'EmptySet',
    {},
    [
      ...inExport(bundle(1)),
      { name: 'gone', failure: { code: 'control.UNAVAILABLE', message: 'the service is away' } },
    ],
    untold('policy.BUNDLE_VERDICT'),
  ],
  [
    'input-that-breaks-its-format',
    'evidence that was read, and is none',
    'Structure',
    {},
    [{ name: 'bad', failure: { code: 'zip.CRC_MISMATCH', message: 'another CRC-32' } }],
    no('policy.BUNDLE_VERDICT'),
  ],
  [
    'bundle-failed',
    'a bundle does not match',
    'ModifiedContent',
    {},
    [given(exportOf([failed], { verdict: 'failed' }))],
    no('policy.EXPORT_VERDICT', 'policy.BUNDLE_VERDICT'),
  ],
  [
    'part-failed',
    'a part by itself does not match',
    'ModifiedContent',
    {},
    [given(failed)],
    no('policy.BUNDLE_VERDICT'),
  ],
  [
    'bundle-unread',
    'a bundle could not be read',
    'ModifiedContent',
    {},
    [given(exportOf([unread], { verdict: 'incomplete' }))],
    untold('policy.EXPORT_VERDICT', 'policy.BUNDLE_VERDICT'),
  ],
  [
    'intact-where-verified-is-required',
    'an unsigned bundle',
    'Unsigned',
    {},
    [given(exportOf([unsigned(1)], { verdict: 'intact' }))],
    no('policy.EXPORT_VERDICT', 'policy.BUNDLE_VERDICT'),
  ],
  [
    'intact-where-intact-is-enough',
    'an unsigned bundle that the policy takes',
    'Unsigned',
    { verdict: { export: 'intact', bundles: 'intact' } },
    [given(exportOf([unsigned(1)], { verdict: 'intact' }))],
    YES,
  ],
  [
    'intact-for-the-export-alone',
    'the export may be intact, its bundles not',
    'Unsigned',
    { verdict: { export: 'intact' } },
    [given(exportOf([unsigned(1)], { verdict: 'intact' }))],
    no('policy.BUNDLE_VERDICT'),
  ],
  [
    'failed-where-intact-is-enough',
    'what does not match is not intact',
    'ModifiedContent',
    { verdict: { export: 'intact', bundles: 'intact' } },
    [given(failed)],
    no('policy.BUNDLE_VERDICT'),
  ],
  [
    'digest-depth',
    'only digests were looked at',
    'Depth',
    { verdict: { export: 'intact', bundles: 'intact' } },
    [given(bundle(1, { ...unattested('intact'), depth: 'digest' }))],
    untold('policy.BUNDLE_VERDICT'),
  ],
  [
    'another-time',
    'verified as of a time that differs from that of the gate',
    'Time',
    {},
    [given(bundle(1, { asOfMs: AS_OF - 1 }))],
    untold('policy.BUNDLE_VERDICT'),
  ],
  [
    'local-report-damaged',
    'a damaged local report fails the export',
    'ModifiedContent',
    {},
    [
      given(
        exportOf([bundle(1)], {
          verdict: 'failed',
          localReports: [
            local(1, {
              verdict: 'failed',
              findings: [found('local-report.DIGEST_MISMATCH', idOf('lrep', 1))],
            }),
          ],
        }),
      ),
    ],
    no('policy.EXPORT_VERDICT'),
  ],
];

export const verdicts = (): PolicyCase[] => rows.map(caseOf);
