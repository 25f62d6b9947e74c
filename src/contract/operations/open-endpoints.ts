/** What needs no token and lies beside `/v1`: documents of the service, and what those ask who operate it. */
export const openEndpoints = {
  healthz: {
    path: '/healthz',
    summary: 'Whether the process serves.',
    mediaType: 'application/json',
    mayBeUnavailable: false,
  },
  readyz: {
    path: '/readyz',
    summary: 'Whether work may be sent here, and what is queued.',
    mediaType: 'application/json',
    mayBeUnavailable: true,
  },
  metrics: {
    path: '/metrics',
    summary: 'Numbers of the process, in the Prometheus text format.',
    mediaType: 'text/plain',
    mayBeUnavailable: false,
  },
  openapi: {
    path: '/openapi.json',
    summary: 'This document.',
    mediaType: 'application/json',
    mayBeUnavailable: false,
  },
} as const;

export type OpenEndpointName = keyof typeof openEndpoints;

/** The names of all of them, in the order of the table. */
export const openEndpointNames = Object.keys(openEndpoints) as readonly OpenEndpointName[];
