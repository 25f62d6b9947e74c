import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import { RETIREMENTS, retireKey, type TrustStore } from '../../../src/trust/store.ts';
import {
  findBundleStanding,
  findListStanding,
  compareStandings,
} from '../../../src/verify/signature/standing.ts';
import {
  verifyPartSignature,
  verifyExportSignatures,
} from '../../../src/verify/signature/verify-signatures.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import { ISSUER, makeExport, makePart, makeSigner, makeTrust, NOW, repack } from '../../support/evidence.ts';
import { options, PART, sample, source, trust } from '../export/setup.ts';
import { failListing, failReads, omitFiles, replaceByLink } from '../sources.ts';

const verify = (files: Record<string, Uint8Array>, store = trust) =>
  verifyExportSignatures(memorySource(files), { asOfMs: NOW, trust: store });
const standingsOf = async (...how: Parameters<typeof verify>) =>
  (await verify(...how)).map(({ standing }) => standing);
const verifyWhole = async (store: TrustStore) => {
  const report = await verifyExport(source, { asOfMs: NOW, trust: store });
  return [findListStanding(report), ...report.parts.map(findBundleStanding)];
};
const withFile = (path: string, bytes: Uint8Array) => ({ ...sample.files, [path]: bytes });

describe('the signatures of an export', () => {
  it('are listed with the list first and the parts in their order', async () => {
    expect(await verify(sample.files)).toMatchObject([
      { kind: 'list', standing: 'stands', signer: { issuer: ISSUER }, codes: [] },
      { kind: 'bundle', id: 'evidence_000000000001', path: PART, standing: 'stands' },
      { kind: 'bundle', id: 'evidence_000000000002', standing: 'stands' },
    ]);
  });

  it('are refused with a code when the key is not trusted', async () => {
    const refused = { standing: 'refused', codes: expect.arrayContaining(['trust.KEY_UNKNOWN']) };
    expect(await verify(sample.files, makeTrust(makeSigner()))).toMatchObject([refused, refused, refused]);
  });

  it('are unsigned without attestations', async () => {
    const { files } = await makeExport({ signer: sample.signer, signedParts: false, signedList: false });
    expect(await standingsOf(files)).toEqual(['unsigned', 'unsigned', 'unsigned']);
  });

  it('are refused for a bundle that is not the listed one', async () => {
    const other = withFile(PART, (await makePart(9, sample.signer)).bytes);
    expect(await standingsOf(other)).toEqual(['stands', 'refused', 'stands']);
  });

  const firstUnread = ['stands', 'unread', 'stands'];
  it.each([
    ['a part is missing', omitFiles(sample.files, PART), firstUnread],
    ['a part is truncated', withFile(PART, sample.files[PART]!.subarray(0, 100)), firstUnread],
    ['the manifest is missing', omitFiles(sample.files, 'manifest.json'), ['unread']],
    ['the manifest is invalid', withFile('manifest.json', new Uint8Array(3)), ['unread']],
  ])('are unread, never refused, when %s', async (_, files, standings) => {
    expect(await standingsOf(files)).toEqual(standings);
  });

  it('are unread, never unsigned, when the list could not be read', async () => {
    const { files } = await makeExport({ signer: sample.signer, signedList: false });
    expect(await standingsOf(files)).toEqual(['unsigned', 'stands', 'stands']);
    expect(await standingsOf({ ...files, 'manifest.json': new Uint8Array(3) })).toEqual(['unread']);
  });

  it('are unread when the tree cannot be listed', async () => {
    expect(await verifyExportSignatures(failListing(source), options)).toMatchObject([
      { standing: 'unread' },
    ]);
  });

  it.each([
    [memorySource(omitFiles(sample.files, PART)), 'part.MISSING'],
    [replaceByLink(source, PART), 'export.FILE_IRREGULAR'],
    [failReads(source, PART), 'io.UNREADABLE'],
  ] as const)('have the code of a part that was not read: $1', async (from, code) => {
    const [, part] = await verifyExportSignatures(from, options);
    expect(part).toMatchObject({ path: PART, standing: 'unread', codes: [code] });
  });

  it('are never valid in a part whose manifest is invalid', async () => {
    const broken = await repack(
      sample.files[PART]!,
      (entries) => void entries.set('manifest.json', new Uint8Array(3)),
    );
    const [, part] = await verify(withFile(PART, broken));
    expect(part).toMatchObject({ path: PART, id: 'evidence_000000000001' });
    expect(part?.standing).not.toBe('stands');
    expect(part?.codes).not.toContain('internal.UNEXPECTED');
  });

  it('are verified without reading the objects', async () => {
    const bytes = Uint8Array.from(sample.files[PART]!);
    const at = Buffer.from(bytes).indexOf('objects/state.json') + 'objects/state.json'.length + 2;
    bytes[at]! ^= 1;
    const files = withFile(PART, bytes);
    expect(await standingsOf(files)).toEqual(['stands', 'stands', 'stands']);
    expect((await verifyExport(memorySource(files), options)).verdict).toBe('failed');
  });

  it('report progress for each part, and stop when aborted', async () => {
    const seen: string[] = [];
    const onProgress = (done: number, total: number) => void seen.push(`${done}/${total}`);
    await verifyExportSignatures(source, { ...options, onProgress, concurrency: 2 });
    expect(seen).toEqual(['1/2', '2/2']);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(verifyExportSignatures(source, { ...options, signal })).rejects.toThrow('enough');
  });
});

it('the signature of a single part is verified', async () => {
  expect(await verifyPartSignature(memoryAccess(sample.files[PART]!), options)).toMatchObject({
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
      const { keyId } = sample.signer;
      const after = retireKey(trust, { issuer: ISSUER, keyId, how, atMs });
      const quick = compareStandings(await verify(sample.files), await verify(sample.files, after));
      const whole = compareStandings(await verifyWhole(trust), await verifyWhole(after));
      const short = (effects: typeof quick) => effects.map(({ id, outcome }) => `${id} ${outcome}`);
      expect(short(quick)).toEqual(short(whole));
    }
  },
);
