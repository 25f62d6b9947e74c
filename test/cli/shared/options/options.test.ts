import { InvalidArgumentError } from 'commander';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  parseDigest,
  parseFileSpec,
  parseKeySpec,
  parseTime,
  parseNumberBetween,
} from '../../../../src/cli/shared/options/options.ts';
import { parseTarget } from '../../../../src/cli/shared/options/values.ts';
import { forAll } from '../../../support/property.ts';

const target = parseTarget(['text', 'json']);

it('a time is read as ISO 8601 with a zone, as a date in UTC, or in milliseconds', () => {
  expect(parseTime('2026-11-21T12:00:00Z')).toBe(Date.UTC(2026, 10, 21, 12));
  expect(parseTime('2026-11-21T13:00:00.250+01:00')).toBe(Date.UTC(2026, 10, 21, 12, 0, 0, 250));
  expect(parseTime('2026-11-21')).toBe(Date.UTC(2026, 10, 21));
  expect(parseTime('1795262400000')).toBe(1_795_262_400_000);
  expect(parseTime('-1')).toBe(-1);
});

it.each([
  '2026',
  '2026-11-21T12:00:00',
  '2026-02-30',
  '2026-13-01',
  'now',
  '',
  '1e3',
  '9'.repeat(20),
  '2026-11-21 12:00Z',
])('the time %j is refused, because it is ambiguous or invalid', (value) => {
  expect(() => parseTime(value)).toThrow(InvalidArgumentError);
});

it('every time that toISOString writes is read', () => {
  forAll(100, [fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })], (date) => {
    expect(parseTime(date.toISOString())).toBe(date.getTime());
  });
});

it('a digest is read with its prefix or as sha256sum prints it, and nothing else is', () => {
  const hex = 'ab'.repeat(32);
  expect(parseDigest(`sha256:${hex}`)).toBe(`sha256:${hex}`);
  expect(parseDigest(hex)).toBe(`sha256:${hex}`);
  expect(parseDigest(hex.toUpperCase())).toBe(`sha256:${hex}`);
  for (const bad of ['', hex.slice(1), `sha512:${hex}`, `${hex}\n`]) {
    expect(() => parseDigest(bad)).toThrow(InvalidArgumentError);
  }
});

it('a whole number is read only within its bounds', () => {
  const read = parseNumberBetween(1, 64);
  expect([read('1'), read('64')]).toEqual([1, 64]);
  for (const bad of ['0', '65', '-1', '1.5', '1e1', '', ' 1', '0x10'])
    expect(() => read(bad)).toThrow(InvalidArgumentError);
});

it('a file with named members keeps commas and equals signs in the name of the file', () => {
  expect(parseFileSpec('a,b=c.pem,issuer=acme', ['issuer'], 'FORM')).toEqual({
    file: 'a,b=c.pem',
    issuer: 'acme',
  });
});

it('a file with named members keeps equals signs in a value', () => {
  expect(parseKeySpec('k.pem,issuer=a=b,keyId=sha256:00')).toEqual({
    file: 'k.pem',
    issuer: 'a=b',
    keyId: 'sha256:00',
  });
});

it.each(['k.pem,issuer=', ',issuer=a', 'k.pem,issuer=a,issuer=b'])(
  'a file with named members refuses %j as a key',
  (value) => {
    expect(() => parseKeySpec(value)).toThrow(InvalidArgumentError);
  },
);

it('formats of a report go to standard output or to files', () => {
  expect(target('json')).toEqual({ format: 'json' });
  expect(target('json=a=b.json')).toEqual({ format: 'json', file: 'a=b.json' });
  expect(() => target('xml')).toThrow(InvalidArgumentError);
  expect(() => target('json=')).toThrow(InvalidArgumentError);
});
