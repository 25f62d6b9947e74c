import { expect } from 'vitest';
import type { Code } from '../../src/codes/catalogue.ts';
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

/** The code of the error that a promise rejects with. */
export const codeOf = async (work: Promise<unknown>): Promise<string> => (await thrownBy(work)).code;

/** Checks that a promise rejects with a code. */
export const expectRefused = async (
  work: Promise<unknown>,
  code: Code = 'server.ADMIN_REFUSED',
): Promise<void> => expect(await codeOf(work)).toBe(code);
