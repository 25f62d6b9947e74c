import { option, type OptionsOf } from '../shared/options/option.ts';
import { EVIDENCE } from '../shared/options/options.ts';
import { REPORT_OUTPUT, REPORT_SIGNING } from '../shared/input/signing.ts';

export const VERIFY = [
  ...REPORT_OUTPUT,
  ...EVIDENCE,
  ...REPORT_SIGNING,
  option('--accept <verdict>', 'also exit with 0 for this verdict').choices(['intact']),
  option('--depth <depth>', 'full verifies every object, digest compares only the archives')
    .choices(['full', 'digest'])
    .default('full'),
  option('--require-list', 'fail unless the list of bundles is attested or pinned'),
  option(
    '--require-coverage',
    'fail if a file or byte is not covered by a digest; the claims of export.json and the files of a mirror are outside',
  ),
  option('-v, --verbose', 'print every check, part and finding'),
];
export type VerifyCommandOptions = OptionsOf<typeof VERIFY>;
