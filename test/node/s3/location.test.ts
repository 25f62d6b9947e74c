import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseS3Location, s3Name } from '../../../src/node/s3/location.ts';
import { codeOf } from '../../bytes/thrown-by.ts';
import { forAll } from '../../support/property.ts';

const parseLocation = (text: string) =>
  parseS3Location(text, { name: 'the place', code: 'server.CONFIG_INVALID' });

describe('a location in S3', () => {
  it.each([
    ['s3://bucket', {}],
    ['s3://bucket/', {}],
    ['s3://bucket/a/b', { prefix: 'a/b/' }],
    ['s3://bucket/a/b/', { prefix: 'a/b/' }],
    ['s3://my.bucket-1?region=eu-central-1', { bucket: 'my.bucket-1', region: 'eu-central-1' }],
    [
      's3://bucket?endpoint=http://127.0.0.1:9000',
      { endpoint: 'http://127.0.0.1:9000', forcePathStyle: true },
    ],
    ['s3://bucket?endpoint=https%3A%2F%2Fs3.test/&forcePathStyle=false', { endpoint: 'https://s3.test' }],
    ['s3://bucket?forcePathStyle=true', { forcePathStyle: true }],
  ])('is read from %s', (text, members) => {
    const location = { bucket: 'bucket', prefix: '', forcePathStyle: false, ...members };
    expect(parseLocation(text)).toEqual(location);
  });

  it.each([
    's3:',
    's3://',
    's3:///prefix',
    's3:bucket/prefix',
    'S3X://bucket',
    'https://bucket.s3.amazonaws.com/',
    's3://ab',
    's3://Bucket',
    's3://bucket-',
    `s3://${'b'.repeat(64)}`,
    's3://bucket:9000',
    's3://key:secret@bucket',
    's3://key@bucket',
    's3://bucket/a//b',
    's3://bucket//a',
    's3://bucket/a b',
    's3://buc\nket',
    's3://bucket/a%2Fb',
    `s3://bucket/${'a'.repeat(600)}`,
    's3://bucket#part',
    's3://bucket?Endpoint=http://a',
    's3://bucket?endpont=http://a',
    's3://bucket?endpoint=',
    's3://bucket?endpoint=a',
    's3://bucket?endpoint=ftp://a',
    's3://bucket?endpoint=http://a/path',
    's3://bucket?endpoint=http://user:password@a',
    's3://bucket?endpoint=http://a&endpoint=http://b',
    's3://bucket?region=',
    's3://bucket?region=EU central',
    's3://bucket?forcePathStyle=yes',
    's3://bucket?forcePathStyle=constructor',
  ])('is not read from %s', (text) => {
    expect(codeOf(() => parseLocation(text))).toBe('server.CONFIG_INVALID');
  });

  it('is never repeated in an error, because it may contain a secret', () => {
    const text = 's3://key:hunter2@bucket?endpoint=http://a';
    expect(() => parseLocation(text)).toThrow(/^(?!.*hunter2).*AWS_SECRET_ACCESS_KEY/s);
  });

  it('is refused with one code, or its name is parsed as the same location', () => {
    const texts = 's3:// bucket / a . .. ? endpoint= http://h & region= x @ %2e # :'.split(' ');
    const parts = fc.constantFrom(...texts, ' ', '\n');
    forAll(2_000, [fc.array(parts, { maxLength: 12 })], (words) => {
      const text = `s3://${words.join('')}`;
      const code = codeOf(() => parseLocation(text));
      expect([undefined, 'server.CONFIG_INVALID']).toContain(code);
      if (code !== undefined) return;
      const { bucket, prefix } = parseLocation(text);
      const reparsed = parseLocation(s3Name(parseLocation(text)));
      expect([reparsed.bucket, reparsed.prefix]).toEqual([bucket, prefix]);
      expect(prefix === '' || /^[^/]/.test(prefix)).toBe(true);
      expect(prefix.split('/')).not.toContain('..');
    });
  });
});
