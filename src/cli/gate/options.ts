import { type DecisionFormat, decisionRenderers } from '../../report/decision-renderers.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { EVIDENCE, FORCE, PARAMETER, QUIET, remoteOptions } from '../shared/options/options.ts';
import { REPORT_SIGNING } from '../shared/input/signing.ts';
import { parseDuration, parseTarget } from '../shared/options/values.ts';
import { SUMMARY } from './summary.ts';

const FORMATS = Object.keys(decisionRenderers) as DecisionFormat[];
const [URL, PROJECT, TOKEN_FILE, ...SERVER] = remoteOptions();

export const GATE = [
  ...QUIET,
  option(
    '--policy <file>',
    'apply this policy: file, https://…#sha256:… or git:REVISION:PATH#sha256:… (default: the default policy)',
  ),
  PARAMETER,
  option(
    '--artifact <file|sha256:…>',
    'what will be deployed: every required run must be of the build with its SHA-256, and a summary names it',
  ),
  option(
    '--baseline <file>',
    'decision (JSON) or summary of the last time: no drill may be missing, worse or rarer',
  ),
  option('--strict', 'fail if a set of rules with a selector is about no run'),
  ...EVIDENCE,
  URL,
  PROJECT.onlyWith('--url'),
  TOKEN_FILE.onlyWith('--url'),
  ...SERVER,
  option('--wait [duration]', 'wait for an export that is still being generated', parseDuration)
    .preset('1h')
    .onlyWith('--url'),
  option(
    '--format <kind[=file]>',
    `${FORMATS.join(', ')}: to standard output or a file`,
    parseTarget(FORMATS),
  ).repeat(),
  option('--challenges <file>', 'ledger of challenges, for the rule challenge of the policy'),
  option('--allow-past', 'with --as-of: allow a past time, at which expired waivers and keys count'),
  option('--report-only', 'end with 0 for every answer, if the policy could be evaluated'),
  option('-v, --verbose', 'also print the basis of the answer: each bundle, signer, envelope and summary'),
  option('--sarif-category <name>', 'in SARIF: category of this gate, if a repository has several'),
  option('--no-step-summary', 'with --format github: do not append to the summary of the step'),
  ...REPORT_SIGNING,
  ...SUMMARY,
  FORCE,
];
export type GateOptions = OptionsOf<typeof GATE>;
