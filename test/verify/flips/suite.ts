import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { memorySource, zipSource } from '../../../src/evidence/source.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import { verifyPart } from '../../../src/verify/part/part.ts';
import type { BundleReport, ExportReport } from '../../../src/verify/report.ts';
import { openZip } from '../../../src/zip/read/open.ts';
import {
  codesOf,
  makeExport,
  makeTrust,
  NOW,
  pack,
  unpack,
  type MadeExport,
} from '../../support/evidence.ts';
import { isExhaustive } from '../../support/deep.ts';

type Files = Record<string, Uint8Array>;
type Result = BundleReport | ExportReport | DrillproofError;

const PART = 'parts/evidence_000000000001.zip';
const DOCUMENTS = ['manifest.json', 'export.json', 'export-attestation.json'];

/** Changes of a byte: its lowest bit, its highest bit, all bits cleared, all bits set. */
const PATTERNS: readonly (readonly [name: string, change: (byte: number) => number])[] = [
  ['^ 0x01', (byte) => byte ^ 0x01],
  ['^ 0x80', (byte) => byte ^ 0x80],
  ['0x00', () => 0x00],
  ['0xff', () => 0xff],
];

/** Members of export.json that the manifest does not determine, so that they may change (formats §1, Agreement). */
const CLAIMED = [
  'operationId',
  'requestedBy',
  'createdAtMs',
  'updatedAtMs',
  'completedAtMs',
  'completedBundleCount',
  'completedLocalReportCount',
];

/** Copies of the bytes with one byte changed at every `stride`-th offset. By default, each offset gets one pattern. */
function* flips(
  bytes: Uint8Array,
  stride: number,
  every = isExhaustive,
): Generator<{ what: string; copy: Uint8Array }> {
  for (let at = 0; at < bytes.length; at += isExhaustive ? 1 : stride) {
    const patterns = every ? PATTERNS : [PATTERNS[(at / stride) % PATTERNS.length]!];
    for (const [name, change] of patterns) {
      const byte = change(bytes[at]!);
      if (byte !== bytes[at]) yield { what: `byte ${at} ${name}`, copy: bytes.with(at, byte) };
    }
  }
}

/** A report, or the coded error of a refusal. */
async function collectReport(act: () => Promise<BundleReport | ExportReport>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof DrillproofError) return error;
    throw error;
  }
}

const verdictOf = (result: Result): string =>
  result instanceof DrillproofError ? result.code : result.verdict;

/** Requirement 13 with the primitives of this process, at every `stride`-th byte. */
export function testFlips(stride: number): void {
  let sample: MadeExport;
  let zip: Uint8Array;
  const options = () => ({ asOfMs: NOW, trust: makeTrust(sample.signer) });
  const verifyFolder = (files: Files): Promise<Result> =>
    collectReport(() => verifyExport(memorySource(files), options()));
  const verifyFile = (bytes: Uint8Array): Promise<Result> =>
    collectReport(async () => verifyExport(zipSource(await openZip(memoryAccess(bytes))), options()));

  beforeAll(async () => {
    sample = await makeExport({ parts: 1, reports: 0 });
    zip = await pack(Object.entries(sample.files));
  });

  describe('requirement 13: one byte of an export in a folder is flipped', () => {
    test('the unchanged export is verified', async () => {
      expect(verdictOf(await verifyFolder(sample.files))).toBe('verified');
      expect(verdictOf(await verifyFile(zip))).toBe('verified');
    });

    test.each(DOCUMENTS)('in %s: failed, unless only unsigned words of export.json changed', async (path) => {
      for (const { what, copy } of flips(sample.files[path]!, stride, true)) {
        const verdict = verdictOf(await verifyFolder({ ...sample.files, [path]: copy }));
        if (verdict === 'verified')
          expect([what, path, onlyClaimsChanged(sample.files[path]!, copy)]).toEqual([
            what,
            'export.json',
            true,
          ]);
        else expect([what, verdict]).toEqual([what, 'failed']);
      }
    });
  });

  describe('requirement 13: one byte of an archive is flipped', () => {
    test.each([
      ['stored', 1],
      ['deflated', 3],
    ])('of a %s part by itself: failed, or all content is unchanged', async (form, factor) => {
      const content = await unpack(sample.files[PART]!);
      const part = form === 'stored' ? await pack(content) : sample.files[PART]!;
      for (const { what, copy } of flips(part, stride * factor)) {
        const report = await collectReport(() => verifyPart(memoryAccess(copy), options()));
        if (verdictOf(report) === 'verified') {
          expect([what, await unpack(copy)]).toEqual([what, content]);
          if (form === 'stored' && 'findings' in report)
            expect([what, codesOf(report)]).toEqual([what, ['zip.METADATA_UNUSUAL']]);
        } else expect([what, verdictOf(report)]).toEqual([what, 'failed']);
      }
    });

    test('of an export in one file: not verified, unless all content is unchanged', async () => {
      const content = await unpack(zip);
      for (const { what, copy } of flips(zip, stride * 3)) {
        const report = await verifyFile(copy);
        if (verdictOf(report) === 'verified') expect([what, await unpack(copy)]).toEqual([what, content]);
        else
          expect([what, verdictOf(report)]).toEqual([
            what,
            expect.stringMatching(/^(?:failed|zip\.[A-Z_]+)$/),
          ]);
      }
    });
  });
}

/** Compares two forms of export.json, apart from the members that the manifest does not determine. */
const onlyClaimsChanged = (before: Uint8Array, after: Uint8Array): boolean =>
  isDeepStrictEqual(withoutClaims(before), withoutClaims(after));

function withoutClaims(bytes: Uint8Array): Record<string, unknown> {
  const members = Object.entries(JSON.parse(new TextDecoder().decode(bytes)) as object);
  return Object.fromEntries(members.filter(([name]) => !CLAIMED.includes(name)));
}
