import { packaging } from '#packaging';

/** The version of this program. */
export const ownVersion = (): Promise<string> => packaging.version();
