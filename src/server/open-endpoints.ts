import {
  openApiDocument,
  type OpenEndpointName,
  openEndpointNames,
  openEndpoints,
} from '../contract/index.ts';
import { EXPOSITION_TYPE } from './telemetry/exposition.ts';
import type { Metrics } from './telemetry/metrics.ts';
import type { ReadinessProbe } from './telemetry/readiness.ts';

/** A document and its headers. */
export type OpenAnswer = { readonly body: string; readonly headers: Readonly<Record<string, string>> };

/** An endpoint without a token: it reveals nothing that is stored. `operation` is its name in log and metrics. */
export type OpenEndpoint = {
  readonly operation: string;
  readonly answer: () => OpenAnswer | Promise<OpenAnswer>;
};

const json = (value: unknown): OpenAnswer => ({
  body: JSON.stringify(value),
  headers: { 'Content-Type': 'application/json' },
});

/** The endpoints outside the table, by path. Documents are built once, so that requests without a token stay cheap. */
export function servedEndpoints(of: {
  readonly metrics: Metrics;
  readonly readiness: ReadinessProbe;
}): Readonly<Record<string, OpenEndpoint>> {
  const [openApi, alive] = [json(openApiDocument()), json({ status: 'ok' })];
  const answers: Record<OpenEndpointName, OpenEndpoint['answer']> = {
    openapi: () => openApi,
    healthz: () => alive,
    readyz: async () => json({ status: 'ready', ...(await of.readiness.assertReady()) }),
    metrics: async () => ({
      body: of.metrics.text(await of.readiness.queueDepths()),
      headers: { 'Content-Type': EXPOSITION_TYPE },
    }),
  };
  return Object.fromEntries(
    openEndpointNames.map((name) => [openEndpoints[name].path, { operation: name, answer: answers[name] }]),
  );
}
