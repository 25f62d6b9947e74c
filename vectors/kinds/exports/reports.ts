import { flipped } from '../../make/bytes.ts';
import { reportPath } from '../../make/export.ts';
import { type Case, UNATTESTED, adding, changing, failed, judge, tree, without } from './case.ts';

export const reports = (): Case[] => [
  failed(
    'report-missing',
    without(reportPath(1)),
    'MissingFile',
    'a listed report is not there',
    'local-report.MISSING',
  ),
  failed(
    'report-extra',
    adding(reportPath(2), 'x'),
    'ExtraFile',
    'a report that is not listed',
    'local-report.EXTRA',
  ),
  failed(
    'report-byte',
    changing(reportPath(1), (bytes) => flipped(bytes, 0)),
    'ModifiedContent',
    'a byte of a report changed',
    'local-report.DIGEST_MISMATCH',
  ),
  failed(
    'report-longer',
    changing(reportPath(1), (bytes) => Uint8Array.of(...bytes, 0)),
    'ModifiedContent',
    'a report with a byte more',
    'local-report.BYTES_MISMATCH',
  ),
  judge(
    'report-irregular',
    { ...tree(without(reportPath(1))), irregular: [reportPath(1)] },
    { result: 'failed', codes: [UNATTESTED, 'export.FILE_IRREGULAR'] },
    'EntryKind',
    'a link in the place of a report',
  ),
];
