import type { SourceFile } from '../../evidence/index.ts';
import type { JudgePart, VerifyOptions } from '../../verify/index.ts';
import { isWorthThreads, buildPoolSettings } from '../verify-directory.ts';
import { createVerifyPool } from '../verify-pool.ts';

/** Threads that judge the parts of an export in a folder, where there are enough bytes for them to be worth starting. */
export function poolJudges(
  folder: string,
  jobs: number,
  files: readonly SourceFile[],
  options: VerifyOptions,
): { readonly judgePart: JudgePart; close(): Promise<void> } {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (!isWorthThreads(bytes, options)) return { judgePart: () => undefined, close: () => Promise.resolve() };
  const pool = createVerifyPool(jobs, buildPoolSettings(folder, options));
  return { judgePart: (path, listed) => pool.judge({ path, listed }), close: () => pool.close() };
}
