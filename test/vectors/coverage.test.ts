import { expect, it } from 'vitest';
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
  'dsse',
  'object',
  'run',
  'export',
  'bag',
  'part',
  'local-report',
  'receipt',
  'expect',
  'policy',
  'vsa',
  'tool-source',
];

/** Codes that no file can produce, with the reason. */
const WITHOUT_VECTOR: Readonly<Partial<Record<Code, string>>> = {
  'zip.SECOND_OPINION': 'no archive is known of which the two readers see different contents',
  'attestation.SECOND_OPINION': 'no signature is known on which the two implementations disagree',
  'trust.SIGNER_FAILED': 'it speaks of a program that does not sign, not of bytes',
  'trust.SIGNER_TIMEOUT': 'it speaks of a program that does not sign, not of bytes',
  'trust.SIGNER_OUTPUT': 'it speaks of a program that does not sign, not of bytes',
  'trust.SIGNER_FAULT': 'a signer whose arithmetic fails is no file',
  'export.NOT_AN_EXPORT': 'the question what a folder is comes before its content is judged',
  'export.CHANGED': 'it compares an export with one that a mirror or server already holds',
  'export.NOT_AVAILABLE': 'it speaks of the state of a control plane, not of bytes',
  'policy.SOURCE_UNPINNED': 'where a policy is read from is not in the policy',
  'policy.SOURCE_MISMATCH': 'where a policy is read from is not in the policy',
  'policy.SOURCE_UNREADABLE': 'where a policy is read from is not in the policy',
  'policy.PARAMETER_MISSING': 'the values of parameters are given by the caller',
  'policy.PARAMETER_UNKNOWN': 'the values of parameters are given by the caller',
  'policy.PARAMETER_INVALID': 'the values of parameters are given by the caller',
  'vsa.SUBJECT_MISSING': 'it speaks of a decision about nothing, from which no summary is made',
  'receipt.UNREADABLE': 'an error of a disk is no file',
  'part.NOT_CHECKED': 'a worker thread that ended is no property of the bytes',
  'receipt.NONE': 'that a place holds no mirror comes before any is judged',
};

/** The other namespaces: what they speak of is no bytes that anybody could publish. */
const NOT_BYTES: Readonly<Record<string, string>> = {
  build: 'a build archive is judged by the server that takes it in, and by no verifier',
  client: 'how a client is called and how it pages; cursors have vectors',
  control: 'answers of a control plane',
  internal: 'faults of this program',
  io: 'files and disks',
  mirror: 'the folder of a mirror and the source it reads',
  pack: 'what is given to be packed',
  queue: 'work that machines share through a database',
  report: 'reports that somebody gives to be compared',
  scrub: 'the place of an archive and what is kept beside it',
  selftest: 'the vectors themselves',
  server: 'configuration and administration of a control plane',
  transport: 'the network',
  usage: 'how a command is called',
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

it('every code about evidence has a vector, or a reason why it has none', () => {
  const missing = ofEvidence.filter((code) => !published.has(code) && !Object.hasOwn(WITHOUT_VECTOR, code));
  expect(missing).toEqual([]);
});

it('no code has both a vector and a reason to have none', () => {
  expect(Object.keys(WITHOUT_VECTOR).filter((code) => published.has(code))).toEqual([]);
});

it('every code belongs to a namespace with vectors, or to one with a reason to have none', () => {
  const namespaces = new Set(Object.keys(catalogue).map((code) => code.split('.')[0]));
  const known = [...NAMESPACES, ...Object.keys(NOT_BYTES)];
  expect(new Set(known)).toEqual(namespaces);
  expect(known).toHaveLength(namespaces.size);
});
