import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countRange,
  DURATION,
  durationMs,
  formatRange,
  meets,
  meetsAny,
  isInRange,
  MOMENT,
  momentMs,
  nameAllowed,
} from '../../src/policy/document/values.ts';
import { evaluate } from '../../src/policy/evaluate.ts';
import { explainRules, listMissingRules } from '../../src/policy/explain.ts';
import { RULES } from '../../src/policy/catalogue.ts';
import { DEFAULT_DOCUMENT, policyOf } from '../../src/policy/policy.ts';
import { anyRules } from './arbitrary.ts';
import { AS_OF, documentOf } from './make.ts';
import { forAll } from '../support/property.ts';

const letters = fc
  .array(fc.constantFrom('a', 'b', '*', '.', 'ab'), { maxLength: 12 })
  .map((all) => all.join(''));

describe('a condition', () => {
  it('is exact unless it is a pattern', () => {
    forAll(100, [letters, letters], (a, b) => meets(a, b) === (a === b));
  });

  it('matches as a regular expression of the same pattern does', () => {
    forAll(3000, [letters, letters], (text, pattern) => {
      const same = new RegExp(`^${pattern.split('*').map(escaped).join('[^]*')}$`);
      return meets(text, { pattern }) === same.test(text);
    });
  });

  it('is decided at once for a pattern that makes regular expressions backtrack', () => {
    expect(meets('a'.repeat(1024), { pattern: `${'a*'.repeat(500)}b` })).toBe(false);
  });

  it('is met by any of several conditions, and never by none', () => {
    expect(meetsAny('b', ['a', { pattern: 'b*' }])).toBe(true);
    expect(meetsAny('b', [])).toBe(false);
  });
});

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

it.each([
  [3, '3', 3, [2, 4]],
  [{ min: 2 }, 'at least 2', 2, [1]],
  [{ max: 2 }, 'at most 2', 2, [3]],
  [{ min: 2, max: 3 }, '2 to 3', 3, [1, 4]],
] as const)('a range %j is %s', (range, words, inside, outside) => {
  expect(formatRange(range)).toBe(words);
  expect(isInRange(inside, range)).toBe(true);
  for (const value of outside) expect(isInRange(value, range)).toBe(false);
});

it.each([
  [['a'], 'the issuer a'],
  [['a', 'b', { pattern: 'c*' }], 'the issuer a or b or one like c*'],
  [[{ pattern: 'c*' }, 'a'], 'the issuer a or one like c*'],
  [[{ pattern: 'b*' }, { pattern: 'c*' }], 'an issuer like b* or c*'],
] as const)('the allowed issuers %j are %s in a sentence', (issuers, words) => {
  expect(nameAllowed('issuer', issuers)).toBe(words);
  const [rule] = explainRules(documentOf({ signers: { issuers } })).filter(
    (explained) => explained.rule === 'signers.issuers',
  );
  expect(rule?.words).toBe(`Every bundle must be signed by ${words}.`);
});

it.each([
  [1, '1 bundle'],
  [{ min: 1 }, 'at least 1 bundle'],
  [{ min: 1, max: 2 }, '1 to 2 bundles'],
  [21, '21 bundles'],
  [0, '0 bundles'],
] as const)('the range %j of bundles is %s', (range, words) => {
  expect(countRange(range, 'bundle')).toBe(words);
});

describe('a time', () => {
  it.each([
    ['1s', 1_000],
    ['15m', 900_000],
    ['36h', 129_600_000],
    ['30d', 2_592_000_000],
    ['2w', 1_209_600_000],
  ])('%s has %s ms', (text, ms) => {
    expect(text).toMatch(DURATION);
    expect(durationMs(text)).toBe(ms);
  });

  it.each(['0d', '1', 'd', '1.5d', '-1d', '1D', '1 d', '12345678d', '1y'])('%s is not a duration', (text) => {
    expect(text).not.toMatch(DURATION);
  });

  it.each([
    ['2026-01-01', 1_767_225_600_000],
    ['2026-01-01T00:00Z', 1_767_225_600_000],
    ['2026-01-01T00:00:00.001Z', 1_767_225_600_001],
    ['2026-01-01T01:00:00+01:00', 1_767_225_600_000],
    ['2024-02-29', 1_709_164_800_000],
  ])('%s is %s', (text, ms) => {
    expect(text).toMatch(MOMENT);
    expect(momentMs(text)).toBe(ms);
  });

  it.each(['2026-02-29', '2026-13-01', '2026-00-10', '2026-01-32', '2026-01-01T25:00Z'])(
    '%s is not a time',
    (text) => {
      expect(text).toMatch(MOMENT);
      expect(momentMs(text)).toBeNaN();
    },
  );
});

it('a policy in words has a sentence for each rule that a decision has, and no other', () => {
  forAll(100, [anyRules], (rules) => {
    const document = documentOf(rules);
    const explained = explainRules(document);
    const evaluated = evaluate([], policyOf(document), { asOfMs: AS_OF }).rules;
    expect(explained.map(({ rule }) => rule)).toEqual(evaluated.map(({ rule }) => rule));
    for (const { words } of explained) {
      expect(words).toMatch(/^[A-Z][^\n]*\.$/);
      expect(words).not.toContain('undefined');
    }
    expect(explained.length + listMissingRules([document]).length).toBe(Object.keys(RULES).length);
  });
});

it('a policy in words states the default rules if it has none', () => {
  expect(explainRules(DEFAULT_DOCUMENT).map(({ rule }) => rule)).toEqual([
    'verdict.export',
    'verdict.bundles',
    'outcome.status',
    'outcome.verdict',
    'contradictions.world',
    'contradictions.binding',
    'contradictions.assertions',
    'contradictions.checkpoints',
    'contradictions.budget',
    'contradictions.time',
    'completeness.vouched',
    'trials.reruns',
    'trials.unique',
    'summary.accepted',
  ]);
});
