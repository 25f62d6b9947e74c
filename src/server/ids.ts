import { digestOf, toUtf8 } from '../bytes/index.ts';

export { newId } from '../node/index.ts';

/** An id derived from what it names, so that ingesting the same thing twice uses one id. */
export const derivedId = (prefix: string, ...names: readonly string[]): string =>
  `${prefix}_${digestOf(toUtf8(names.join(' '))).slice('sha256:'.length, 'sha256:'.length + 24)}`;
