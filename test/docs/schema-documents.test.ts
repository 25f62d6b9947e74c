import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryAccess } from '../../src/bytes/index.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { collect, NOW } from '../support/evidence.ts';
import { receiptFacts } from '../support/receipts.ts';
import { objectOfRole, parseBundleManifest } from '../../src/evidence/index.ts';
import { receiptBytes, type MirrorReceipt } from '../../src/evidence/export/receipt.ts';
import { openZip } from '../../src/zip/index.ts';
import { call, scratch, writeEvidence } from '../cli/make.ts';
import { readVectors } from '../vectors/read.ts';
import { damaged, faultsOf, schemaOf } from './schema-of.ts';

/** The kinds of vectors with one document, and the member that has it. */
const VECTORS = [
  ['bundle-manifests', 'bundle-manifest', 'manifest', 'utf8'],
  ['export-manifests', 'export-manifest', 'manifest', 'utf8'],
  ['attestations', 'attestation', 'attestation', 'utf8'],
  ['attestations', 'trust-store', 'trust', 'utf8'],
  ['trust-stores', 'trust-store', 'base64', 'base64'],
  ['judge-key', 'trust-store', 'trust', 'utf8'],
  ['tool-sources', 'tool-source', 'resource', 'utf8'],
  ['tool-sources', 'build-lock', 'lock', 'utf8'],
] as const;

const inputSchema = z.record(z.string(), z.unknown());

describe.each(VECTORS)('the documents of the vectors %s', (kind, name, member, encoding) => {
  const schema = schemaOf(name);
  const valid = readVectors(kind)
    .cases.filter(({ expected }) => expected.verdict === 'valid')
    .map(({ input }) => inputSchema.parse(input)[member])
    .filter((text) => typeof text === 'string')
    .map((text): unknown => JSON.parse(Buffer.from(text, encoding).toString()));

  it(`every valid ${name} in the vectors ${kind} follows its schema`, () => {
    expect(valid.length).toBeGreaterThan(0);
    expect(valid.flatMap((document) => faultsOf(schema, document))).toEqual([]);
  });

  it(`a ${name} in the vectors ${kind} does not follow its schema with a wrong type or an unknown member`, () => {
    // Members that RFC 7517 allows in a key but that add no trust can have any value.
    const free = /\/(?:ext|x5u|x5c|x5t|x5t#S256)[:/]/;
    const passed = valid
      .slice(0, 5)
      .flatMap((document) => [...damaged(document)])
      .filter(([what, copy]) => !free.test(what) && schema(copy));
    expect(passed.map(([what]) => what)).toEqual([]);
  });
});

const follows = (name: string, text: string): void =>
  expect(faultsOf(schemaOf(name), JSON.parse(text))).toEqual([]);

const ROLES = '--role journal.jsonl=evidence --role state.json=state --role trace.json=trajectory';

describe('a receipt of a mirror', () => {
  const failures = [{ path: 'parts/a.zip', code: 'part.DIGEST_MISMATCH', message: 'other bytes' }];
  const run = { ...receiptFacts, outcome: 'incomplete' as const, failures };
  const receipt: MirrorReceipt = { schemaVersion: 1, kind: 'mirror.receipt', ...run, finishedAtMs: NOW };
  const schema = schemaOf('mirror-receipt');

  it('a receipt of a mirror follows its schema as it is written', () => {
    expect(faultsOf(schema, JSON.parse(Buffer.from(receiptBytes(receipt)).toString()))).toEqual([]);
  });

  it('no damaged copy of a receipt follows its schema', () => {
    expect([...damaged(receipt)].filter(([, copy]) => schema(copy)).map(([what]) => what)).toEqual([]);
  });
});

describe('what the command writes', () => {
  let dir: Awaited<ReturnType<typeof scratch>>;
  beforeAll(async () => {
    dir = await scratch();
    await writeEvidence(dir.root);
  });
  afterAll(() => dir[Symbol.asyncDispose]());

  const at = (name: string): string => dir.path(name);

  it.each([
    ['trust-store', 'trust.json'],
    ['run-file', 'run-1.json'],
    ['export-manifest', 'export/manifest.json'],
    ['export-resource', 'export/export.json'],
    ['export-attestation', 'export/export-attestation.json'],
  ])('the command writes a document that follows the schema %s: %s', async (name, file) => {
    follows(name, await readFile(at(file), 'utf8'));
  });

  it('every document in a packed part follows its schema', async () => {
    const archive = await openZip(memoryAccess(await readFile(at('part-1.zip'))));
    const text = async (name: string): Promise<string> => {
      const entry = archive.entries.find((candidate) => candidate.name === name);
      return entry === undefined ? 'null' : Buffer.from(await collect(archive.read(entry))).toString();
    };
    const manifest = parseBundleManifest(toUtf8(await text('manifest.json')));
    follows('bundle-manifest', await text('manifest.json'));
    follows('attestation', await text('attestation.json'));
    follows('run-result', await text(objectOfRole(manifest, 'run-result')?.path ?? ''));
  });

  it.each([
    [0, '--at 2100-01-01', 'export'],
    [1, '--compromised', 'export absent part-1.zip'],
    [3, '--at 2100-01-01', 'export absent'],
  ])('the JSON of a key plan with exit code %d follows its schema', async (code, how, paths) => {
    const { kid } = JSON.parse(await readFile(at('trust.json'), 'utf8')).keys[0] as { kid: string };
    const home = process.cwd();
    process.chdir(dir.root);
    const line = `keys plan --retire ${kid} ${how} --trust trust.json --json ${paths}`.split(' ');
    const ended = await call(line).finally(() => process.chdir(home));
    expect(ended.code).toBe(code);
    follows('key-plan', ended.stdout);
  });

  it.each([
    ['export-report', 0, ['verify', 'export', '--trust', 'trust.json']],
    ['bundle-report', 0, ['verify', 'part-1.zip', '--trust', 'trust.json']],
    ['bundle-report', 1, ['verify', 'part-1.zip']],
    ['reports', 1, ['verify', 'part-1.zip', 'export']],
    ['reports', 2, ['verify', 'part-1.zip', 'absent', '--trust', 'trust.json']],
    ['error', 2, ['verify', 'absent']],
    ['error', 2, ['verify']],
    ['error', 2, ['explain', 'part.BYTES_MISMATCHED']],
    ['export-contents', 0, ['inspect', 'export']],
    ['part-contents', 0, ['inspect', 'part-1.zip']],
    ['local-reports', 0, ['reports', 'export']],
    ['code', 0, ['explain', 'part.DIGEST_MISMATCH']],
    ['code', 0, ['explain', 'bundle.UNSIGNED']],
    ['check', 0, ['explain', 'part.bytes']],
    ['word', 0, ['explain', 'intact']],
    ['codes', 0, ['explain']],
    ['packed-export', 0, ['export', 'part-1.zip', '--out', 'second']],
    ['packed-bundle', 0, `pack run-1 --run run-1.json --unsigned ${ROLES} --out third.zip`.split(' ')],
    ['selftest-report', 0, ['selftest', '--kind', 'hex', '--platform', 'native']],
    ['selftest-report', 1, ['selftest', '--kind', 'hex', '--exec', 'true #']],
  ])('output follows the schema %s, exit code %d: drillproof %j', async (name, code, line) => {
    const home = process.cwd();
    process.chdir(dir.root);
    const ended = await call([...line, '--json']).finally(() => process.chdir(home));
    expect(ended.code).toBe(code);
    follows(name, ended.stdout);
  });
});
