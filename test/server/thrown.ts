import { DrillproofError } from '../../src/errors.ts';

/** The coded error that a promise rejects with. */
export async function thrownBy(work: Promise<unknown>): Promise<DrillproofError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof DrillproofError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** The code of what a promise rejects with. */
export const codeOf = async (work: Promise<unknown>): Promise<string> => (await thrownBy(work)).code;
