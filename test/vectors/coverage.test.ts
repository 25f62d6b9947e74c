import { expect, it } from 'vitest';
import { catalogue, type Code } from '../../src/codes/catalogue.ts';
import { COUNTS } from './counts.ts';
import { listCodes, readVectors } from './read.ts';

/** The namespaces of codes about bytes that can be published. */
const NAMESPACES =
  'encoding json zip trust attestation bundle dsse object run coverage export bag part local-report receipt expect policy vsa timestamp challenge tool-source'.split(
    ' ',
  );

const SIGNER = 'it is about a program that signs';
const SOURCE = 'it is about the place of a policy';
const CASES = 'docs/gate/policies has cases of it, and vectors state the code of the rule';
const PARAMETERS = 'the caller passes the values of parameters';
/** Codes that no file can cause, with the reason. */
const WITHOUT_VECTOR: Readonly<Partial<Record<Code, string>>> = {
  'zip.SECOND_OPINION': 'no known archive has different contents for the two readers',
  'attestation.SECOND_OPINION': 'the two implementations agree about every known signature',
  'trust.SIGNER_FAILED': SIGNER,
  'trust.SIGNER_TIMEOUT': SIGNER,
  'trust.SIGNER_OUTPUT': SIGNER,
  'trust.SIGNER_FAULT': SIGNER,
  'export.NOT_AN_EXPORT': 'it is about the type of a folder, before its files are read',
  'export.CHANGED': 'it compares an export with one that a mirror or server already has',
  'export.NOT_AVAILABLE': 'it is about the state of a control plane',
  'policy.SOURCE_UNPINNED': SOURCE,
  'policy.SOURCE_MISMATCH': SOURCE,
  'policy.SOURCE_UNREADABLE': SOURCE,
  'policy.PARAMETER_MISSING': PARAMETERS,
  'policy.PARAMETER_UNKNOWN': PARAMETERS,
  'policy.PARAMETER_INVALID': PARAMETERS,
  'policy.BASELINE_INVALID': 'it is about a file that the caller passes',
  'policy.SIGNED_LATE': CASES,
  'policy.RUN_REFUSED': CASES,
  'policy.RUN_TOO_LONG': CASES,
  'policy.DRILL_UNVERIFIED': CASES,
  'policy.DRILL_TOO_FEW': CASES,
  'policy.DRILL_ELSEWHERE': CASES,
  'policy.DRILL_OTHER_BUILD': CASES,
  'policy.DRILL_RERUN': CASES,
  'policy.DRILL_TOO_OLD': CASES,
  'policy.DRILL_TOO_NEW': CASES,
  'policy.DRILL_SIGNATURE_OLD': CASES,
  'policy.DRILL_SIGNERS': CASES,
  'policy.DRILL_OUTCOME': CASES,
  'policy.DRILL_ASSERTION': CASES,
  'policy.DRILL_LATEST': CASES,
  'policy.DRILL_NOT_VARIED': CASES,
  'policy.DRILL_PASS_RATE': CASES,
  'policy.SET_NOT_APPLIED': CASES,
  'policy.ARTIFACT_NOT_DRILLED': CASES,
  'policy.BASELINE_DRILL_MISSING': CASES,
  'policy.BASELINE_WORSE': CASES,
  'policy.BASELINE_FEWER_RUNS': CASES,
  'policy.RECEIPTS_UNSOUND': CASES,
  'policy.RECEIPT_TOO_OLD': CASES,
  'vsa.ARTIFACT_MISSING': 'the caller passes the artifact',
  'vsa.SUBJECT_MISSING': 'it is about a decision without evidence, which has no summary',
  'receipt.UNREADABLE': 'it is an error of a disk',
  'part.NOT_CHECKED': 'it is about a worker thread that ended',
  'expect.UNMET': 'it is an error of a call that requires a result',
  'expect.UNDECIDED': 'it is an error of a call that requires a result',
  'timestamp.IMPRINT_MISMATCH': 'it is about the request for a token',
  'timestamp.NONCE_MISMATCH': 'it is about the request for a token',
  'timestamp.REFUSED': 'it is about the request for a token',
  'timestamp.UNREACHABLE': 'it is about the request for a token',
  'receipt.NONE': 'it is about a folder without a mirror',
};

/** The other namespaces, with what they are about. */
const NOT_BYTES: Readonly<Record<string, string>> = {
  build: 'build archives, which the server checks and no verifier',
  client: 'calls of a client and its pages; cursors have vectors',
  control: 'answers of a control plane',
  internal: 'faults of this program',
  inventory: 'the inventory of an archive',
  io: 'files and disks',
  mirror: 'the folder of a mirror and the source it reads',
  pack: 'input to be packed',
  queue: 'work that machines share through a database',
  report: 'reports to be compared',
  scrub: 'the folder of an archive and its journal',
  selftest: 'the vectors themselves',
  server: 'configuration and administration of a control plane',
  runner: 'programs of a control plane',
  transport: 'the network',
  usage: 'the arguments of a command',
};

const published = new Set(Object.keys(COUNTS).flatMap((kind) => readVectors(kind).cases.flatMap(listCodes)));
const codes = Object.keys(catalogue).filter((code) => NAMESPACES.includes(code.split('.')[0] ?? ''));

it('every code about evidence has a vector, or a reason why it has none', () => {
  const missing = codes.filter((code) => !published.has(code) && !Object.hasOwn(WITHOUT_VECTOR, code));
  expect(missing).toEqual([]);
});

it('no code has both a vector and a reason to have none', () => {
  expect(Object.keys(WITHOUT_VECTOR).filter((code) => published.has(code))).toEqual([]);
});

it('every code belongs to a namespace with vectors, or to one with a reason to have none', () => {
  const namespaces = new Set(Object.keys(catalogue).map((code) => code.split('.')[0]));
  const listed = [...NAMESPACES, ...Object.keys(NOT_BYTES)];
  expect(new Set(listed)).toEqual(namespaces);
  expect(listed).toHaveLength(namespaces.size);
});
