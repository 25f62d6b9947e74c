import { describe, expect, it } from 'vitest';
import { catalogue, type Code, codeEntry } from '../../src/codes/catalogue.ts';
import { CODE_CLASSES, SEVERITIES } from '../../src/codes/entry.ts';
import { codeFacts, isCode, isStatementCode, statementCodeFacts } from '../../src/codes/facts.ts';

const codes = Object.keys(catalogue) as Code[];
const TABLES = [
  'control',
  'encoding',
  'evidence',
  'export',
  'io',
  'policy',
  'receipt',
  'timestamp',
  'trust',
  'zip',
];

/** Classes that are never only a remark. */
const SERIOUS = ['malformed', 'mismatch', 'limit', 'inaccessible', 'internal'];

it.each(codes)('the code %s has a class, a severity, a meaning, an action and a clause', (code) => {
  const { class: codeClass, severity, meaning, action, clause } = codeEntry(code);
  expect(codeEntry(code)).toBe(catalogue[code]);
  expect(isCode(code)).toBe(true);
  expect(code).toMatch(/^[a-z][a-z0-9-]*\.[A-Z][A-Z0-9_]*$/);
  expect(CODE_CLASSES).toContain(codeClass);
  expect(SEVERITIES).toContain(severity);
  if (SERIOUS.includes(codeClass)) expect(severity).not.toBe('info');
  for (const sentence of [meaning, action]) expect(sentence).toMatch(/^\S[^\n]{3,198}[^\s.]\.$/);
  expect(action).toMatch(/^[A-Z]/);
  expect(meaning).not.toBe(action);
  expect(clause).toMatch(/^\S.*\S$/);
});

it.each(codes)('the namespace of the code %s decides whether it is a code of statements', (code) => {
  const [namespace = ''] = code.split('.');
  const expected = ['encoding', 'json', 'trust', 'attestation', 'dsse', 'timestamp'].includes(namespace);
  expect(isStatementCode(code)).toBe(expected);
  if (isStatementCode(code)) expect(statementCodeFacts(code)).toEqual(codeFacts(code));
});

describe('the catalogue', () => {
  it('has the codes of every table, each once', async () => {
    const modules = await Promise.all(TABLES.map((name) => import(`../../src/codes/${name}.ts`)));
    const tabled = modules.flatMap((tables) => Object.values<object>(tables).flatMap(Object.keys));
    expect(tabled.toSorted()).toEqual(codes.toSorted());
  });

  it('has no two codes with the same meaning', () => {
    expect(new Set(codes.map((code) => codeEntry(code).meaning)).size).toBe(codes.length);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'zip', 'zip.', 'ZIP.CRC_MISMATCH'])(
    'has no code %j',
    (name) => {
      expect(isCode(name)).toBe(false);
    },
  );
});
