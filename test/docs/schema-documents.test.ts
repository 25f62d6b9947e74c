import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { describe, expect, it } from 'vitest';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { collect, NOW } from '../support/evidence.ts';
import { receiptFacts } from '../support/receipts.ts';
import { objectOfRole, parseBundleManifest } from '../../src/evidence/bundle/manifest.ts';
import type { MirrorReceipt } from '../../src/evidence/export/receipt.ts';
import { openZip } from '../../src/zip/read/open.ts';
import { call, ROLES, useEvidenceFolder } from '../cli/make.ts';
import { readVectors } from '../vectors/read.ts';
import { faultsOf, missedFaults, schemaOf } from './schema-of.ts';

const inputSchema = z.record(z.string(), z.unknown());

// The kind of the vectors, the schema, and the member that has the document.
describe.each([
  ['bundle-manifests', 'bundle-manifest', 'manifest', 'utf8'],
  ['export-manifests', 'export-manifest', 'manifest', 'utf8'],
  ['attestations', 'attestation', 'attestation', 'utf8'],
  ['attestations', 'trust-store', 'trust', 'utf8'],
  ['trust-stores', 'trust-store', 'base64', 'base64'],
  ['check-key', 'trust-store', 'trust', 'utf8'],
  ['tool-sources', 'tool-source', 'resource', 'utf8'],
  ['tool-sources', 'build-lock', 'lock', 'utf8'],
] as const)('the documents of the vectors %s', (kind, name, member, encoding) => {
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

  it(`no damaged copy of a ${name} in the vectors ${kind} follows its schema`, () => {
    // Members that RFC 7517 allows in a key but that add no trust can have any value.
    const free = /\/(?:ext|x5u|x5c|x5t|x5t#S256)[:/]/;
    const faults = missedFaults(schema, valid.slice(0, 5));
    expect(faults.filter((fault) => !free.test(fault))).toEqual([]);
  });
});

const expectValid = (name: string, text: string): void =>
  expect(faultsOf(schemaOf(name), JSON.parse(text))).toEqual([]);

it('a receipt follows its schema as it is written, and no damaged copy does', () => {
  const failures = [{ path: 'parts/a.zip', code: 'part.DIGEST_MISMATCH', message: 'other bytes' }];
  const run = { ...receiptFacts, outcome: 'incomplete' as const, failures };
  const receipt: MirrorReceipt = { schemaVersion: 1, kind: 'mirror.receipt', ...run, finishedAtMs: NOW };
  expectValid('mirror-receipt', Buffer.from(canonicalBytes(receipt)).toString());
  expect(missedFaults(schemaOf('mirror-receipt'), [receipt])).toEqual([]);
});

describe('documents that the command writes', () => {
  useEvidenceFolder();
  it.each([
    ['trust-store', 'trust.json'],
    ['run-file', 'run-1.json'],
    ['export-manifest', 'export/manifest.json'],
    ['export-resource', 'export/export.json'],
    ['export-attestation', 'export/export-attestation.json'],
  ])('the command writes a document that follows the schema %s: %s', async (name, file) => {
    expectValid(name, await readFile(file, 'utf8'));
  });

  it('every document in a packed part follows its schema', async () => {
    const archive = await openZip(memoryAccess(await readFile('part-1.zip')));
    const text = async (name: string): Promise<string> => {
      const entry = archive.entries.find((candidate) => candidate.name === name);
      return entry === undefined ? 'null' : Buffer.from(await collect(archive.read(entry))).toString();
    };
    const manifest = parseBundleManifest(toUtf8(await text('manifest.json')));
    expectValid('bundle-manifest', await text('manifest.json'));
    expectValid('attestation', await text('attestation.json'));
    expectValid('run-result', await text(objectOfRole(manifest, 'run-result')?.path ?? ''));
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
    ['code', 0, ['explain', 'part.DIGEST_MISMATCH']],
    ['code', 0, ['explain', 'bundle.UNSIGNED']],
    ['check', 0, ['explain', 'part.bytes']],
    ['word', 0, ['explain', 'intact']],
    ['codes', 0, ['explain']],
    ['packed-export', 0, ['export', 'part-1.zip', '--out', 'second']],
    ['packed-bundle', 0, `pack run-1 --run run-1.json --unsigned ${ROLES} --out third.zip`.split(' ')],
    ['selftest-report', 0, ['selftest', '--kind', 'hex']],
    ['selftest-report', 1, ['selftest', '--kind', 'hex', '--exec', 'true #']],
  ])('output follows the schema %s, exit code %d: drillproof %j', async (name, code, line) => {
    const ended = await call([...line, '--json']);
    expect(ended.code).toBe(code);
    expectValid(name, ended.stdout);
  });
});
