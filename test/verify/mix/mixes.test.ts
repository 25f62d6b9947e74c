import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { memorySource } from '../../../src/evidence/source.ts';
import { trustStore } from '../../../src/trust/store.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import { flipBit, idOf, makeExport, makeSigner, makeTrust, NOW } from '../../support/evidence.ts';
import { tries } from '../../support/deep.ts';
import { forAllAsync } from '../../support/property.ts';

type Files = Record<string, Uint8Array>;
const ISSUERS = ['https://a.example', 'https://b.example'] as const;
const ids = [idOf('evexp', 1), idOf('evexp', 2)];
// Two exports of two issuers, both trusted, over bundles of the same ids: everything of one fits into the other.
const signers = [makeSigner(), makeSigner()] as const;
const trust = trustStore(signers.flatMap((signer, i) => makeTrust(signer, { issuer: ISSUERS[i]! }).keys));
const make = async (i: 0 | 1): Promise<Files> => {
  const input = { evidenceExportId: ids[i]!, requestedBy: `user ${i}` };
  const bundle = { createdAtMs: NOW - 100_000 + i };
  return (await makeExport({ signer: signers[i], issuer: ISSUERS[i], input, bundle })).files;
};
const exports = [await make(0), await make(1)] as const;

type Act = {
  readonly kind: (typeof KINDS)[number];
  readonly path: number;
  readonly at: number;
  readonly bit: number;
};
const KINDS = ['flip', 'drop', 'duplicate', 'rename', 'cut', 'swap'] as const;
const acts: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...KINDS),
  path: fc.nat(),
  at: fc.nat(),
  bit: fc.nat(7),
});

/** Files after an act of tampering; names and places are taken modulo the number of them. */
function tamper(files: Files, act: Act): Files {
  const paths = Object.keys(files).toSorted();
  const path = paths[act.path % paths.length];
  if (path === undefined) return files;
  const bytes = files[path]!;
  const other = paths[act.at % paths.length]!;
  const { [path]: _taken, ...rest } = files;
  switch (act.kind) {
    case 'flip':
      return bytes.length === 0
        ? files
        : { ...files, [path]: flipBit(bytes, act.at % bytes.length, act.bit) };
    case 'cut':
      return { ...files, [path]: bytes.subarray(0, act.at % (bytes.length + 1)) };
    case 'drop':
      return rest;
    case 'duplicate':
      return { ...files, [path.replace(/(\.\w+)?$/, `-${act.at % 3}$1`)]: bytes };
    case 'rename':
      return { ...rest, [path.replace(/(\.\w+)?$/, `-${act.at % 3}$1`)]: bytes };
    case 'swap':
      return { ...files, [path]: files[other]!, [other]: bytes };
    default:
      return act.kind satisfies never;
  }
}

const same = (a: Files, b: Files): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([path, bytes]) => b[path] !== undefined && Buffer.compare(bytes, b[path]) === 0);

test('an export that was tampered with at random is verified only if all of its files are unchanged, byte for byte, and no other exists', async () => {
  await forAllAsync(tries(60, 400), [fc.array(acts, { minLength: 1, maxLength: 4 })], async (list) => {
    const original = exports[0];
    const files = list.reduce(tamper, original);
    const options = { asOfMs: NOW, trust, expect: { evidenceExportId: ids[0]! } };
    const report = await verifyExport(memorySource(files), options);
    if (report.verdict === 'verified') expect(onlyFreeChanged(files, original)).toBe(true);
    else expect(same(files, original)).toBe(false);
  });
});

/**
 * True if the evidence is unchanged, apart from two things that nothing binds: the signature of the list may be missing
 * (the list is then `claimed`), and export.json has fields that the manifest does not determine.
 */
function onlyFreeChanged(files: Files, original: Files): boolean {
  const bound = (all: Files): Files => {
    const { 'export.json': _resource, 'export-attestation.json': _attestation, ...rest } = all;
    return rest;
  };
  const attestation = files['export-attestation.json'];
  const isUnchanged =
    attestation === undefined || same({ attestation }, { attestation: original['export-attestation.json']! });
  return isUnchanged && same(bound(files), bound(original));
}
