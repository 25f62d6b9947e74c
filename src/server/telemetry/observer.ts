import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Answer, ErrorAnswer } from '../http/envelope.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** What is asked of a request's way here; headers by lower-case name. */
type Way = {
  readonly header: (name: string) => string | undefined;
  readonly incoming?: Pick<IncomingMessage, 'socket'>;
};

/**
 * Address of the client, for the log. Only behind a proxy that is trusted does X-Forwarded-For say it, by its last
 * entry; no other header of a proxy is looked at, and none changes an answer.
 */
export function clientAddress({ header, incoming }: Way, trustProxy: boolean): string | undefined {
  // The one proxy before us wrote the last entry itself; all before it is hearsay.
  const forwarded = trustProxy ? header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined;
  return forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : incoming?.socket.remoteAddress;
}

type Arrival = {
  readonly correlationId: string;
  readonly operation: string;
  readonly method: string;
  readonly client: string | undefined;
};

type Decided = Pick<Answer, 'status' | 'code'> & { readonly headers: Readonly<Record<string, string>> };

/** A running request; the steps that answer it add facts. */
export type Observation = {
  tokenId?: string;
  /** Bytes that went to the connection past the Response. */
  streamed: number;
  /** The answer was decided; it may still be on its way. */
  answered(answer: Decided): void;
};

export type Observer = ReturnType<typeof createObserver>;

type End = { readonly status: number; readonly seconds: number; readonly aborted: boolean };

// Logged for a request whose client disconnected before the status was decided; never sent.
const CLIENT_CLOSED = 499;

const bodyBytes = (answer: Decided | undefined, method: string): number =>
  method === 'HEAD' ? 0 : Number(answer?.headers['Content-Length'] ?? 0);

/** @param tick a clock for durations, in milliseconds, that is never set back */
export function createObserver(metrics: Metrics, log: Log, tick = (): number => performance.now()) {
  const ended = (
    { client, ...arrival }: Arrival,
    { tokenId, streamed }: Observation,
    answer: Decided | undefined,
    { status, seconds, aborted }: End,
  ): void => {
    const whole = aborted ? 0 : bodyBytes(answer, arrival.method);
    const bytes = streamed > 0 ? streamed : whole;
    metrics.ended({ operation: arrival.operation, status, seconds, bytes });
    log({
      level: 'info',
      event: 'request',
      ...arrival,
      status,
      code: answer?.code,
      durationMs: Math.round(seconds * 10_000) / 10,
      bytes,
      aborted: aborted || undefined,
      tokenId,
      client,
    });
  };

  return {
    /** With the response of Node the request lasts until that has closed, without it until it is answered. */
    begin(arrival: Arrival, outgoing: ServerResponse | undefined): Observation {
      metrics.began();
      const startedMs = tick();
      let decided: Decided | undefined;
      const end = (status: number, aborted: boolean): void =>
        ended(arrival, observation, decided, { status, seconds: (tick() - startedMs) / 1000, aborted });
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
    /** Records a refusal before there was a request, such as malformed HTTP. */
    refused({ status, correlationId, code }: Pick<ErrorAnswer, 'status' | 'correlationId' | 'code'>): void {
      metrics.began();
      metrics.ended({ operation: 'malformed', status, seconds: 0, bytes: 0 });
      log({ level: 'info', event: 'request', operation: 'malformed', correlationId, status, code });
    },
  };
}
