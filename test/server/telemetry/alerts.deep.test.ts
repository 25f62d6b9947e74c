import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createMetrics } from '../../../src/server/telemetry/metrics.ts';
import { makeFolder } from '../../support/folder.ts';
import { readAlerts } from '../../docs/deployment.ts';

const folder = await makeFolder();
copyFileSync('docs/server/deployment/alerts.yaml', join(folder, 'alerts.yaml'));

/** Runs promtool, of the Debian package prometheus, whose absence fails the test; its output is in the error. */
const promtool = (words: readonly string[], input = ''): string =>
  execFileSync('promtool', words, { cwd: folder, input, encoding: 'utf8', stdio: 'pipe' });

type Series = Readonly<Record<string, string>>;
const own = (name: string, labels = ''): string =>
  `${name}{job="drillproof",instance="a"${labels && `,${labels}`}}`;
const DAY_S = 86_400;
/** For each alert, values of four hours, one each minute, for which it fires near their end, and for which it does not. */
const CASES: Readonly<Record<string, readonly [bad: Series, good: Series]>> = {
  Down: [{ [own('up')]: '0x240' }, { [own('up')]: '1x240' }],
  Restarts: [
    { [own('process_start_time_seconds')]: '0+1x240' },
    { [own('process_start_time_seconds')]: '1x220 2x20' },
  ],
  TwoVersions: [
    {
      [own('drillproof_build_info', 'version="1"')]: '1x240',
      [own('drillproof_build_info', 'version="2"')]: '1x240',
    },
    { [own('drillproof_build_info', 'version="1"')]: '1x240' },
  ],
  ...Object.fromEntries(
    [
      ['QueueUnreadable', 'drillproof_queue_readable', 0, 1],
      ['ManyRequests', 'drillproof_http_requests_in_flight', 501, 500],
      ['WorkWaits', 'drillproof_queue_oldest_seconds', 601, 600],
      ['MemoryHigh', 'process_resident_memory_bytes', 2.1e9, 1.9e9],
      ['HeapHigh', 'nodejs_heap_size_used_bytes', 1.6e9, 1.4e9],
      ['ManyFiles', 'process_open_fds', 3001, 3000],
    ].map(([alert, name, bad, good]) => [
      alert,
      [{ [own(String(name))]: `${bad}x240` }, { [own(String(name))]: `${good}x240` }],
    ]),
  ),
  ...Object.fromEntries(
    [
      ['RateLimited', own('drillproof_http_rate_limited_total'), 61, 60],
      ['StorageErrors', own('drillproof_storage_errors_total', 'storage="blobs",code="io.X"'), 1, 0],
      ['JobsFail', own('drillproof_worker_jobs_total', 'kind="k",outcome="failed"'), 0.1, 0.08],
      ['ProcessorBusy', own('process_cpu_seconds_total'), 55, 53],
      ['GarbageCollects', own('nodejs_gc_duration_seconds_sum', 'kind="major"'), 6.1, 5.9],
    ].map(([alert, series, bad, good]) => [
      alert,
      [{ [series!]: `0+${bad}x240` }, { [series!]: `0+${good}x240` }],
    ]),
  ),
  ServerErrors: [
    {
      [own('drillproof_http_requests_total', 'operation="a",status="5xx"')]: '0+2x240',
      [own('drillproof_http_requests_total', 'operation="a",status="2xx"')]: '0+100x240',
    },
    {
      [own('drillproof_http_requests_total', 'operation="a",status="5xx"')]: '0+1x240',
      [own('drillproof_http_requests_total', 'operation="a",status="2xx"')]: '0+100x240',
    },
  ],
  SlowRequests: [
    histogram('drillproof_http_request_duration_seconds', 'operation="sessions.read"', ['2.5', '5'], 98),
    {
      ...histogram(
        'drillproof_http_request_duration_seconds',
        'operation="sessions.read"',
        ['2.5', '5'],
        100,
      ),
      ...histogram('drillproof_http_request_duration_seconds', 'operation="a.download"', ['2.5', '5'], 0),
    },
  ],
  SlowStorage: [
    histogram('drillproof_storage_call_duration_seconds', 'storage="database",call="read"', ['1', '5'], 98),
    {
      ...histogram(
        'drillproof_storage_call_duration_seconds',
        'storage="database",call="read"',
        ['1', '5'],
        100,
      ),
      ...histogram('drillproof_storage_call_duration_seconds', 'storage="blobs",call="put"', ['1', '5'], 0),
    },
  ],
  TransfersFull: [
    {
      [own('drillproof_transfers', 'kind="uploads"')]: '58x240',
      [own('drillproof_transfers_limit', 'kind="uploads"')]: '64x240',
    },
    {
      [own('drillproof_transfers', 'kind="uploads"')]: '57x240',
      [own('drillproof_transfers_limit', 'kind="uploads"')]: '64x240',
    },
  ],
  PoolExhausted: [
    {
      [own('drillproof_database_waiting')]: '1x240',
      [own('drillproof_database_connections', 'state="idle"')]: '0x240',
    },
    {
      [own('drillproof_database_waiting')]: '1x240',
      [own('drillproof_database_connections', 'state="idle"')]: '1x240',
    },
  ],
  StorageFills: [
    {
      [own('drillproof_stored_bytes', 'kind="bundles"')]: '4e11x240',
      [own('drillproof_stored_bytes', 'kind="builds"')]: '2e11x240',
    },
    {
      [own('drillproof_stored_bytes', 'kind="bundles"')]: '5e11x240',
      'drillproof_stored_bytes{instance="b",kind="bundles"}': '5e11x240',
    },
  ],
  BackupOld: [
    { [own('drillproof_last_backup_timestamp_seconds')]: `${-2 * DAY_S}x240` },
    { [own('drillproof_last_backup_timestamp_seconds')]: `${-DAY_S}x240` },
  ],
  QueueGrows: [
    { [own('drillproof_queue_operations', 'kind="k",state="waiting"')]: '1001x240' },
    { [own('drillproof_queue_operations', 'kind="k",state="running"')]: '1001x240' },
  ],
  EventLoopLags: [
    { [own('nodejs_eventloop_lag_seconds', 'percentile="99"')]: '0.3x240' },
    { [own('nodejs_eventloop_lag_seconds', 'percentile="100"')]: '0.3x240' },
  ],
};

/** Requests of which this many of 100 end within the first bound. */
function histogram(
  name: string,
  labels: string,
  [low, high]: readonly [string, string],
  within: number,
): Series {
  const bucket = (le: string): string => own(`${name}_bucket`, `${labels},le="${le}"`);
  return { [bucket(low)]: `0+${within}x240`, [bucket(high)]: '0+100x240', [bucket('+Inf')]: '0+100x240' };
}

/** A test of promtool: with these series, exactly these alerts fire. */
const expectFiring = (series: Series = {}, alerts: readonly string[]) => ({
  interval: '1m',
  input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
  promql_expr_test: [
    {
      expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: '230m',
      exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
    },
  ],
});

it('promtool accepts the alerts, each of which fires for bad values and not for good ones', () => {
  promtool(['check', 'rules', 'alerts.yaml']);
  const names = readAlerts().map(({ alert }) => alert);
  expect(Object.keys(CASES).toSorted()).toEqual(names.toSorted());
  // All bad values are in one test, and all good ones in another, because promtool evaluates every rule in each.
  const [bad, good] = [0, 1].map(
    (n) => Object.assign({}, ...Object.values(CASES).map((series) => series[n])) as Series,
  );
  const test = (...tests: readonly object[]): string => {
    writeFileSync(
      join(folder, 'tests.yaml'),
      stringify({ rule_files: ['alerts.yaml'], evaluation_interval: '1m', tests }),
    );
    return promtool(['test', 'rules', 'tests.yaml']);
  };
  expect(test(expectFiring(bad, names), expectFiring(good, []))).toContain('SUCCESS');
  expect(() => test(expectFiring(good, ['Down'])), 'the harness can fail').toThrow(/FAILED/);
});

it('promtool finds nothing wrong with the metrics of a process', () => {
  const metrics = createMetrics({ version: '1', node: '2' });
  metrics.began();
  metrics.ended({ operation: 'a', status: 200, seconds: 1, bytes: 1 });
  expect(promtool(['check', 'metrics'], metrics.text({ queue: [], backupAtMs: 1 }))).toBe('');
});
