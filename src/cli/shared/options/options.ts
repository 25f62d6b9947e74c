import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';
import { DIGEST_FORM, readDigest, readTime, TIME_FORM } from '../../../bytes/text/wording.ts';
import { option, type OptionsOf } from './option.ts';
import { parseDuration } from './values.ts';

export function parseNumberBetween(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

const parseForm =
  <T>(read: (text: string) => T | undefined, form: string) =>
  (text: string): T => {
    const value = read(text);
    if (value === undefined) throw new InvalidArgumentError(`It must be ${form}.`);
    return value;
  };

export const parseDigest = parseForm(readDigest, DIGEST_FORM);
export const parseTime = parseForm(readTime, TIME_FORM);

/** Parses `FILE,name=value,…`: each member at most once. The name of the file may contain commas. */
export function parseFileSpec<N extends string>(
  value: string,
  names: readonly N[],
  form: string,
): { file: string } & { [K in N]?: string } {
  const members: { [K in N]?: string } = {};
  const words = value.split(',');
  for (let last = words.at(-1) ?? ''; words.length > 1; last = words.at(-1) ?? '') {
    const name = names.find((known) => last.startsWith(`${known}=`));
    if (name === undefined) break;
    if (members[name] !== undefined || last.length === name.length + 1)
      throw new InvalidArgumentError(`It must be ${form}.`);
    members[name] = last.slice(name.length + 1);
    words.pop();
  }
  if (words[0] === '') throw new InvalidArgumentError(`It must be ${form}.`);
  return { ...members, file: words.join(',') };
}

type Parameters = Readonly<Record<string, string>>;

export const parseParameter = (text: string, before: Parameters = {}): Parameters => {
  const [, name, value] = /^([A-Za-z][A-Za-z0-9-]*)=([^]+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It must be NAME=VALUE.');
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`The parameter ${name} is given twice.`);
  return { ...before, [name]: value };
};

/** A parsed `FILE,issuer=NAME[,keyId=ID]`. A missing issuer is reported when the key is read. */
export type KeySpec = { readonly file: string; readonly issuer?: string; readonly keyId?: string };

const FORM = 'FILE,issuer=NAME or FILE,issuer=NAME,keyId=ID';

export const parseKeySpec = (value: string): KeySpec => parseFileSpec(value, ['issuer', 'keyId'], FORM);

export const QUIET = [
  option('--json', 'short for --format json'),
  option('-q, --quiet', 'print one line: a verdict, an id or a total'),
];

/** The options of every command without other formats. */
export const STANDARD = [
  option('--format <kind>', 'output format').choices(['text', 'json']).default('text'),
  ...QUIET,
];

export const FORCE = option('--force', 'replace existing files');
export const SCOPE = option('--scope <scope>', 'scope of the export')
  .choices(['organization', 'project'])
  .default('organization');
export const AS_OF = option(
  '--as-of <time>',
  'verify as of this time, with every revocation in the trust store, also later ones (default: now)',
  parseTime,
);
export const EXPECT_MANIFEST = option(
  '--expect-manifest <digest>',
  'require this SHA-256 of manifest.json, which pins the list of bundles',
  parseDigest,
);

export const jobsOption = (help: string) =>
  option('--jobs <n>', help, parseNumberBetween(1, 256)).default(availableParallelism(), 'number of cores');

export const THRESHOLD = option(
  '--threshold <n>',
  'require this many different trusted keys (default: 1)',
  parseNumberBetween(1, 64),
);

/** The options that name a control plane. They are new ones, because a command may limit their use. */
export const remoteOptions = () =>
  [
    option('--url <url>', 'base address of the control plane, without /v1'),
    option('--project <id>', 'read through this project'),
    option('--token-file <file>', 'read the token from this file (default: DRILLPROOF_TOKEN)'),
    option(
      '--timeout <duration>',
      'give up a request without an answer after this time, retries included (default: 30s for each attempt)',
      parseDuration,
    ),
    caFileOption(),
  ] as const;
export type RemoteOptions = OptionsOf<ReturnType<typeof remoteOptions>>;

export const caFileOption = () =>
  option('--ca-file <file>', 'also trust the certificate authorities in this PEM file');

export const PARAMETER = option(
  '--param <name=value>',
  'value of a parameter that the policy declares',
  parseParameter,
).allowRepeats();

export const TRUST_STORE = option('--trust <file>', 'trust the keys of this trust store').repeat();
export const TRUST = [
  TRUST_STORE,
  option(
    '--key <spec>',
    'trust this public key or certificate: FILE,issuer=NAME[,keyId=ID]',
    parseKeySpec,
  ).repeat(),
];
export type TrustOptions = OptionsOf<typeof TRUST>;

export const EVIDENCE = [
  ...TRUST,
  option('--list <file>', 'also read paths from a file, one per line; - for standard input'),
  option('-0, --null', 'read a NUL-separated list, as "find -print0" writes it').needs('--list'),
  EXPECT_MANIFEST,
  option('--expect-export <id>', 'require this id of the export'),
  option('--expect-organization <id>', 'require this organization'),
  option('--expect-project <id>', 'require this project for every bundle'),
  option('--expect-bundles <n>', 'require this number of bundles', parseNumberBetween(0, 10_000)),
  AS_OF,
  jobsOption('verify this many parts at once'),
  option('--second-opinion', 'verify everything with a second implementation too, and report differences'),
  option('--dsse <file>', 'also verify this DSSE envelope about the evidence').repeat(),
  option(
    '--timestamp <file>',
    'also use this timestamp token (default: those next to the evidence, NAME.tst)',
  ).repeat(),
];
export type EvidenceOptions = OptionsOf<typeof EVIDENCE>;
