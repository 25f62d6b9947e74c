import { appendFile, stat } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import { defined } from '../../bytes/arguments.ts';
import { ioError } from '../../node/fs-errors.ts';
import type { Answer, Decision } from '../../policy/decision.ts';
import { type DecisionFormat, decisionRenderers } from '../../report/decision-renderers.ts';
import { renderDecisionMarkdown } from '../../report/decision/markdown.ts';
import { type Cli, describeLook, printNote } from '../cli.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { writeOutputFile } from '../shared/output/output-file.ts';
import { type Outputs, reportUnwritten } from '../shared/output/targets.ts';
import type { SignText } from '../shared/input/signing.ts';
import type { GateOptions } from './options.ts';
import type { SummaryWriter } from './summary.ts';

const EXIT_OF: Readonly<Record<Answer, ExitCode>> = {
  yes: EXIT.pass,
  no: EXIT.bad,
  could_not_tell: EXIT.unchecked,
};

export const exitOfAnswer = (answer: Answer, { reportOnly = false }: GateOptions): ExitCode =>
  reportOnly ? EXIT.pass : EXIT_OF[answer];

type Writing = {
  readonly outputs: Outputs<DecisionFormat>;
  readonly options: GateOptions;
  readonly summary: SummaryWriter | undefined;
  readonly sign: SignText | undefined;
};

/**
 * Writes the decision and sets the exit code. Files are written first, so that a broken pipe loses none; if a file
 * cannot be written, the decision is still printed.
 */
export async function writeDecision(
  cli: Cli,
  decision: Decision,
  { outputs, options, summary, sign }: Writing,
): Promise<void> {
  const { verbose = false, sarifCategory: category, stepSummary } = options;
  const how = {
    detail: cli.quiet ? 'verdict' : verbose ? 'full' : 'brief',
    ...defined({ category }),
  } as const;
  const render = async (format: DecisionFormat, look: typeof PLAIN): Promise<string> => {
    const placed = IN_REPOSITORY.has(format) ? placeInRepository(decision) : decision;
    const text = decisionRenderers[format](placed, { ...how, ...look });
    return format === 'json' && sign !== undefined ? sign(text) : text;
  };
  const shown = await render(outputs.shown, describeLook(cli, cli.stdout));
  const unwritten: unknown[] = [];
  const attempt = async (work: Promise<void> | undefined): Promise<void> => {
    await work?.catch((error: unknown) => unwritten.push(error));
    cli.signal.throwIfAborted();
  };
  for (const { format, file } of outputs.files) {
    const text = await render(format, PLAIN);
    await attempt(writeOutputFile(cli, file, [Buffer.from(text)], outputs));
  }
  // With =FILE the caller writes the summary of the step.
  if (outputs.shown === 'github' && stepSummary !== false) await attempt(appendStepSummary(cli, decision));
  await attempt(summary?.write(decision));
  cli.exitCode = exitOfAnswer(decision.answer, options);
  if (options.reportOnly === true) await printNote(cli, 'report only: the exit code is 0 for every answer');
  await cli.stdout.write(shown);
  await reportUnwritten(cli, unwritten);
}

/** Formats whose readers look for each location in a repository, where an absolute path names no file. */
const IN_REPOSITORY: ReadonlySet<DecisionFormat> = new Set(['github', 'sarif']);

/** The decision with relative paths for what is inside the working directory. */
function placeInRepository(decision: Decision): Decision {
  const { inputs, policy, rules } = decision;
  return {
    ...decision,
    inputs: inputs.map((input) => ({ ...input, name: shortenPath(input.name) })),
    policy: {
      ...policy,
      sources: policy.sources.map((source) => ({ ...source, path: shortenPath(source.path) })),
    },
    rules: rules.map((rule) => ({
      ...rule,
      violations: rule.violations.map(({ subject, path, ...violation }) => ({
        ...violation,
        subject: shortenPath(subject), // of an input that was not read, it is the path
        ...defined({ path: path && shortenPath(path) }),
      })),
    })),
  };
}

function shortenPath(path: string): string {
  if (!isAbsolute(path)) return path;
  const inside = relative('', path) || '.';
  return isAbsolute(inside) || /^\.\.(?:[/\\]|$)/.test(inside) ? path : inside;
}

const PLAIN = { color: false, width: Infinity };

/** The limit of GitHub, which does not show longer summaries. */
const MAX_BYTES = 1024 * 1024;
/** The space for more than the rules. */
const LEAST_BYTES = 16 * 1024;

/**
 * Appends the decision to the summary of the step within its size limit. Does nothing outside GitHub Actions.
 */
export async function appendStepSummary(cli: Cli, decision: Decision): Promise<void> {
  const file = cli.env['GITHUB_STEP_SUMMARY'] ?? '';
  if (file === '') return;
  const written = await stat(file).then(
    ({ size }) => size,
    () => 0, // writing reports the error
  );
  const maxBytes = MAX_BYTES - written;
  if (maxBytes < LEAST_BYTES)
    return printNote(cli, 'the step summary is full: the decision was not added to it');
  try {
    await appendFile(file, renderDecisionMarkdown(decision, maxBytes));
  } catch (error) {
    throw ioError(error, file, 'write');
  }
}
