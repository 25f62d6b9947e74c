import { describe, expect, it } from 'vitest';
import {
  catalogue,
  type Code,
  codeEntry,
  type CodeEntry,
  codeFacts,
  isCode,
  isStatementCode,
  statementCodeFacts,
} from '../../src/codes/index.ts';
import { bagCodes, exportCodes } from '../../src/codes/export.ts';
import { controlCodes } from '../../src/codes/control.ts';
import { dsseCodes, evidenceCodes } from '../../src/codes/evidence.ts';
import { encodingCodes } from '../../src/codes/encoding.ts';
import { ioCodes, queueCodes } from '../../src/codes/io.ts';
import { policyCodes, vsaCodes } from '../../src/codes/policy.ts';
import { receiptCodes, signedReportCodes } from '../../src/codes/receipt.ts';
import { trustCodes } from '../../src/codes/trust.ts';
import { zipCodes } from '../../src/codes/zip.ts';

const CLASSES = [
  'malformed',
  'missing',
  'mismatch',
  'untrusted',
  'expired',
  'unsupported',
  'inaccessible',
  'limit',
  'extra',
  'claimed',
  'usage',
  'refused',
  'internal',
];
const rows: [string, CodeEntry][] = Object.entries(catalogue);

/** Classes that are never only a remark. */
const SERIOUS = ['malformed', 'mismatch', 'limit', 'inaccessible', 'internal'];

it.each(rows)(
  'the code %s has a class, a severity, a meaning, an action and a clause',
  (code, { class: codeClass, severity, meaning, action, clause }) => {
    expect(code).toMatch(/^[a-z][a-z0-9-]*\.[A-Z][A-Z0-9_]*$/);
    expect(CLASSES).toContain(codeClass);
    expect(['error', 'warning', 'info']).toContain(severity);
    if (SERIOUS.includes(codeClass)) expect(severity).not.toBe('info');
    for (const sentence of [meaning, action]) expect(sentence).toMatch(/^\S[^\n]{3,198}[^\s.]\.$/);
    expect(action).toMatch(/^[A-Z]/);
    expect(meaning).not.toBe(action);
    expect(clause).toMatch(/^\S.*\S$/);
  },
);

it.each(Object.keys(catalogue) as Code[])(
  'the code %s is one of statements by its namespace alone',
  (code) => {
    const [namespace = ''] = code.split('.');
    const isOne = ['encoding', 'json', 'trust', 'attestation', 'dsse'].includes(namespace);
    expect(isStatementCode(code)).toBe(isOne);
    if (isStatementCode(code)) expect(statementCodeFacts(code)).toEqual(codeFacts(code));
  },
);

describe('the catalogue', () => {
  it('the catalogue has the codes of every table, each once', () => {
    const tables = [
      encodingCodes,
      dsseCodes,
      zipCodes,
      trustCodes,
      evidenceCodes,
      exportCodes,
      receiptCodes,
      bagCodes,
      policyCodes,
      vsaCodes,
      ioCodes,
      controlCodes,
      queueCodes,
      signedReportCodes,
    ];
    const codes = tables.flatMap((table) => Object.keys(table));
    expect(new Set(codes).size).toBe(codes.length);
    expect(rows.length).toBe(codes.length);
  });

  it('no two codes have the same meaning', () => {
    const meanings = rows.map(([, { meaning }]) => meaning);
    expect(meanings.filter((meaning, at) => meanings.indexOf(meaning) !== at)).toEqual([]);
  });

  it('codeEntry returns the row of a code', () => {
    expect(codeEntry('zip.CRC_MISMATCH')).toBe(catalogue['zip.CRC_MISMATCH']);
  });

  it.each([
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '',
    'zip',
    'zip.',
    'zip.NONE',
    'ZIP.CRC_MISMATCH',
  ])('isCode refuses %j, which is not a code', (name) => {
    expect(isCode(name)).toBe(false);
  });

  it('isCode accepts every code of the catalogue', () => {
    expect(rows.every(([code]) => isCode(code))).toBe(true);
  });
});
