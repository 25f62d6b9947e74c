import type { MirrorCheck, MirrorEvent } from '../mirror/index.ts';
import { counted, size } from '../report/figures.ts';
import type { Cli } from './cli.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { writeProduct } from './product.ts';
import type { Progress } from './progress.ts';
import { facts, table } from './table.ts';

const EXITS: Readonly<Record<MirrorCheck['outcome'], ExitCode>> = {
  complete: EXIT.pass,
  incomplete: EXIT.bad,
  unreadable: EXIT.unchecked,
};

/** Tells what a look at a mirror found, and sets the exit code by it. */
export async function writeCheck(cli: Cli, check: MirrorCheck, to: string): Promise<void> {
  cli.exitCode = EXITS[check.outcome];
  await writeProduct(cli, { ...check }, checkText(check, to));
}

function checkText(check: MirrorCheck, to: string): string {
  const { outcome, evidenceExportId, manifestDigest, files, bytes, faults } = check;
  const rows = faults.map((fault) => [fault.found, fault.path, size(fault.bytes)]);
  const lines = facts([
    [outcome, evidenceExportId],
    ['place', to],
    ['manifest', manifestDigest],
    ['files', `${counted(files, 'file')}, ${size(bytes)}; ${faults.length} not as they must be`],
  ]);
  return rows.length === 0 ? lines : `${lines}\n${table(['found', 'file', 'size'], rows)}`;
}

/** Shows how far a look at a mirror is. */
export function followCheck(progress: Progress): (event: MirrorEvent) => void {
  let state = { done: 0, of: 0, bytes: 0, totalBytes: 0 };
  return (event) => {
    if (event.type === 'listed') state = { ...state, of: event.files, totalBytes: event.bytes };
    if (event.type !== 'looked') return;
    state = { ...state, done: state.done + 1, bytes: state.bytes + event.bytes };
    progress.update(state);
  };
}
