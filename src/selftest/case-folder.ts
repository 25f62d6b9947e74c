import * as z from 'zod/mini';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson } from '../bytes/json/parse.ts';
import { toUtf8 } from '../bytes/text/encoding.ts';
import { DrillproofError } from '../errors.ts';
import { bytesOfBase64, bytesOfHex } from './outcome.ts';
import { countSchema } from '../contract/scalars.ts';
import { typeValue } from '../contract/type-value.ts';

/** The version of the vector files (vectors/README.md, Versions). */
const VERSION = 1;

const vectorSchema = z.strictObject({
  id: z.string().check(z.minLength(1)),
  comment: z.string(),
  flags: z.array(z.string()),
  input: z.unknown(),
  expected: z.looseObject({ verdict: z.enum(['valid', 'invalid']) }),
});

const fileSchema = z.strictObject({
  $schema: z.string(),
  version: z.literal(VERSION),
  kind: z.string(),
  about: z.string(),
  clause: z.string(),
  numberOfCases: countSchema,
  flags: z.record(z.string(), z.string()),
  cases: z.array(vectorSchema),
});

export type SelftestCase = z.infer<typeof vectorSchema>;
export type VectorFile = z.infer<typeof fileSchema>;

export const MAX_VECTOR_BYTES = 64 * 1024 * 1024;

/**
 * Parses a file of vectors. An unknown verdict and a wrong number of cases are refused, so that no case is skipped
 * silently.
 * @throws DrillproofError `selftest.VECTORS_INVALID`
 */
export function parseVectorFile(bytes: Uint8Array, name: string): VectorFile {
  const file = typeValue(fileSchema, parseStrict(bytes, name));
  if (!file.success) throw vectorsError(name, firstIssue(file.error));
  const { cases, numberOfCases } = file.data;
  if (cases.length !== numberOfCases)
    throw vectorsError(name, `it has ${cases.length} cases, but announces ${numberOfCases}`);
  if (new Set(cases.map(({ id }) => id)).size !== cases.length)
    throw vectorsError(name, 'an id is used twice');
  return file.data;
}

function parseStrict(bytes: Uint8Array, name: string): unknown {
  try {
    return parseJson(bytes, { maxBytes: MAX_VECTOR_BYTES });
  } catch (cause) {
    if (!(cause instanceof DrillproofError)) throw cause;
    throw vectorsError(name, cause.message, cause);
  }
}

const firstIssue = ({ issues: [first] }: z.core.$ZodError): string =>
  first === undefined
    ? 'it does not follow the schema'
    : `${first.path.map(String).join('/')}: ${first.message}`;

const vectorsError = (path: string, message: string, cause?: unknown): DrillproofError =>
  new DrillproofError('selftest.VECTORS_INVALID', `${path}: ${message}`, { path, cause });

const DECODERS = { text: toUtf8, hex: bytesOfHex, base64: bytesOfBase64 };

/** A member that is a file in a case folder, with the encoding of its text in the vectors. */
type MemberFile = { readonly name: string; readonly as: keyof typeof DECODERS };

const trust: MemberFile = { name: 'trust.json', as: 'text' };

/** The members of inputs that are written to separate files. All others stay in `case.json`. */
const MEMBER_FILES: Readonly<Record<string, Readonly<Record<string, MemberFile>>>> = {
  'strict-json': { hex: { name: 'document.json', as: 'hex' } },
  'canonical-json': { json: { name: 'document.json', as: 'text' } },
  'key-files': { base64: { name: 'key', as: 'base64' } },
  'trust-stores': { base64: { name: 'trust.json', as: 'base64' } },
  'check-key': { trust },
  archives: { zip: { name: 'archive.zip', as: 'base64' } },
  'bundle-manifests': { manifest: { name: 'manifest.json', as: 'text' } },
  'export-manifests': { manifest: { name: 'manifest.json', as: 'text' } },
  dsse: {
    envelope: { name: 'envelope.json', as: 'text' },
    manifest: { name: 'manifest.json', as: 'text' },
    part: { name: 'part.zip', as: 'base64' },
    trust,
  },
  attestations: { attestation: { name: 'attestation.json', as: 'text' }, trust },
  timestamps: { attestation: { name: 'attestation.json', as: 'text' }, trust },
  challenges: { ledger: { name: 'ledger.jsonl', as: 'text' }, trust },
  bundles: { zip: { name: 'part.zip', as: 'base64' }, trust },
  exports: { zip: { name: 'export.zip', as: 'base64' }, trust },
  summaries: { envelope: { name: 'envelope.json', as: 'text' }, trust },
  'tool-sources': {
    resource: { name: 'tool-source.json', as: 'text' },
    lock: { name: 'build.json', as: 'text' },
  },
};

type Input = Readonly<Record<string, unknown>>;
type CaseFiles = ReadonlyMap<string, Uint8Array>;

/**
 * Moves the bytes of an input to files with fixed names, so that no name of a case reaches the file system. A tree keeps
 * its paths as text, and its files are numbered.
 */
function moveToFiles(kind: string, input: Input): { input: Input; files: CaseFiles; members: Input } {
  const files = new Map<string, Uint8Array>();
  const members: Record<string, unknown> = {};
  const rest: Record<string, unknown> = { ...input };
  for (const [member, { name, as }] of Object.entries(MEMBER_FILES[kind] ?? {})) {
    const value = input[member];
    if (typeof value !== 'string') continue;
    files.set(name, DECODERS[as](value));
    members[member] = name;
    delete rest[member];
  }
  if (kind === 'exports' && 'files' in input) rest['files'] = moveTreeToFiles(input['files'], files);
  return { input: rest, files, members };
}

const treeSchema = z.record(z.string(), z.string());

function moveTreeToFiles(value: unknown, files: Map<string, Uint8Array>): readonly object[] {
  return Object.entries(treeSchema.parse(value)).map(([path, base64], at) => {
    const file = `file-${at}`;
    files.set(file, bytesOfBase64(base64));
    return { path, file };
  });
}

/** The version of the protocol between `selftest --exec` and a verifier (docs/formats/selftest.md). */
const PROTOCOL = 1;

const inputSchema = z.record(z.string(), z.unknown());

/** Writes a case to a new folder, without its expected outcome: `case.json` and the files that it names. */
export async function writeCaseFolder(folder: string, kind: string, testCase: SelftestCase): Promise<void> {
  const { input, files, members } = moveToFiles(kind, inputSchema.parse(testCase.input));
  await mkdir(folder);
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
  const task = { protocol: PROTOCOL, kind, id: testCase.id, input, files: members };
  await writeFile(join(folder, 'case.json'), `${JSON.stringify(task, null, 2)}\n`);
}
