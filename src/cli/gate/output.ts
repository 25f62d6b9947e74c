import { appendFile, stat } from 'node:fs/promises';
import { ioError } from '../../node/index.ts';
import type { Decision } from '../../policy/index.ts';
import { type DecisionFormat, decisionRenderers, renderDecisionMarkdown } from '../../report/index.ts';
import { type Cli, lookOf, say } from '../cli.ts';
import { type FormatTarget, usageError } from '../shared/options/values.ts';
import { refuseExisting, writeOutputFile } from '../shared/output/output-file.ts';
import type { GateOptions } from './command.ts';

/** The format for standard output (default: text), and the files. */
type Outputs = {
  readonly shown: DecisionFormat;
  readonly files: readonly Required<FormatTarget<DecisionFormat>>[];
  readonly force: boolean;
};

/** @throws DrillproofError `usage.INVALID`; `io.EXISTS` before anything is verified */
export async function outputsOf({
  format = [],
  json = false,
  force = false,
}: Pick<GateOptions, 'format' | 'json' | 'force'>): Promise<Outputs> {
  const files = format.flatMap(({ format: kind, file }) =>
    file === undefined ? [] : [{ format: kind, file }],
  );
  const plain = new Set(format.flatMap(({ format: kind, file }) => (file === undefined ? [kind] : [])));
  if (json) plain.add('json');
  if (plain.size > 1)
    throw usageError('two formats for standard output', 'Send one of them to a file: --format json=FILE.');
  if (new Set(files.map(({ file }) => file)).size < files.length)
    throw usageError('two formats for one file', 'Give each its own file.');
  if (!force) for (const { file } of files) await refuseExisting(file);
  const [shown = 'text'] = plain;
  return { shown, files, force };
}

const PLAIN = { color: false, width: Infinity };

/** Files first, so that a pipe that breaks loses none. @throws DrillproofError what `writeOutputFile` throws */
export async function writeDecision(
  cli: Cli,
  decision: Decision,
  { shown, files, force }: Outputs,
): Promise<void> {
  for (const { format, file } of files)
    await writeOutputFile(file, [Buffer.from(decisionRenderers[format](decision, PLAIN))], { force });
  await cli.stdout.write(decisionRenderers[shown](decision, lookOf(cli, cli.stdout)));
  // With =FILE the caller writes the summary of the step.
  if (shown === 'github') await appendStepSummary(cli, decision);
}

/** What GitHub takes as the summary of one step; a longer one is not shown at all. */
const MAX_BYTES = 1024 * 1024;
/** Less than this would show nothing but the rules. */
const LEAST_BYTES = 16 * 1024;

/**
 * Appends the decision to the summary of the step, where GitHub Actions names a file for it; within what is left of the
 * file by what the step wrote before. Nothing elsewhere.
 * @throws DrillproofError what `ioError` makes of a file that cannot be written
 */
export async function appendStepSummary(cli: Cli, decision: Decision): Promise<void> {
  const file = cli.env['GITHUB_STEP_SUMMARY'] ?? '';
  if (file === '') return;
  const written = await stat(file).then(
    ({ size }) => size,
    () => 0, // writing says what is wrong with it
  );
  const maxBytes = MAX_BYTES - written;
  if (maxBytes < LEAST_BYTES) return say(cli, 'the step summary is full: the decision was not added to it');
  try {
    await appendFile(file, renderDecisionMarkdown(decision, { maxBytes }));
  } catch (error) {
    throw ioError(error, file, 'write');
  }
}
