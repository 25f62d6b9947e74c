import { describe, expect, it } from 'vitest';
import { catalogue, type Code } from '../../src/codes/index.ts';
import { COUNTS } from './counts.ts';
import { readVectors } from './read.ts';

/** The namespaces whose codes speak about bytes that can be published. */
const NAMESPACES = [
  'encoding',
  'json',
  'zip',
  'trust',
  'attestation',
  'bundle',
  'object',
  'export',
  'part',
  'local-report',
  'receipt',
  'expect',
  'tool-source',
];

/** Codes that no file can produce, with the reason. */
const WITHOUT_VECTOR: Readonly<Partial<Record<Code, string>>> = {
  'zip.SECOND_OPINION': 'no archive is known of which the two readers see different contents',
  'attestation.SECOND_OPINION': 'no signature is known on which the two implementations disagree',
  'trust.SIGNER_FAULT': 'a signer whose arithmetic fails is no file',
  'export.NOT_AN_EXPORT': 'the question what a folder is comes before its content is judged',
  'export.CHANGED': 'it compares an export with one that a mirror or server already holds',
  'export.NOT_AVAILABLE': 'it speaks of the state of a control plane, not of bytes',
  'receipt.UNREADABLE': 'an error of a disk is no file',
};

const published = new Set(
  Object.keys(COUNTS).flatMap((kind) =>
    readVectors(kind).cases.flatMap(({ expected: { code, codes = [], warnings = [] } }) => [
      ...(code === undefined ? [] : [code]),
      ...codes,
      ...warnings,
    ]),
  ),
);
const ofEvidence = Object.keys(catalogue).filter((code) => NAMESPACES.includes(code.split('.')[0] ?? ''));

describe('every code about evidence', () => {
  it('has a vector that produces it, or a reason why there is none', () => {
    const missing = ofEvidence.filter((code) => !published.has(code) && !Object.hasOwn(WITHOUT_VECTOR, code));
    expect(missing).toEqual([]);
  });

  it('stands on one side only: the reasons name no code that has a vector', () => {
    expect(Object.keys(WITHOUT_VECTOR).filter((code) => published.has(code))).toEqual([]);
  });

  it('belongs to a namespace that exists', () => {
    const namespaces = new Set(ofEvidence.map((code) => code.split('.')[0]));
    expect(NAMESPACES.filter((name) => !namespaces.has(name))).toEqual([]);
  });
});
