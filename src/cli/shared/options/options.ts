import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Digest } from '../../../bytes/hash.ts';
import { DIGEST_FORM, readDigest, readTime, TIME_FORM } from '../../../bytes/text/wording.ts';
import { parseDuration } from './values.ts';

/** Adds the options of every command; `formats: false` is for a command with other formats. */
export function addStandardOptions(command: Command, { formats = true } = {}): Command {
  if (formats) {
    const kinds = ['text', 'json'];
    command.addOption(new Option('--format <kind>', 'output format').choices(kinds).default('text'));
  }
  return command
    .option('--json', 'short for --format json')
    .option('-q, --quiet', 'print only the result: no progress, no notes')
    .helpOption('-h, --help', 'show help');
}

export const createJobsOption = (description: string): Option =>
  new Option('--jobs <n>', description)
    .argParser(parseNumberBetween(1, 256))
    .default(availableParallelism(), 'number of cores');

export type RemoteOptions = {
  readonly url?: string;
  readonly project?: string;
  readonly tokenFile?: string;
  readonly caFile?: string;
  readonly timeout?: number;
};

/** Adds the options that name a control plane; `when` is the condition of the first two. */
export const addRemoteOptions = (command: Command, when = ''): Command =>
  addCaFileOption(
    command
      .option('--url <url>', `${when}base address of the control plane, without /v1`)
      .option('--project <id>', `${when}read through this project`)
      .option('--token-file <file>', 'read the token from this file (default: DRILLPROOF_TOKEN)')
      .option(
        '--timeout <duration>',
        `${when}give up a request without an answer after this time, retries included (default: 30s for each attempt)`,
        parseDuration,
      ),
  );

export const addCaFileOption = (command: Command): Command =>
  command.option('--ca-file <file>', 'also trust the certificate authorities in this PEM file');

/** Finds the first of these options that is set, and returns it as it is written on the command line. */
export function findSetOption<T extends object>(
  options: T,
  names: readonly (keyof T & string)[],
): string | undefined {
  const name = names.find((candidate) => options[candidate] !== undefined);
  return name?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replace(/^/, '--');
}

/** Adds examples to the help: command lines by their purpose. */
export function addExamples(command: Command, lineByPurpose: Readonly<Record<string, string>>): Command {
  const lines = Object.entries(lineByPurpose).flatMap(([purpose, line]) => [`  # ${purpose}`, `  $ ${line}`]);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

const collectors = new WeakSet<object>();

/** Allows the options of a parser to be repeated. */
function allowRepeats<F extends object>(parser: F): F {
  collectors.add(parser);
  return parser;
}

export const isRepeatable = ({ parseArg }: Option): boolean =>
  parseArg !== undefined && collectors.has(parseArg);

export const collect = <T>(
  read: (value: string) => T,
): ((value: string, before: readonly T[] | undefined) => readonly T[]) =>
  allowRepeats((value, before = []) => [...before, read(value)]);

export const collectTexts = collect((value) => value);

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
    const name = names.find((option) => last.startsWith(`${option}=`));
    if (name === undefined) break;
    if (members[name] !== undefined || last.length === name.length + 1)
      throw new InvalidArgumentError(`It must be ${form}.`);
    members[name] = last.slice(name.length + 1);
    words.pop();
  }
  if (words[0] === '') throw new InvalidArgumentError(`It must be ${form}.`);
  return { ...members, file: words.join(',') };
}

export type PolicyOptions = Pick<RemoteOptions, 'caFile' | 'timeout'> & {
  readonly param?: Readonly<Record<string, string>>;
};

export const addParameterOption = (command: Command): Command =>
  command.option(
    '--param <name=value>',
    'value of a parameter that the policy declares (repeatable)',
    parseParameter,
  );

type Parameters = Readonly<Record<string, string>>;

export const parseParameter = allowRepeats((text: string, before: Parameters = {}): Parameters => {
  const [, name, value] = /^([A-Za-z][A-Za-z0-9-]*)=([^]+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It must be NAME=VALUE.');
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`The parameter ${name} is given twice.`);
  return { ...before, [name]: value };
});

/** A parsed `FILE,issuer=NAME[,keyId=ID]`. A missing issuer is reported when the key is read. */
export type KeySpec = { readonly file: string; readonly issuer?: string; readonly keyId?: string };

export type TrustOptions = { readonly trust?: readonly string[]; readonly key?: readonly KeySpec[] };

export function addTrustOptions(command: Command): Command {
  return command
    .option('--trust <file>', 'trust the keys of this trust store (repeatable)', collectTexts)
    .option(
      '--key <spec>',
      'trust this public key or certificate: FILE,issuer=NAME[,keyId=ID] (repeatable)',
      collect(parseKeySpec),
    );
}

const FORM = 'FILE,issuer=NAME or FILE,issuer=NAME,keyId=ID';

export const parseKeySpec = (value: string): KeySpec => parseFileSpec(value, ['issuer', 'keyId'], FORM);

export type EvidenceOptions = TrustOptions &
  PathList & {
    readonly expectManifest?: Digest;
    readonly expectExport?: string;
    readonly expectOrganization?: string;
    readonly expectProject?: string;
    readonly expectBundles?: number;
    readonly asOf?: number;
    readonly jobs: number;
    readonly secondOpinion?: boolean;
    readonly dsse?: readonly string[];
  };

export function addEvidenceOptions(command: Command): Command {
  return addTrustOptions(command)
    .option('--list <file>', 'also read paths from a file, one per line; - for standard input')
    .option('-0, --null', 'read a NUL-separated list, as "find -print0" writes it')
    .option(
      '--expect-manifest <digest>',
      'require this SHA-256 of manifest.json, which pins the list of bundles',
      parseDigest,
    )
    .option('--expect-export <id>', 'require this id of the export')
    .option('--expect-organization <id>', 'require this organization')
    .option('--expect-project <id>', 'require this project for every bundle')
    .option('--expect-bundles <n>', 'require this number of bundles', parseNumberBetween(0, 10_000))
    .option('--as-of <time>', 'verify as of this time (default: now)', parseTime)
    .addOption(createJobsOption('verify this many parts at once'))
    .option('--second-opinion', 'verify everything with a second implementation too, and report differences')
    .option('--dsse <file>', 'also verify this DSSE envelope about the evidence (repeatable)', collectTexts);
}

export type PathList = { readonly list?: string; readonly null?: boolean };
