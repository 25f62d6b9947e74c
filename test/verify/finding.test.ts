import { describe, expect, it } from 'vitest';
import { DrillproofError } from '../../src/errors.ts';
import {
  countFindings,
  finding,
  findingsOf,
  limitFindings,
  shareFindings,
  statementFindingsOf,
} from '../../src/verify/finding.ts';

describe('a finding', () => {
  const plain = {
    code: 'io.UNREADABLE',
    class: 'inaccessible',
    severity: 'error',
    subject: 'b',
    message: 'm',
  };
  const values = { path: 'p', expected: 'e', actual: 'a' };

  it('has class and severity from the catalogue, and no member without a value', () => {
    expect(finding('io.UNREADABLE', 'b', { message: 'm' })).toStrictEqual(plain);
    expect(finding('io.UNREADABLE', 'b', { message: 'm', ...values })).toStrictEqual({ ...plain, ...values });
  });

  it('has its members in a fixed order', () => {
    const members = Object.keys(finding('io.UNREADABLE', 'b', { message: 'm', ...values }));
    expect(members.join()).toBe('code,class,severity,subject,path,message,expected,actual');
  });

  it('has its own code when made from another finding', () => {
    const original = finding('json.INVALID', 'export', { message: 'm' });
    const { code, class: codeClass, severity } = finding('receipt.INVALID', 'export', original);
    expect([code, codeClass, severity]).toEqual(['receipt.INVALID', 'malformed', 'warning']);
  });

  it.each([
    [undefined, undefined, undefined],
    [undefined, '/a', '/a'],
    ['m.json', undefined, 'm.json'],
    ['m.json', '', 'm.json'],
    ['m.json', 'm.json', 'm.json'],
    ['m.json', '/a', 'm.json#/a'],
  ])('of an error in %s at %s has the path %s', (outer, inner, path) => {
    const error = new DrillproofError('json.INVALID', 'no', inner === undefined ? {} : { path: inner });
    expect(findingsOf(error, 'b', outer)).toStrictEqual([
      finding('json.INVALID', 'b', { message: 'no', path }),
    ]);
  });
});

it('the findings of an error are one for each fault that a parser collected, with its path', () => {
  const issues = [
    { path: '/a', message: 'one' },
    { path: '', message: 'two' },
  ];
  const error = new DrillproofError('bundle.MANIFEST_INVALID', 'one (and 1 more)', {
    path: '/a',
    details: { issues },
  });
  expect(findingsOf(error, 'x', 'manifest.json').map(({ path, message }) => [path, message])).toEqual([
    ['manifest.json#/a', 'one'],
    ['manifest.json', 'two'],
  ]);
  expect(findingsOf(error, 'x').map(({ path }) => path)).toEqual(['/a', '']);
});

it.each([[[]], ['many']])('the findings of an error are a single one if its issues are %j', (issues) => {
  expect(findingsOf(new DrillproofError('json.INVALID', 'no', { details: { issues } }), 'b')).toHaveLength(1);
});

it('the findings of an error about a statement are those of any other error', () => {
  const error = new DrillproofError('json.INVALID', 'no', { path: '/a' });
  expect(statementFindingsOf(error, 'b')).toStrictEqual(findingsOf(error, 'b'));
});

it.each([
  ['an error', findingsOf, new TypeError('bug')],
  ['an error', findingsOf, new DrillproofError('internal.BUG', 'a thread ended')],
  ['an error about a statement', statementFindingsOf, new TypeError('bug')],
  ['an error about a statement', statementFindingsOf, new DrillproofError('internal.BUG', 'no')],
  ['an error about a statement', statementFindingsOf, new DrillproofError('io.UNREADABLE', 'no')],
])('%s that cannot be a finding is rethrown: $2', (_, list, error) => {
  expect(() => list(error, 'b')).toThrow(error);
});

const make = (times: number, code: Parameters<typeof finding>[0] = 'object.MISSING', subject = 'b') =>
  Array.from({ length: times }, (_, i) => finding(code, subject, { message: String(i) }));

describe('the limit of findings', () => {
  it('keeps 100 findings of a code and a subject, and counts the others in the last one', () => {
    expect(limitFindings(make(100))).toEqual(make(100));
    const [first, ...others] = limitFindings([
      ...make(101),
      ...make(3, 'object.EXTRA'),
      ...make(100, 'object.MISSING', 'c'),
    ]);
    expect(first).toEqual(make(1)[0]);
    expect(others).toHaveLength(99 + 3 + 100);
    expect(others.filter(({ more }) => more !== undefined)).toEqual([{ ...make(100)[99], more: 1 }]);
  });

  it('adds up when it is applied again with a lower number', () => {
    const twice = limitFindings(limitFindings(make(250)), 7);
    expect(twice).toEqual([...make(6), { ...make(7)[6], more: 243 }]);
    expect([countFindings(twice), countFindings(make(3)), countFindings([])]).toEqual([250, 3, 0]);
  });

  it.each([
    [1, 100],
    [100, 100],
    [101, 99],
    [10_000, 1],
    [20_000, 1],
  ])('of an export of %i parts is %i of a code for each part', (parts, most) => {
    expect(shareFindings(parts)).toBe(most);
  });
});
