import { DrillproofError } from '../../errors.ts';
import type { MirrorCheck, MirrorFault } from '../../mirror/index.ts';
import { counted, size } from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import { EXIT, type ExitCode } from '../shared/output/exit.ts';
import { writeProduct } from '../shared/output/product.ts';
import { facts, table } from '../shared/output/table.ts';

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

/**
 * For a look at many mirrors, where what is not whole counts as failed.
 * @throws DrillproofError `mirror.TARGET_INCOMPLETE`, or `io.UNREADABLE` when nothing is known to be wrong
 */
export function assertWhole({ outcome, files, faults }: MirrorCheck): void {
  if (outcome === 'complete') return;
  const code = outcome === 'incomplete' ? 'mirror.TARGET_INCOMPLETE' : 'io.UNREADABLE';
  const absent = faults.length === files && faults.every(({ found }) => found === 'missing');
  const failures = absent ? [] : faults.map(fileFailure);
  const message = absent
    ? `nothing of it is here: ${counted(files, 'file')}`
    : `${faults.length} of ${counted(files, 'file')} not as they must be`;
  throw new DrillproofError(code, message, { details: { failures } });
}

const fileFailure = ({ path, found }: MirrorFault) => ({
  path,
  code: found === 'unreadable' ? 'io.UNREADABLE' : 'mirror.TARGET_INCOMPLETE',
  message: found,
});

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
