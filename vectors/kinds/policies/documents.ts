import { digestOf } from '../../../src/bytes/hash.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { AS_OF, bundle, inExport } from '../../make/report.ts';
import { broken, no, textOf, YES, type Expected, type Input, type PolicyCase } from './case.ts';
import type { Flag } from '../../flags.ts';

const HEAD = 'schemaVersion: 1\nkind: policy\n';
const yaml = (id: string, comment: string, flag: Flag, rest: string): PolicyCase =>
  broken(id, comment, flag, HEAD + rest);

const FUTURE = { reason: 'why', owner: 'who', expires: '2027-01-01' };
const json = (
  id: string,
  comment: string,
  flag: Flag,
  rules: Readonly<Record<string, unknown>>,
): PolicyCase => broken(id, comment, flag, textOf(rules));

const good = (
  id: string,
  comment: string,
  flag: Flag,
  policy: string,
  expected: Expected = YES,
  files?: Input['files'],
): PolicyCase => ({
  id,
  comment,
  flags: [flag],
  input: {
    policy,
    ...(files !== undefined && { files }),
    inputs: JSON.stringify(inExport(bundle(1))),
    asOfMs: AS_OF,
  },
  expected,
});

const sound = (): PolicyCase[] => [
  good('yaml', 'a policy in YAML', 'Usual', `# with a comment\n${HEAD}outcome:\n  verdict: [passed]\n`),
  good(
    'yaml-no-is-text',
    'no is text in YAML 1.2',
    'UnknownValue',
    `${HEAD}outcome:\n  verdict: [passed, no, off, y]\n`,
  ),
  good(
    'yaml-applies',
    'a policy in YAML is applied',
    'PolicyRule',
    `${HEAD}run:\n  seeds: ['7']\n`,
    no('policy.SEED_NOT_ALLOWED'),
  ),
  good(
    'json-with-schema',
    'an editor may want $schema',
    'Usual',
    textOf({ $schema: './policy.schema.json' }),
  ),
  good(
    'yaml-in-flow',
    'a document in braces behind a comment',
    'FreeForm',
    '# policy\n{schemaVersion: 1, kind: policy}\n',
  ),
];

const unsound = (): PolicyCase[] => [
  broken('empty-file', 'nothing at all', 'EmptySet', ''),
  broken('empty-object', 'no version and no kind', 'MissingMember', '{}'),
  broken('array', 'an array', 'WrongType', '[]'),
  broken('no-version', 'without schemaVersion', 'MissingMember', '{"kind":"policy"}'),
  broken('version-2', 'of another version', 'UnknownValue', '{"schemaVersion":2,"kind":"policy"}'),
  broken('another-kind', 'a document of another kind', 'WrongType', '{"schemaVersion":1,"kind":"decision"}'),
  json('unknown-member', 'a member that is misspelt', 'UnknownMember', { outcomes: { verdict: ['passed'] } }),
  json('unknown-member-inside', 'a member that is misspelt, further inside', 'UnknownMember', {
    outcome: { verdicts: ['passed'] },
  }),
  json('unknown-member-of-a-condition', 'an operator that there is not', 'UnknownMember', {
    run: { drills: [{ regex: '.*' }] },
  }),
  json('empty-list', 'an empty list could be read as none and as any', 'EmptySet', { run: { drills: [] } }),
  json('empty-range', 'a range without bounds', 'EmptySet', { completeness: { bundles: {} } }),
  json('range-backwards', 'a range that ends before it begins', 'Range', {
    completeness: { bundles: { min: 2, max: 1 } },
  }),
  json('range-negative', 'fewer than none', 'Range', { completeness: { bundles: -1 } }),
  json('range-fraction', 'half a bundle', 'Range', { completeness: { bundles: 1.5 } }),
  json('distinct-zero', 'no key at all', 'Threshold', { signers: { distinct: 0 } }),
  json('claimed', 'a claimed list satisfies no rule about completeness', 'Completeness', {
    completeness: { vouched: ['claimed'] },
  }),
  json('verdict-failed', 'a policy cannot ask for a failure', 'UnknownValue', {
    verdict: { bundles: 'failed' },
  }),
  json('seed-as-number', 'a seed is text', 'WrongType', { run: { seeds: [42] } }),
  json('digest-without-prefix', 'a digest without its algorithm', 'Prefix', {
    run: { builds: ['0'.repeat(64)] },
  }),
  json('age-as-number', 'an age without its unit', 'WrongType', { age: { max: 86400 } }),
  json('age-in-months', 'months are not all alike', 'UnknownValue', { age: { max: '1M' } }),
  json('age-zero', 'no time at all', 'Range', { age: { max: '0d' } }),
  json('waiver-without-end', 'a waiver has an end', 'Waiver', {
    waivers: [{ code: 'policy.TOO_OLD', subject: 'x', reason: 'why', owner: 'who' }],
  }),
  json('waiver-without-owner', 'a waiver has an owner', 'Waiver', {
    waivers: [{ code: 'policy.TOO_OLD', subject: 'x', reason: 'why', expires: '2027-01-01' }],
  }),
  json('waiver-of-unknown-code', 'a code that there is not', 'Waiver', {
    waivers: [{ code: 'policy.TO_OLD', subject: 'x', ...FUTURE }],
  }),
  json('waiver-of-the-unreadable', 'what could not be read cannot be accepted', 'Waiver', {
    waivers: [{ code: 'io.UNREADABLE', subject: 'x', ...FUTURE }],
  }),
  json('waiver-of-the-empty', 'an empty export cannot be accepted', 'Waiver', {
    waivers: [{ code: 'export.EMPTY', subject: 'x', ...FUTURE }],
  }),
  json('waiver-without-zone', 'a time without its zone', 'Time', {
    waivers: [{ code: 'policy.TOO_OLD', subject: 'x', ...FUTURE, expires: '2027-01-01T00:00:00' }],
  }),
  json('waiver-of-february-30', 'a day that there is not', 'Time', {
    waivers: [{ code: 'policy.TOO_OLD', subject: 'x', ...FUTURE, expires: '2027-02-30' }],
  }),
  broken(
    'json-member-twice',
    'two members of one name',
    'DuplicateMember',
    '{"schemaVersion":1,"kind":"policy","age":{"max":"1d"},"age":{"max":"9999d"}}',
  ),
  broken('json-comment', 'JSON has no comments', 'Grammar', '{"schemaVersion":1,/* */"kind":"policy"}'),
  yaml(
    'yaml-member-twice',
    'two members of one name',
    'DuplicateMember',
    'age: {max: 1d}\nage: {max: 9999d}\n',
  ),
  yaml('yaml-alias', 'an alias', 'Grammar', 'name: &a x\ndescription: *a\n'),
  yaml('yaml-anchor', 'an anchor that nothing uses', 'Grammar', 'name: &a x\n'),
  yaml('yaml-merge', 'a merge key', 'Grammar', 'age:\n  <<: {max: 1d}\n'),
  yaml('yaml-tag', 'a tag', 'WrongTag', 'name: !!str 1\n'),
  yaml('yaml-own-tag', 'a tag of somebody', 'WrongTag', 'name: !env HOME\n'),
  yaml('yaml-binary', 'binary data', 'WrongTag', 'name: !!binary aGk=\n'),
  yaml('yaml-two-documents', 'two documents in one file', 'TrailingBytes', '---\nkind: policy\n'),
  yaml('yaml-key-is-a-number', 'a name that is not text', 'WrongType', '1: x\n'),
  yaml(
    'yaml-inexact',
    'a number that a double does not hold',
    'InexactNumber',
    'completeness: {bundles: 9007199254740993}\n',
  ),
  yaml('yaml-infinity', 'a number that JSON does not have', 'Range', 'completeness: {bundles: .inf}\n'),
  yaml('yaml-tab', 'a tab as indentation', 'Grammar', 'age:\n\tmax: 1d\n'),
  yaml('yaml-unclosed', 'a list without its end', 'Truncated', 'run: {drills: [a\n'),
];

const BASE = textOf({ outcome: { verdict: ['passed'] }, run: { drills: ['refund'] } });
const pin = (text: string) => digestOf(toUtf8(text));
const extending = (digest: string, rules: Readonly<Record<string, unknown>> = {}, path = 'base.json') =>
  textOf({ extends: [{ path, digest }], ...rules });
const waiving = {
  waivers: [{ code: 'policy.DRILL_NOT_ALLOWED', subject: 'evidence_000000000001', ...FUTURE }],
};
const chain = (length: number): { top: string; files: Record<string, string> } => {
  const files: Record<string, string> = {};
  let text = textOf({});
  for (let n = 1; n < length; n++) {
    files[`${n}.json`] = text;
    text = extending(pin(text), {}, `${n}.json`);
  }
  return { top: text, files };
};

const extended = (): PolicyCase[] => {
  const [eight, nine] = [chain(8), chain(9)];
  return [
    good(
      'extends',
      'what is extended has to hold too',
      'PolicyRule',
      extending(pin(BASE)),
      no('policy.DRILL_NOT_ALLOWED'),
      { 'base.json': BASE },
    ),
    good(
      'extends-and-says-otherwise',
      'nothing that is added weakens what is extended',
      'PolicyRule',
      extending(pin(BASE), { run: { drills: ['checkout'] } }),
      no('policy.DRILL_NOT_ALLOWED'),
      { 'base.json': BASE },
    ),
    good(
      'extends-and-waives',
      'a waiver lifts no rule of what is extended',
      'Waiver',
      extending(pin(BASE), waiving),
      { ...no('policy.DRILL_NOT_ALLOWED'), unusedWaivers: 1 },
      { 'base.json': BASE },
    ),
    broken(
      'extends-another-file',
      'the file was changed',
      'ModifiedContent',
      extending(pin(BASE)),
      'policy.EXTENDS_MISMATCH',
      { 'base.json': `${BASE}\n` },
    ),
    broken(
      'extends-an-absolute-path',
      'a path from the root',
      'AbsolutePath',
      extending(pin(BASE), {}, '/base.json'),
      'policy.INVALID',
      { '/base.json': BASE },
    ),
    broken(
      'extends-an-address',
      'an address in the network',
      'AbsolutePath',
      extending(pin(BASE), {}, 'https://acme.example/base.json'),
      'policy.INVALID',
      { 'https://acme.example/base.json': BASE },
    ),
    broken(
      'extends-no-policy',
      'a file that is not a policy',
      'Structure',
      extending(pin('{}')),
      'policy.INVALID',
      { 'base.json': '{}' },
    ),
    good('extends-8-deep', 'eight policies, one below the other', 'Depth', eight.top, YES, eight.files),
    broken(
      'extends-9-deep',
      'nine policies, one below the other',
      'Depth',
      nine.top,
      'policy.EXTENDS_EXCEEDED',
      nine.files,
    ),
  ];
};

export const documents = (): PolicyCase[] => [...sound(), ...unsound(), ...extended()];
