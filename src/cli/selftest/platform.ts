import { packaging } from '#packaging';
import { spawn } from 'node:child_process';
import { extname } from 'node:path';
import { DrillproofError } from '../../errors.ts';
import { type SelftestReport, selftestReportSchema } from '../../selftest/index.ts';
import { usageError } from '../shared/options/usage.ts';

/**
 * Runs `drillproof selftest` with these arguments on the portable primitives, as a browser would, in a process of its
 * own: which primitives a program has is decided when its modules are loaded.
 * @throws DrillproofError `internal.BUG` when it ends without a report; `usage.INVALID` in the single file
 */
export async function portableSelftest(
  args: readonly string[],
  signal: AbortSignal,
): Promise<SelftestReport> {
  if (packaging.selftest === undefined)
    throw usageError('the single file has the primitives of Node.js only', 'Give --platform native.');
  const own = ['selftest', '--platform', 'portable', '--json', '--quiet', ...args];
  const argv = [...process.execArgv, '--import', hook(), packaging.selftest.main, ...own];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'], signal });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const report = selftestReportSchema.safeParse(jsonOf(Buffer.concat(chunks).toString('utf8')));
  if (report.success) return report.data;
  throw new DrillproofError(
    'internal.BUG',
    `the selftest on portable primitives ended without a report (${code})`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A module, loaded before all others, that lets `#platform` mean the portable primitives. */
function hook(): string {
  const native = import.meta.resolve('#platform');
  const portable = new URL(`../bytes/platform-portable${extname(native)}`, native).href;
  const resolve = `export const resolve = (name, context, next) =>
    name === '#platform' ? { url: ${JSON.stringify(portable)}, shortCircuit: true } : next(name, context);`;
  return dataUrl(`import { register } from 'node:module'; register(${JSON.stringify(dataUrl(resolve))});`);
}

const dataUrl = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;
