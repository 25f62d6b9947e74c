import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** What is asked of a request's way here; headers by lower-case name. */
type Way = {
  readonly header: (name: string) => string | undefined;
  /** The connection, when there is one. */
  readonly incoming: Pick<IncomingMessage, 'socket'> | undefined;
};

/** The last of a comma-separated list: what the one proxy before us wrote itself, where all before it is hearsay. */
const lastOf = (list: string | undefined): string | undefined => list?.split(',').at(-1)?.trim();

/**
 * Address of the client, for the log. Only behind a proxy that is trusted does X-Forwarded-For say it, by its last
 * entry; no other header of a proxy is looked at, and none changes an answer.
 */
export function clientAddress({ header, incoming }: Way, trustProxy: boolean): string | undefined {
  const forwarded = trustProxy ? lastOf(header('x-forwarded-for')) : undefined;
  return forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : incoming?.socket.remoteAddress;
}
