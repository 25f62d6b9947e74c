import {
  bundle,
  exportOf,
  findingOf,
  inputOf,
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
  findings: [findingOf('object.DIGEST_MISMATCH', idOf('evidence', 1), 'objects/log.txt')],
});
const unread = bundle(1, {
  ...unattested('incomplete'),
  findings: [findingOf('io.UNREADABLE', idOf('evidence', 1))],
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
    [inputOf(exportOf([], { verdict: 'incomplete', findings: [findingOf('export.EMPTY', 'export')] }))],
    untold('policy.EXPORT_VERDICT'),
  ],
  [
    'export-empty-that-calls-itself-verified',
    'a report that claims more than there is',
    'EmptySet',
    {},
    [inputOf(exportOf([]))],
    untold(),
  ],
  [
    'local-reports-only',
    'local reports count for nothing',
    'EmptySet',
    { verdict: { export: 'intact', bundles: 'intact' } },
    [inputOf(exportOf([], { verdict: 'intact', localReports: [local(1)] }))],
    untold(),
  ],
  ['verified-export', 'everything is verified', 'Usual', {}, inExport(bundle(1), bundle(2)), YES],
  ['verified-part', 'a part by itself', 'Usual', {}, [inputOf(bundle(1))], YES],
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
    [inputOf(exportOf([failed], { verdict: 'failed' }))],
    no('policy.EXPORT_VERDICT', 'policy.BUNDLE_VERDICT'),
  ],
  [
    'part-failed',
    'a part by itself does not match',
    'ModifiedContent',
    {},
    [inputOf(failed)],
    no('policy.BUNDLE_VERDICT'),
  ],
  [
    'bundle-unread',
    'a bundle could not be read',
    'ModifiedContent',
    {},
    [inputOf(exportOf([unread], { verdict: 'incomplete' }))],
    untold('policy.EXPORT_VERDICT', 'policy.BUNDLE_VERDICT'),
  ],
  [
    'intact-where-verified-is-required',
    'an unsigned bundle',
    'Unsigned',
    {},
    [inputOf(exportOf([unsigned(1)], { verdict: 'intact' }))],
    no('policy.EXPORT_VERDICT', 'policy.BUNDLE_VERDICT'),
  ],
  [
    'intact-where-intact-is-enough',
    'an unsigned bundle that the policy takes',
    'Unsigned',
    { verdict: { export: 'intact', bundles: 'intact' } },
    [inputOf(exportOf([unsigned(1)], { verdict: 'intact' }))],
    YES,
  ],
  [
    'intact-for-the-export-alone',
    'the export may be intact, its bundles not',
    'Unsigned',
    { verdict: { export: 'intact' } },
    [inputOf(exportOf([unsigned(1)], { verdict: 'intact' }))],
    no('policy.BUNDLE_VERDICT'),
  ],
  [
    'failed-where-intact-is-enough',
    'what does not match is not intact',
    'ModifiedContent',
    { verdict: { export: 'intact', bundles: 'intact' } },
    [inputOf(failed)],
    no('policy.BUNDLE_VERDICT'),
  ],
  [
    'digest-depth',
    'only digests were looked at',
    'Depth',
    { verdict: { export: 'intact', bundles: 'intact' } },
    [inputOf(bundle(1, { ...unattested('intact'), depth: 'digest' }))],
    untold('policy.BUNDLE_VERDICT'),
  ],
  [
    'another-time',
    'verified as of a time that differs from that of the gate',
    'Time',
    {},
    [inputOf(bundle(1, { asOfMs: AS_OF - 1 }))],
    untold('policy.BUNDLE_VERDICT'),
  ],
  [
    'local-report-damaged',
    'a damaged local report fails the export',
    'ModifiedContent',
    {},
    [
      inputOf(
        exportOf([bundle(1)], {
          verdict: 'failed',
          localReports: [
            local(1, {
              verdict: 'failed',
              findings: [findingOf('local-report.DIGEST_MISMATCH', idOf('lrep', 1))],
            }),
          ],
        }),
      ),
    ],
    no('policy.EXPORT_VERDICT'),
  ],
];

export const verdicts = (): PolicyCase[] => rows.map(caseOf);
