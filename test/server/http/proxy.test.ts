import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readClientAddress } from '../../../src/server/telemetry/observer.ts';
import { forAll } from '../../support/property.ts';

const client = (forwarded: string | undefined, trustProxy: boolean) => {
  const header = (name: string) => (name === 'x-forwarded-for' ? forwarded : undefined);
  // Only the address of the connection is looked at.
  const incoming = { socket: { remoteAddress: '10.0.0.1' } } as never;
  return readClientAddress({ header, incoming }, trustProxy);
};

it.each([
  ['no header', undefined, '10.0.0.1'],
  ['one address', '192.0.2.7', '192.0.2.7'],
  ['what the proxy added behind what the client claimed', '198.51.100.9, 192.0.2.7', '192.0.2.7'],
  ['IPv6', '2001:db8::1', '2001:db8::1'],
  ['no address at the end', '192.0.2.7, evil', '10.0.0.1'],
  ['a line break', '192.0.2.7\n{"level":"error"}', '10.0.0.1'],
  ['nothing', '', '10.0.0.1'],
])('the client of a trusted proxy is, for %s, the last that it names', (_, header, expected) => {
  expect(client(header, true)).toBe(expected);
});

it('the client without a trusted proxy is that of the connection, whatever is claimed', () => {
  forAll(100, [fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())], (header) => {
    expect(client(header, false)).toBe('10.0.0.1');
  });
});
