import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/policy/decision.ts';
import { renderDecisionJunit } from '../../../src/report/decision/junit.ts';
import {
  BENIGN,
  decision,
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

type Element = { tag: string; attributes: Record<string, string>; text: string; children: Element[] };

const READER = `
import json, sys
from xml.etree import ElementTree
def plain(e):
    return {"tag": e.tag, "attributes": e.attrib, "text": e.text or "", "children": [plain(c) for c in e]}
json.dump([plain(ElementTree.fromstring(d.encode("utf-8"))) for d in json.load(sys.stdin)], sys.stdout)
`;

/** The documents as Python reads them, which throws on a document that is not well-formed. */
const read = (decisions: readonly Decision[]): Element[] => {
  const stdin = JSON.stringify(decisions.map(renderDecisionJunit));
  const options = { input: stdin, maxBuffer: 1e9, encoding: 'utf8' } as const;
  return JSON.parse(execFileSync('python3', ['-c', READER], options)) as Element[];
};
const readOne = (result: Decision): Element => read([result])[0]!;
const all = (element: Element, tag: string): Element[] => [
  ...(element.tag === tag ? [element] : []),
  ...element.children.flatMap((child) => all(child, tag)),
];
const shape = ({ tag, attributes, children }: Element): unknown => [
  tag,
  Object.keys(attributes),
  children.map(shape),
];

describe('JUnit XML', () => {
  it('is read by a real XML parser with the counts it claims', () => {
    for (const root of read([YES, NO, UNSURE, withReasons(300)])) {
      const counted = (tag: string) => String(all(root, tag).length);
      expect(root.attributes).toMatchObject({
        tests: counted('testcase'),
        failures: counted('failure'),
        errors: counted('error'),
      });
      for (const suite of all(root, 'testsuite'))
        expect(suite.attributes).toMatchObject({
          tests: String(all(suite, 'testcase').length),
          failures: String(all(suite, 'failure').length),
          errors: String(all(suite, 'error').length),
          skipped: String(all(suite, 'skipped').length),
        });
    }
  });

  it('has a suite for the answer and one for each rule', () => {
    const names = all(readOne(NO), 'testsuite').map(({ attributes }) => attributes['name']);
    expect(names).toEqual(['decision', ...NO.rules.map((item) => item.rule)]);
  });

  it('has a failure for a no, an error for a could not tell or nothing checked, and a skip for a waiver', () => {
    const roots = read([YES, NO, UNSURE, NOTHING]);
    expect(roots.map(({ attributes }) => attributes)).toMatchObject([
      { failures: '0', errors: '0' },
      { failures: '3', errors: '0' },
      { failures: '0', errors: '2' },
      { tests: '1', failures: '0', errors: '1' },
    ]);
    expect(all(roots[1]!, 'skipped')).toMatchObject([
      { text: expect.stringContaining('ops@example.org') as string },
    ]);
  });

  it('names each test of a suite once', () => {
    const rules = [
      rule('outcome.verdict', [violation(), violation({ message: 'again' }), violation({ input: 1 })]),
    ];
    const root = readOne(
      decision({ answer: 'no', rules, inputs: [...YES.inputs, { ...YES.inputs[0]!, name: 'b' }] }),
    );
    const names = all(root, 'testcase').map(
      ({ attributes }) => `${attributes['classname']} ${attributes['name']}`,
    );
    expect(new Set(names).size).toBe(names.length);
    expect(all(root, 'failure')).toHaveLength(3);
  });

  it('never turns text from outside into markup', () => {
    const benign = shape(readOne(withTexts(BENIGN)));
    for (const root of read(fc.sample(texts, 400).map(withTexts))) expect(shape(root)).toEqual(benign);
  });
});
