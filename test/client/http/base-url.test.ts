import { describe, expect, it } from 'vitest';
import { parseBaseUrl } from '../../../src/client/options.ts';
import { createClient } from '../../../src/client/client.ts';
import { DrillproofError } from '../../../src/errors.ts';

const createWithPassword = () => createClient({ baseUrl: 'https://user:secret@control.example', token: 't' });

describe('the base address', () => {
  it.each([
    ['https://control.example', 'https://control.example'],
    ['https://control.example/', 'https://control.example'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080//', 'http://[::1]:8080'],
    ['https://control.example/behind/a/proxy/', 'https://control.example/behind/a/proxy'],
    ['HTTPS://Control.Example:443', 'https://control.example'],
  ])('accepts %s', (text, expected) => {
    expect(parseBaseUrl(text)).toBe(expected);
  });

  it.each([
    '',
    'control.example',
    '//control.example',
    '/v1',
    'ftp://control.example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://user@control.example',
    'https://user:secret@control.example',
    'https://control.example?token=secret',
    'https://control.example?',
    'https://control.example#part',
    'https://control.example#',
    'https://',
    'http://a b',
  ])('refuses %j', (text) => {
    expect(() => parseBaseUrl(text)).toThrow(expect.objectContaining({ code: 'client.BASE_URL_INVALID' }));
  });

  it('does not repeat a password in the address', () => {
    expect(createWithPassword).toThrow(DrillproofError);
    expect(createWithPassword).not.toThrow('secret');
  });

  it.each(['', ' ', 'two words', 'line\nbreak', 'ünicode', 'null\0'])(
    'refuses the token %j without repeating it',
    (token) => {
      const failure = (): unknown => createClient({ baseUrl: 'https://control.example', token });
      expect(failure).toThrow(expect.objectContaining({ code: 'client.REQUEST_INVALID' }));
      if (token.trim() !== '') expect(failure).not.toThrow(token);
    },
  );
});
