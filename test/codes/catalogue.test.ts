import { describe, expect, it } from 'vitest';
import { catalogue, codeEntry, isCode, type CodeEntry } from '../../src/codes/index.ts';
import { bagCodes } from '../../src/codes/bag.ts';
import { controlCodes } from '../../src/codes/control.ts';
import { dsseCodes } from '../../src/codes/dsse.ts';
import { encodingCodes } from '../../src/codes/encoding.ts';
import { evidenceCodes } from '../../src/codes/evidence.ts';
import { exportCodes } from '../../src/codes/export.ts';
import { ioCodes } from '../../src/codes/io.ts';
import { policyCodes } from '../../src/codes/policy.ts';
import { receiptCodes } from '../../src/codes/receipt.ts';
import { queueCodes } from '../../src/codes/queue.ts';
import { trustCodes } from '../../src/codes/trust.ts';
import { vsaCodes } from '../../src/codes/vsa.ts';
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

const COULD_NOT_READ_OR_FALSE = ['malformed', 'mismatch', 'limit', 'inaccessible', 'internal'];

it.each(rows)('%s is a complete row', (code, { class: codeClass, severity, meaning, action, clause }) => {
  expect(code).toMatch(/^[a-z][a-z0-9-]*\.[A-Z][A-Z0-9_]*$/);
  expect(CLASSES).toContain(codeClass);
  expect(['error', 'warning', 'info']).toContain(severity);
  if (COULD_NOT_READ_OR_FALSE.includes(codeClass)) expect(severity).not.toBe('info');
  for (const sentence of [meaning, action]) expect(sentence).toMatch(/^\S[^\n]{3,198}[^\s.]\.$/);
  expect(action).toMatch(/^[A-Z]/);
  expect(meaning).not.toBe(action);
  expect(clause).toMatch(/^\S.*\S$/);
});

describe('the catalogue', () => {
  it('holds the rows of every table, none of them twice', () => {
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
    ];
    const codes = tables.flatMap((table) => Object.keys(table));
    expect(new Set(codes).size).toBe(codes.length);
    expect(rows.length).toBe(codes.length);
  });

  it('means one thing by each code', () => {
    const meanings = rows.map(([, { meaning }]) => meaning);
    expect(meanings.filter((meaning, at) => meanings.indexOf(meaning) !== at)).toEqual([]);
  });

  it('gives the row of a code', () => {
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
  ])('has no code %j', (name) => {
    expect(isCode(name)).toBe(false);
  });

  it('knows its own codes', () => {
    expect(rows.every(([code]) => isCode(code))).toBe(true);
  });
});
