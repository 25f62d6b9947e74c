import type { Decision } from '../../policy/index.ts';
import { type DecisionFormat, decisionRenderers } from '../../report/index.ts';
import { lookOf, type Cli } from '../cli.ts';
import type { DecisionTarget, GateOptions } from './options.ts';
import { refuseExisting, writeOutputFile } from '../shared/output/output-file.ts';
import { appendStepSummary } from './step-summary.ts';
import { usageError } from '../shared/options/usage.ts';

/** What goes to standard output, text unless something else is asked for there, and what goes to files. */
export type Outputs = {
  readonly shown: DecisionFormat;
  readonly files: readonly Required<DecisionTarget>[];
  readonly force: boolean;
};

/** @throws DrillproofError `usage.INVALID`; `io.EXISTS` before anything is judged */
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
    throw usageError(
      'two formats are to go to standard output',
      'Send one of them to a file: --format json=FILE.',
    );
  if (new Set(files.map(({ file }) => file)).size < files.length)
    throw usageError('two formats are to go to one file', 'Give each a file of its own.');
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
  // Into a file they are for somebody who writes the summary of the step as well.
  if (shown === 'github') await appendStepSummary(cli, decision);
}
