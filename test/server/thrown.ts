import { DrillproofError } from '../../src/errors.ts';

/** The code of what a promise rejects with. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof DrillproofError) return error.code;
    throw error;
  }
  throw new Error('nothing was thrown');
}
