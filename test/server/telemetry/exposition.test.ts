import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  createHistogram,
  createNumbers,
  formatExposition,
} from '../../../src/server/telemetry/exposition.ts';
import { parseExposition } from './parse-exposition.ts';
import { forAll } from '../../support/property.ts';

it('the exposition matches the text format byte for byte', () => {
  const requests = createNumbers('counter', 'requests_total', 'Requests.');
  requests.add({ operation: 'a', status: '2xx' });
  requests.add({ operation: 'a', status: '2xx' });
  requests.add({ operation: 'b', status: '4xx' }, 3);
  const seconds = createHistogram('seconds', 'Time.', [0.5, 1]);
  for (const value of [0.25, 0.5, 0.75, 2]) seconds.observe({ operation: 'a' }, value);
  const up = createNumbers('gauge', 'up', 'Back\\slash\nand line.');
  up.set({}, 1.5);
  expect(formatExposition([requests, seconds, up])).toBe(`# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{operation="a",status="2xx"} 2
requests_total{operation="b",status="4xx"} 3
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{operation="a",le="0.5"} 2
seconds_bucket{operation="a",le="1"} 3
seconds_bucket{operation="a",le="+Inf"} 4
seconds_sum{operation="a"} 3.5
seconds_count{operation="a"} 4
# HELP up Back\\\\slash\\nand line.
# TYPE up gauge
up 1.5
`);
});

it('a strict parser reads back any label value', () => {
  const value = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '{', '}', ',', '=', ' ', 'é') });
  forAll(200, [fc.uniqueArray(value, { maxLength: 8 })], (values) => {
    const metric = createNumbers('counter', 'metric_total', 'A metric.');
    for (const label of values) metric.add({ label });
    const family = parseExposition(formatExposition([metric])).get('metric_total');
    expect(family?.samples.map(({ labels }) => labels['label'])).toEqual(values);
  });
});

it('the buckets of a histogram are cumulative and end with its count for any values', () => {
  forAll(100, [fc.array(fc.double({ min: 0, max: 1000, noNaN: true }))], (values) => {
    const metric = createHistogram('seconds', 'Time.', [0.1, 1, 10]);
    metric.observe({}, 0);
    for (const value of values) metric.observe({}, value);
    const { samples } = parseExposition(formatExposition([metric])).get('seconds')!;
    const counts = [0.1, 1, 10, Infinity].map((le) => 1 + values.filter((value) => value <= le).length);
    const sum = values.reduce((total, value) => total + value, 0);
    expect(samples.map(({ value }) => value)).toEqual([...counts, sum, counts.at(-1)]);
  });
});

it('a cleared gauge has no samples', () => {
  const depth = createNumbers('gauge', 'depth', 'Depth.');
  depth.set({ kind: 'a' }, 1);
  depth.clear();
  expect(formatExposition([depth])).toBe('# HELP depth Depth.\n# TYPE depth gauge\n');
});
