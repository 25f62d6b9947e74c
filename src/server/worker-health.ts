import { servedEndpoints } from './app.ts';
import type { ServerContext } from './context.ts';
import { errorAnswer, newCorrelationId, notFound } from './http/envelope.ts';
import type { Log } from './telemetry/log.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { createReadiness } from './telemetry/readiness.ts';

const ENDED = 'worker.job.';

/**
 * What a worker shows of itself over HTTP: `/healthz`, `/readyz` and `/metrics`, as a server does (docs/server/server.md). Pass
 * the worker its `log`, from which it counts jobs.
 */
export function createWorkerHealth(context: Omit<ServerContext, 'limits'> & { readonly version: string }): {
  readonly log: Log;
  fetch(request: Request): Promise<Response>;
  stopping(): void;
} {
  const { log } = context;
  const metrics = createMetrics({ version: context.version, node: process.version });
  const readiness = createReadiness(context);
  const { '/openapi.json': _document, ...open } = servedEndpoints({ metrics, readiness });
  const endpoints = new Map(Object.entries(open));
  return {
    log(entry) {
      const { event, facts } = entry;
      if (event.startsWith(ENDED)) metrics.jobEnded(String(facts?.['kind']), event.slice(ENDED.length));
      log(entry);
    },
    async fetch({ url }) {
      try {
        const endpoint = endpoints.get(new URL(url).pathname);
        if (endpoint === undefined) throw notFound();
        const { body, headers } = await endpoint.answer();
        return new Response(body, { headers });
      } catch (error) {
        const { status, headers, body } = errorAnswer(error, newCorrelationId(), log);
        return new Response(body, { status, headers });
      }
    },
    stopping: () => readiness.stop(),
  };
}
