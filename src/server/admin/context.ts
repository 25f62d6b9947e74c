import { randomBytes } from 'node:crypto';
import { digestOf } from '../../bytes/hash.ts';
import { toUtf8 } from '../../bytes/utf8.ts';
import type { Code } from '../../codes/index.ts';
import { DrillproofError, type ErrorContext } from '../../errors.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { ServerLimits } from '../limits.ts';
import type { ProjectRow, Reads, Store } from '../store/store.ts';

/** What the administration works on. */
export type AdminContext = {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly now: () => number;
  readonly limits: ServerLimits;
};

/** Whether something was taken in now, or was there already. */
export type Ingested<T> = T & { readonly created: boolean };

/** The refusal to take something in; nothing is stored. */
export const refused = (
  message: string,
  context?: ErrorContext,
  code: Code = 'server.ADMIN_REFUSED',
): DrillproofError => new DrillproofError(code, message, context);

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/** A new id: the prefix and 24 random characters, about 124 bits. */
export function newId(prefix: string): string {
  let id = '';
  while (id.length < 24) {
    // 252 is the largest multiple of 36 in a byte: what lies above would favour the first characters.
    for (const byte of randomBytes(32)) if (byte < 252 && id.length < 24) id += ALPHABET[byte % 36];
  }
  return `${prefix}_${id}`;
}

/** An id that follows from what it names, so that taking the same thing in twice gives it one id. */
export const derivedId = (prefix: string, ...names: readonly string[]): string =>
  `${prefix}_${digestOf(toUtf8(names.join(' '))).slice('sha256:'.length, 'sha256:'.length + 24)}`;

/** @throws DrillproofError `server.ADMIN_REFUSED` for a project that does not exist */
export async function requireProject(store: Reads, projectId: string): Promise<ProjectRow> {
  const project = await store.project(projectId);
  if (project === undefined) throw refused(`there is no project ${projectId}`);
  return project;
}
