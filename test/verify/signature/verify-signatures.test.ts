import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { memorySource, type EvidenceSource } from '../../../src/evidence/index.ts';
import { RETIREMENTS, retireKey, type TrustStore } from '../../../src/trust/index.ts';
import {
  findBundleStanding,
  verifyPartSignature,
  verifyExportSignatures,
  findListStanding,
  compareStandings,
  verifyExport,
  type SignatureStanding,
} from '../../../src/verify/index.ts';
import {
  ISSUER,
  makeExport,
  makePart,
  makeSigner,
  makeTrust,
  NOW,
  repacked,
} from '../../support/evidence.ts';

const FIRST = 'parts/evidence_000000000001.zip';
const made = await makeExport();
const trust = makeTrust(made.signer);

const judge = (files: Record<string, Uint8Array>, store = trust) =>
  verifyExportSignatures(memorySource(files), { asOfMs: NOW, trust: store });
const standings = (judged: readonly SignatureStanding[]) => judged.map(({ standing }) => standing);
const without = (path: string): Record<string, Uint8Array> =>
  Object.fromEntries(Object.entries(made.files).filter(([name]) => name !== path));

describe('the signatures of an export', () => {
  it('are listed with the list first and the parts in their order', async () => {
    expect(await judge(made.files)).toMatchObject([
      { kind: 'list', standing: 'stands', signer: { issuer: ISSUER }, codes: [] },
      { kind: 'bundle', id: 'evidence_000000000001', path: FIRST, standing: 'stands' },
      { kind: 'bundle', id: 'evidence_000000000002', standing: 'stands' },
    ]);
  });

  it('are refused with a code when the key is not trusted', async () => {
    const judged = await judge(made.files, makeTrust(makeSigner()));
    expect(standings(judged)).toEqual(['refused', 'refused', 'refused']);
    expect(judged.map(({ codes }) => codes.includes('trust.KEY_UNKNOWN'))).toEqual([true, true, true]);
  });

  it('are refused when their bundle is not the listed one', async () => {
    const files = { ...made.files, [FIRST]: (await makePart(9, made.signer)).bytes };
    expect(standings(await judge(files))).toEqual(['stands', 'refused', 'stands']);
  });

  it('are unsigned without attestations', async () => {
    const { files } = await makeExport({ signer: made.signer, signedParts: false, signedList: false });
    expect(standings(await judge(files))).toEqual(['unsigned', 'unsigned', 'unsigned']);
  });

  it('are unread, never refused, when the bytes are unavailable', async () => {
    expect(standings(await judge(without(FIRST)))).toEqual(['stands', 'unread', 'stands']);
    const cut = made.files[FIRST]!.subarray(0, 100);
    expect(standings(await judge({ ...made.files, [FIRST]: cut }))).toEqual(['stands', 'unread', 'stands']);
    expect(standings(await judge(without('manifest.json')))).toEqual(['unread']);
    expect(
      standings(await judge({ ...without('manifest.json'), 'manifest.json': new Uint8Array(3) })),
    ).toEqual(['unread']);
  });

  it('are unread, never unsigned, where the list could not be read', async () => {
    const { files } = await makeExport({ signer: made.signer, signedList: false });
    expect(standings(await judge(files))).toEqual(['unsigned', 'stands', 'stands']);
    expect(standings(await judge({ ...files, 'manifest.json': new Uint8Array(3) }))).toEqual(['unread']);
  });

  it('are unread when the tree cannot be listed', async () => {
    const source: EvidenceSource = {
      ...memorySource(made.files),
      files: () => Promise.reject(new DrillproofError('io.UNREADABLE', 'no right to read')),
    };
    expect(standings(await verifyExportSignatures(source, { asOfMs: NOW, trust }))).toEqual(['unread']);
  });

  it('name why a part was not read', async () => {
    const whole = memorySource(made.files);
    const irregular: EvidenceSource = {
      ...whole,
      files: async () =>
        (await whole.files()).map((file) => (file.path === FIRST ? { ...file, regular: false } : file)),
    };
    const unreadable: EvidenceSource = {
      ...whole,
      open: (path) =>
        path === FIRST ? Promise.reject(new DrillproofError('io.UNREADABLE', 'no')) : whole.open(path),
    };
    for (const [source, code] of [
      [memorySource(without(FIRST)), 'part.MISSING'],
      [irregular, 'export.FILE_IRREGULAR'],
      [unreadable, 'io.UNREADABLE'],
    ] as const) {
      const [, part] = await verifyExportSignatures(source, { asOfMs: NOW, trust });
      expect(part).toMatchObject({ path: FIRST, standing: 'unread', codes: [code] });
    }
  });

  it('are never valid in a part whose manifest is invalid', async () => {
    const broken = await repacked(made.files[FIRST]!, (entries) => {
      entries.set('manifest.json', new Uint8Array(3));
    });
    const [, part] = await judge({ ...made.files, [FIRST]: broken });
    expect(part).toMatchObject({ path: FIRST, id: 'evidence_000000000001' });
    expect(part?.standing).not.toBe('stands');
    expect(part?.codes).not.toContain('internal.UNEXPECTED');
  });

  it('are verified without reading the objects', async () => {
    const bytes = Uint8Array.from(made.files[FIRST]!);
    const at = Buffer.from(bytes).indexOf('objects/state.json') + 'objects/state.json'.length + 2;
    bytes[at]! ^= 1;
    const files = { ...made.files, [FIRST]: bytes };
    expect(standings(await judge(files))).toEqual(['stands', 'stands', 'stands']);
    expect((await verifyExport(memorySource(files), { asOfMs: NOW, trust })).verdict).toBe('failed');
  });

  it('report progress for each part, and stop when aborted', async () => {
    const seen: string[] = [];
    const onProgress = (done: number, of: number) => void seen.push(`${done}/${of}`);
    await verifyExportSignatures(memorySource(made.files), {
      asOfMs: NOW,
      trust,
      onProgress,
      concurrency: 2,
    });
    expect(seen).toEqual(['1/2', '2/2']);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(
      verifyExportSignatures(memorySource(made.files), { asOfMs: NOW, trust, signal }),
    ).rejects.toThrow('enough');
  });
});

it('the signature of a single part is verified', async () => {
  const options = { asOfMs: NOW, trust };
  expect(await verifyPartSignature(memoryAccess(made.files[FIRST]!), options)).toMatchObject({
    kind: 'bundle',
    id: 'evidence_000000000001',
    standing: 'stands',
  });
  expect(await verifyPartSignature(memoryAccess(new Uint8Array(10)), options)).toMatchObject({
    standing: 'unread',
  });
});

it.each(RETIREMENTS)(
  'a change of the trust store has the same effect by the signatures alone and by a whole verification: %s',
  async (how) => {
    for (const atMs of [NOW - 50_001, NOW - 50_000, NOW - 49_999]) {
      const { keyId } = made.signer;
      const after = retireKey(trust, { issuer: ISSUER, keyId, how, atMs });
      const fully = async (store: TrustStore) => {
        const report = await verifyExport(memorySource(made.files), { asOfMs: NOW, trust: store });
        return [findListStanding(report), ...report.parts.map(findBundleStanding)];
      };
      const quick = compareStandings(await judge(made.files), await judge(made.files, after));
      const whole = compareStandings(await fully(trust), await fully(after));
      const short = (effects: typeof quick) => effects.map(({ id, outcome }) => `${id} ${outcome}`);
      expect(short(quick)).toEqual(short(whole));
    }
  },
);
