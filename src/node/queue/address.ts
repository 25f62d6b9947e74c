import { DrillproofError } from '../../errors.ts';

/** A database as people are told it: without user, password and parameters. */
export type QueueAddress = { readonly url: string; readonly where: string };

/**
 * Reads `postgres://…`.
 * @throws DrillproofError `usage.INVALID`; the value is not told, for it may hold a password
 */
export function parseQueueAddress(text: string): QueueAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw new DrillproofError(
      'usage.INVALID',
      'the address of the queue is not of the form postgres://host/database',
    );
  return { url: text, where: `postgres://${url.host}${url.pathname}` };
}
