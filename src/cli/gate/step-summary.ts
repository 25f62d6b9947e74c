import { appendFile, stat } from 'node:fs/promises';
import { ioError } from '../../node/index.ts';
import type { Decision } from '../../policy/index.ts';
import { renderDecisionMarkdown } from '../../report/index.ts';
import { say, type Cli } from '../cli.ts';

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
