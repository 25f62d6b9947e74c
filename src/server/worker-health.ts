import { buildEndpoints } from './app.ts';
import { type ServerAnswer, buildErrorAnswer, newCorrelationId, notFound } from './http/envelope.ts';
import type { HttpRequest } from './http/request.ts';
import type { ServerContext } from './model/context.ts';
import type { Log } from './model/log.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { createReadiness } from './telemetry/readiness.ts';

const ENDED = 'worker.job.';

/**
 * Serves the health of a worker: `/healthz`, `/readyz` and `/metrics`, as a server does (docs/server/server.md). Pass
 * the worker its `log`, which counts jobs, and its stores, whose calls are measured.
 */
export function createWorkerHealth(context: ServerContext & { readonly version: string }): {
  readonly log: Log;
  readonly stores: Pick<ServerContext, 'store' | 'blobs'>;
  answer(request: Pick<HttpRequest, 'path'>): Promise<ServerAnswer>;
  stopping(): void;
} {
  const { log } = context;
  const metrics = createMetrics({ version: context.version, node: process.version });
  const { store, blobs } = metrics.measure(context);
  const readiness = createReadiness({ ...context, store, blobs });
  const { '/openapi.json': _document, ...open } = buildEndpoints(metrics, readiness);
  const endpoints = new Map(Object.entries(open));
  return {
    stores: { store, blobs },
    log(entry) {
      const { event, facts } = entry;
      if (event.startsWith(ENDED)) metrics.jobEnded(String(facts?.['kind']), event.slice(ENDED.length));
      log(entry);
    },
    async answer({ path }) {
      try {
        const endpoint = endpoints.get(path);
        if (endpoint === undefined) throw notFound();
        const { body, headers } = await endpoint.answer();
        return { status: 200, headers: { ...headers }, body };
      } catch (error) {
        return buildErrorAnswer(error, newCorrelationId(), log);
      }
    },
    stopping: () => readiness.stop(),
  };
}
