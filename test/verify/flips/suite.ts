import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { memorySource, zipSource } from '../../../src/evidence/index.ts';
import { verifyExport, verifyPart, type BundleReport, type ExportReport } from '../../../src/verify/index.ts';
import { openZip } from '../../../src/zip/index.ts';
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
type Judgement = BundleReport | ExportReport | DrillproofError;

const PART = 'parts/evidence_000000000001.zip';
const DOCUMENTS = ['manifest.json', 'export.json', 'export-attestation.json'];

/** What becomes of a byte: its lowest and its highest bit, nothing, everything. */
const PATTERNS: readonly (readonly [name: string, change: (byte: number) => number])[] = [
  ['^ 0x01', (byte) => byte ^ 0x01],
  ['^ 0x80', (byte) => byte ^ 0x80],
  ['0x00', () => 0x00],
  ['0xff', () => 0xff],
];

/**
 * Members of export.json that the manifest does not determine: nobody signed them, and formats §1 (Agreement) says so.
 * A change of anything else has to be seen.
 */
const CLAIMED = [
  'operationId',
  'requestedBy',
  'createdAtMs',
  'updatedAtMs',
  'completedAtMs',
  'completedBundleCount',
  'completedLocalReportCount',
];

/** In archives the byte patterns are taken in turn unless all are asked for, so that the gate stays short. */
const ALL = isExhaustive;

/** Every copy of the bytes in which one byte is another: from all offsets, or from every `stride`-th. */
function* flips(
  bytes: Uint8Array,
  stride: number,
  every = ALL,
): Generator<{ what: string; copy: Uint8Array; at: number }> {
  for (let at = 0; at < bytes.length; at += ALL ? 1 : stride) {
    const patterns = every ? PATTERNS : [PATTERNS[(at / stride) % PATTERNS.length]!];
    for (const [name, change] of patterns) {
      const byte = change(bytes[at]!);
      if (byte !== bytes[at]) yield { what: `byte ${at} ${name}`, copy: bytes.with(at, byte), at };
    }
  }
}

/** A report, or the error with a code that says why there is none. */
async function judged(act: () => Promise<BundleReport | ExportReport>): Promise<Judgement> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof DrillproofError) return error;
    throw error;
  }
}

const verdictOf = (judgement: Judgement): string =>
  judgement instanceof DrillproofError ? judgement.code : judgement.verdict;

/** Requirement 13, by the primitives that this process runs on; every `stride`-th byte in the gate. */
export function noFlipIsVerified(stride: number): void {
  let made: MadeExport;
  let zip: Uint8Array;
  const options = (): { asOfMs: number; trust: ReturnType<typeof makeTrust> } => ({
    asOfMs: NOW,
    trust: makeTrust(made.signer),
  });
  const folder = (files: Files): Promise<Judgement> =>
    judged(() => verifyExport(memorySource(files), options()));
  const file = (bytes: Uint8Array): Promise<Judgement> =>
    judged(async () => verifyExport(zipSource(await openZip(memoryAccess(bytes))), options()));

  beforeAll(async () => {
    made = await makeExport({ parts: 1, reports: 0 });
    zip = await pack(Object.entries(made.files));
  });

  describe('requirement 13: one byte of an export in a folder is flipped', () => {
    test('nothing is, and it is verified', async () => {
      expect(verdictOf(await folder(made.files))).toBe('verified');
      expect(verdictOf(await file(zip))).toBe('verified');
    });

    test.each(DOCUMENTS)('in %s: failed, unless only unsigned words of export.json changed', async (path) => {
      for (const { what, copy } of flips(made.files[path]!, stride, true)) {
        const verdict = verdictOf(await folder({ ...made.files, [path]: copy }));
        if (verdict === 'verified')
          expect([what, path, onlyClaimsChanged(made.files[path]!, copy)]).toEqual([
            what,
            'export.json',
            true,
          ]);
        else expect([what, verdict]).toEqual([what, 'failed']);
      }
    });

    test('in a part: failed, by its SHA-256', async () => {
      for (const { what, copy } of flips(made.files[PART]!, stride * 3)) {
        const report = await folder({ ...made.files, [PART]: copy });
        expect([what, verdictOf(report)]).toEqual([what, 'failed']);
        if ('parts' in report) expect(report.parts.flatMap(codesOf)).toContain('part.DIGEST_MISMATCH');
      }
    });
  });

  describe('requirement 13: one byte of an archive is flipped', () => {
    test('of a stored part by itself: failed, or all content is unchanged and a warning names the change', async () => {
      const content = await unpack(made.files[PART]!);
      const part = await pack(content);
      const silent = await versionsMadeBy(part);
      for (const { what, copy, at } of flips(part, stride)) {
        const report = await judged(() => verifyPart(memoryAccess(copy), options()));
        if (verdictOf(report) !== 'verified') {
          expect([what, verdictOf(report)]).toEqual([what, 'failed']);
          continue;
        }
        expect(await unpack(copy)).toEqual(content);
        if (!silent.has(at))
          expect([what, 'findings' in report && codesOf(report)]).toEqual([what, ['zip.METADATA_UNUSUAL']]);
      }
    });

    test('of a deflated part by itself: failed, or all content is unchanged', async () => {
      const part = made.files[PART]!;
      const content = await unpack(part);
      for (const { what, copy } of flips(part, stride * 3)) {
        const report = await judged(() => verifyPart(memoryAccess(copy), options()));
        if (verdictOf(report) === 'verified') expect([what, await unpack(copy)]).toEqual([what, content]);
        else expect([what, verdictOf(report)]).toEqual([what, 'failed']);
      }
    });

    test('of an export in one file: not verified, unless all content is unchanged', async () => {
      const content = await unpack(zip);
      for (const { what, copy } of flips(zip, stride * 3)) {
        const report = await file(copy);
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

/** Whether two forms of export.json differ in nothing but what formats §1 calls the words of whoever wrote it. */
const onlyClaimsChanged = (before: Uint8Array, after: Uint8Array): boolean =>
  isDeepStrictEqual(withoutClaims(before), withoutClaims(after));

function withoutClaims(bytes: Uint8Array): Record<string, unknown> {
  const members = Object.entries(JSON.parse(new TextDecoder().decode(bytes)) as object);
  return Object.fromEntries(members.filter(([name]) => !CLAIMED.includes(name)));
}

/** Offsets of "version made by" in the central directory: which tool wrote the archive (formats §1, Part archive). */
async function versionsMadeBy(zip: Uint8Array): Promise<Set<number>> {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.length);
  const offsets = new Set<number>();
  let at = view.getUint32(zip.length - 6, true);
  for (const _ of (await openZip(memoryAccess(zip))).entries) {
    offsets.add(at + 4).add(at + 5);
    at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return offsets;
}
