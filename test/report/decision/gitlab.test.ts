import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/policy/decision.ts';
import { decisionRenderers } from '../../../src/report/decision/renderers.ts';
import { BENIGN, decision, NO, texts, UNSURE, withReasons, withTexts, YES } from './makers.ts';

const closed = (required: readonly string[], properties: Record<string, object>): object => ({
  type: 'object',
  required,
  additionalProperties: false,
  properties,
});
const filled = { type: 'string', minLength: 1 };

/** The documentation of GitLab for a code quality report: required members, severities, a path. */
const GITLAB_SCHEMA = {
  type: 'array',
  items: closed(['description', 'check_name', 'fingerprint', 'severity', 'location'], {
    description: filled,
    check_name: filled,
    fingerprint: filled,
    severity: { enum: ['info', 'minor', 'major', 'critical', 'blocker'] },
    location: closed(['path', 'lines'], {
      path: filled,
      lines: closed(['begin'], { begin: { type: 'integer', minimum: 1 } }),
    }),
  }),
};

type Entry = {
  description: string;
  check_name: string;
  fingerprint: string;
  severity: string;
  location: { path: string };
};

const validate = new Ajv2020({ strict: false }).compile(GITLAB_SCHEMA);
const entriesOf = (result: Decision): Entry[] => {
  const entries = JSON.parse(decisionRenderers.gitlab(result)) as Entry[];
  expect(validate(entries), JSON.stringify(validate.errors)).toBe(true);
  expect(new Set(entries.map(({ fingerprint }) => fingerprint)).size).toBe(entries.length);
  return entries;
};

describe('the GitLab code quality report', () => {
  it('has the members that GitLab documents, each entry with its own fingerprint', () => {
    for (const item of [YES, NO, UNSURE, withReasons(300)]) entriesOf(item);
    fc.assert(
      fc.property(texts, (some) => {
        expect(entriesOf(withTexts(some))).toHaveLength(3);
      }),
    );
  });

  it('has a path even for an input without a name', () => {
    const paths = entriesOf(withTexts({ ...BENIGN, name: '', path: '' })).map(
      ({ location }) => location.path,
    );
    expect(paths).toEqual(['.', '.', '.']);
  });

  it('is empty for a yes only', () => {
    expect(entriesOf(YES)).toEqual([]);
    expect(entriesOf(decision({ answer: 'could_not_tell', inputs: [], rules: [] }))).toHaveLength(1);
  });

  it('states in one line what failed, expected and actual, and what to do', () => {
    const entry = entriesOf(NO)[1];
    expect(entry).toMatchObject({
      check_name: 'outcome.verdict',
      severity: 'critical',
      location: { path: 'mirror/parts/evidence_000000000002.zip', lines: { begin: 1 } },
    });
    expect(entry?.description).toMatch(
      /evidence_000000000002.*expected: passed; actual: failed;.*to do: Read/,
    );
    expect(entry?.description).not.toContain('\n');
  });

  it('orders severities: failed, undecided, waived', () => {
    expect(entriesOf(UNSURE)[0]?.severity).toBe('major');
    expect(entriesOf(NO).map(({ severity }) => severity)).toEqual(['critical', 'critical', 'info']);
  });
});
