import { defined } from '../../bytes/arguments.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { ServerAnswer, ErrorAnswer } from '../http/envelope.ts';
import type { Owner } from '../http/rate-limit.ts';
import type { Audit, Log } from '../model/log.ts';
import type { Metrics } from './metrics.ts';

/** The connection and headers of a request; headers by lower-case name. */
type Origin = {
  readonly header: (name: string) => string | undefined;
  readonly incoming?: Pick<IncomingMessage, 'socket'>;
};

/**
 * Reads the address of the client, for the log: the last entry of X-Forwarded-For if a proxy is trusted, else that of the
 * connection. No other header of a proxy is read, and none changes an answer.
 */
export function readClientAddress({ header, incoming }: Origin, trustProxy: boolean): string | undefined {
  // The trusted proxy wrote the last entry; clients can write the others.
  const forwarded = trustProxy ? header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined;
  return forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : incoming?.socket.remoteAddress;
}

type Arrival = {
  readonly correlationId: string;
  readonly operation: string;
  readonly method: string;
  readonly client: string | undefined;
  readonly traceId?: string;
};

type Decided = Pick<ServerAnswer, 'status' | 'code'> & { readonly headers: Readonly<Record<string, string>> };

/** A running request, to which the steps that answer it add facts. */
export type Observation = {
  /** The token of the request, or the one that requested the upload, and its organization. */
  owner?: Owner;
  /** Bytes that were written to the connection without the Response. */
  streamed: number;
  /** Records the decided answer, which may not be sent yet. */
  answered(answer: Decided): void;
};

export type Observer = ReturnType<typeof createObserver>;

// Logged for a request whose client disconnected before the status was decided; never sent.
const CLIENT_CLOSED = 499;

const PROBES: ReadonlySet<string> = new Set(['healthz', 'readyz', 'metrics']);

/** @param audit records the refusals of requests that the application never gets */
export function createObserver(metrics: Metrics, log: Log, audit: Audit) {
  return {
    /** Begins a request, which ends when the response of Node.js has closed, or without one when it is answered. */
    begin({ client, ...arrival }: Arrival, outgoing: ServerResponse | undefined): Observation {
      metrics.began();
      const startedMs = performance.now();
      let decided: Decided | undefined;
      const end = (status: number, aborted: boolean): void => {
        const seconds = (performance.now() - startedMs) / 1000;
        const { owner, streamed } = observation;
        const hasBody = !aborted && arrival.method !== 'HEAD';
        const body = hasBody ? Number(decided?.headers['Content-Length'] ?? 0) : 0;
        const bytes = streamed > 0 ? streamed : body;
        metrics.ended({ operation: arrival.operation, status, seconds, bytes });
        log({
          level: status < 400 && PROBES.has(arrival.operation) ? 'debug' : 'info',
          event: 'request',
          ...arrival,
          status,
          code: decided?.code,
          durationMs: Math.round(seconds * 10_000) / 10,
          bytes,
          aborted: aborted || undefined,
          tokenId: owner?.tokenId,
          client,
        });
      };
      const observation: Observation = {
        streamed: 0,
        answered(answer) {
          decided = answer;
          if (outgoing === undefined) end(answer.status, false);
        },
      };
      outgoing?.once('close', () =>
        end(outgoing.headersSent ? outgoing.statusCode : CLIENT_CLOSED, !outgoing.writableFinished),
      );
      return observation;
    },
    /** Records a refusal without a request, such as that of malformed HTTP. */
    refused({ status, correlationId, code }: ErrorAnswer, client: string | undefined): void {
      metrics.began();
      metrics.ended({ operation: 'malformed', status, seconds: 0, bytes: 0 });
      log({ level: 'info', event: 'request', operation: 'malformed', correlationId, status, code, client });
      const facts = { ...defined({ client }), correlationId };
      audit({ actor: 'anonymous', action: 'malformed', code, facts });
    },
  };
}
