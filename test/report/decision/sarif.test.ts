import schemaFile from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' };
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/policy/decision.ts';
import { uriOf } from '../../../src/report/decision/reasons.ts';
import { renderDecisionSarif } from '../../../src/report/decision/sarif.ts';
import {
  BENIGN,
  decision,
  hostile,
  input,
  NO,
  NOTHING,
  rule,
  texts,
  UNSURE,
  violation,
  withReasons,
  withTexts,
  YES,
} from './makers.ts';
import { forAll } from '../../support/property.ts';

type Descriptor = { id: string; help?: { text: string } };
type Run = {
  automationDetails?: object;
  tool: { driver: { rules: Descriptor[] } };
  invocations: object[];
  results: {
    ruleId: string;
    ruleIndex: number;
    level: string;
    message: { text: string };
    locations: { physicalLocation: { artifactLocation: { uri: string } } }[];
    properties: { code?: string; findings?: string[] };
    partialFingerprints: Record<string, string>;
    suppressions?: { justification: string }[];
  }[];
};

/** The closed schema of OASIS. It names draft 4, which Ajv does not support; draft 7 has the same meaning for it. */
const { $schema: _schema, id: _id, ...published } = schemaFile;
const validate = new Ajv({
  strict: false,
  unicodeRegExp: false,
  formats: {
    uri: (text: string) => URL.canParse(text),
    'uri-reference': (text: string) => URL.canParse(text, 'https://example.org/') && !/[\s\\]/.test(text),
    'date-time': (text: string) => !Number.isNaN(Date.parse(text)),
  },
}).compile(published);
const URI_REFERENCE = /^([A-Za-z][A-Za-z0-9+.-]*:)?([A-Za-z0-9._~/!$&'()*+,;=@-]|%[0-9A-F]{2}|:)+$/;
const runOf = (result: Decision, category?: string): Run => {
  const log = JSON.parse(renderDecisionSarif(result, category)) as { runs: [Run] };
  expect(validate(log), JSON.stringify(validate.errors)).toBe(true);
  for (const { locations, ruleIndex, partialFingerprints } of log.runs[0].results) {
    expect([locations.length, Object.keys(partialFingerprints)]).toEqual([1, ['drillproofReason/v1']]);
    expect(locations[0]!.physicalLocation.artifactLocation.uri).toMatch(URI_REFERENCE);
    expect(ruleIndex).toBeGreaterThanOrEqual(0);
  }
  return log.runs[0];
};
const uris = (result: Decision): string[] =>
  runOf(result).results.map(({ locations }) => locations[0]!.physicalLocation.artifactLocation.uri);

describe('SARIF', () => {
  it('matches the schema, whatever the decision', () => {
    for (const item of [YES, NO, UNSURE, NOTHING, withReasons(200)]) runOf(item);
    forAll(100, [texts], (some) => {
      runOf(withTexts(some));
    });
  });

  it('names a category only if one is given, the tool and its address', () => {
    const tool = { name: 'drillproof', version: '1.2.3' };
    const plain = runOf({ ...YES, run: { tool, options: {}, exitCode: 0, unmet: [] } });
    expect(plain.automationDetails).toBeUndefined();
    expect(plain.tool.driver).toMatchObject({
      version: '1.2.3',
      informationUri: expect.stringMatching(/^https:/) as string,
    });
    expect(runOf(YES, 'nightly').automationDetails).toEqual({ id: 'nightly/' });
  });

  it.each([
    [4_999, 4_999],
    [5_000, 5_000],
    [5_001, 5_001],
    [9_000, 5_001],
  ])('has %i reasons as %i results, and the last counts the rest', (many, results) => {
    const run = runOf(withReasons(many));
    expect(run.results).toHaveLength(results);
    const rest = run.results.find(({ ruleId }) => ruleId === 'decision');
    if (many <= 5_000) return expect(rest).toBeUndefined();
    expect(rest?.message.text).toContain(`${(many - 5_000).toLocaleString('en')} more results`);
    expect(run.tool.driver.rules[rest!.ruleIndex]?.id).toBe('decision');
  });

  it('does not match the schema with a result that lacks its message', () => {
    const log = JSON.parse(renderDecisionSarif(NO)) as { runs: { results: object[] }[] };
    log.runs[0]!.results.push({ ruleId: 'x' });
    expect(validate(log)).toBe(false);
  });

  it('has a result for each reason, whose rule has help of the catalogue, with its codes', () => {
    const run = runOf(NO);
    expect(run.results.map(({ ruleId }) => ruleId)).toEqual([
      'drills.required',
      'outcome.verdict',
      'findings.warnings',
    ]);
    for (const { ruleId, ruleIndex } of run.results) {
      const described = run.tool.driver.rules[ruleIndex];
      expect(described?.id).toBe(ruleId);
      expect(described?.help?.text).toMatch(/\.$/);
    }
    expect(run.results[2]!.properties).toMatchObject({
      code: 'policy.WARNING_REFUSED',
      findings: ['export.FILE_UNCOVERED'],
    });
  });

  it('reports an unsuccessful run exactly where the gate could not tell', () => {
    expect([YES, NO, UNSURE].map((item) => runOf(item).invocations)).toMatchObject([
      [{ executionSuccessful: true, exitCode: 0 }],
      [{ executionSuccessful: true, exitCode: 1 }],
      [{ executionSuccessful: false, exitCode: 3 }],
    ]);
  });

  it('reports an undecided rule as an error, and a waived one as a suppressed note', () => {
    expect(runOf(UNSURE).results.map(({ level }) => level)).toEqual(['error']);
    const waived = runOf(NO).results.at(-1);
    expect(waived?.level).toBe('note');
    expect(waived?.suppressions?.[0]?.justification).toContain('ops@example.org');
  });

  it('has no result for a yes, and one where nothing was checked', () => {
    expect(runOf(YES).results).toEqual([]);
    const run = runOf(NOTHING);
    expect(run.results).toHaveLength(1);
    expect(run.tool.driver.rules[run.results[0]!.ruleIndex]?.id).toBe('decision');
  });

  it('escapes placeholders and links in text from outside', () => {
    const text = runOf(withTexts({ ...BENIGN, message: 'a {0} [b](javascript:c)' })).results[0]!.message.text;
    expect(text).toContain(String.raw`a {{0}} [b]\(javascript:c)`);
  });

  it('gives every result a different fingerprint', () => {
    const prints = runOf(withReasons(200)).results.map(
      (item) => item.partialFingerprints['drillproofReason/v1'],
    );
    expect(new Set(prints).size).toBe(200);
  });
});

const at = (name: string, path?: string): string => {
  const { path: _path, ...bare } = violation();
  const item = path === undefined ? bare : { ...bare, path };
  return uris(
    decision({ answer: 'no', inputs: [input({ name })], rules: [rule('outcome.verdict', [item])] }),
  )[0]!;
};

describe('the location of a result', () => {
  it.each([
    ['relative to where the gate ran', './mirror', 'parts/a.zip', 'mirror/parts/a.zip'],
    ['without the place inside the file', 'mirror', 'parts/a b#/payload', 'mirror/parts/a%20b'],
    ['percent-encoded', 'mirror/', 'parts/ü%41.zip', 'mirror/parts/%C3%BC%2541.zip'],
    ['the input itself', '../up/100% (a).zip', undefined, '../up/100%25%20%28a%29.zip'],
    ['not taken for a scheme', 'a:b', undefined, 'a%3Ab'],
    ['a URI for an absolute path', '/srv/mirror', 'manifest.json', 'file:///srv/mirror/manifest.json'],
    ['a URI in S3', 's3://bucket/a b?c', 'manifest.json', 's3://bucket/a%20b%3Fc/manifest.json'],
    ['inside the input', 'mirror', '../../etc/passwd', 'mirror/%2E%2E/%2E%2E/etc/passwd'],
  ])('is %s: %s, %s', (_what, name, path, uri) => {
    expect(at(name, path)).toBe(uri);
  });

  it('does not climb out of its input, whatever the path in the evidence', () => {
    forAll(100, [hostile], (inside) => {
      const uri = new URL(uriOf({ root: 'mirror', inside }), 'https://root.example/x/');
      expect(uri.origin).toBe('https://root.example');
      expect(uri.search + uri.hash).toBe('');
    });
  });

  it('is the policy if no input has the violation', () => {
    expect(uris(NO)[0]).toBe('policies/release.yaml');
  });
});
