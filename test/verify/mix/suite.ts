import { beforeAll, describe, expect, test } from 'vitest';
import { canonicalBytes, canonicalJson } from '../../../src/bytes/json/canonical.ts';
import { fromUtf8 } from '../../../src/bytes/text/encoding.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import type { Attestation, ExportAttestation } from '../../../src/contract/resources/attestation.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import type { TrustedKey } from '../../../src/trust/trusted-key.ts';
import type { TrustStore } from '../../../src/trust/store.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import { verifyPart } from '../../../src/verify/part/part.ts';
import type { VerifyOptions } from '../../../src/verify/options.ts';
import { errorsOf, makeSigner, NOW, pack, unpack, type MadeExport } from '../../support/evidence.ts';
import { makeSides, mixed, MIXES, VARIANTS, type MadeSide, type Mix, type Pair } from './sides.ts';

const PART = 'parts/evidence_000000000001.zip';
const EXPORT_ATTESTATION = 'export-attestation.json';

const bundleAttestation = ({ sample }: MadeSide): Attestation => sample.packedParts[0]!.attestation!;
const exportAttestation = ({ sample }: MadeSide): ExportAttestation => sample.packed.attestation!;
const mapSides = <T>([a, b]: Pair<MadeSide>, map: (side: MadeSide) => T): Pair<T> => [map(a), map(b)];

type AnyAttestation = Attestation | ExportAttestation;

/** What can be mixed, the code of a wrong subject in it, and its verification with an attestation. */
const TARGETS = [
  [
    'a bundle',
    bundleAttestation,
    'attestation.SUBJECT_MISMATCH',
    async ({ files }: MadeExport, attestation: Uint8Array, options: VerifyOptions) => {
      const entries = await unpack(files[PART]!);
      return verifyPart(memoryAccess(await pack(entries.set('attestation.json', attestation))), options);
    },
  ],
  [
    'the list of bundles',
    exportAttestation,
    'export.ATTESTATION_SUBJECT_MISMATCH',
    ({ files }: MadeExport, attestation: Uint8Array, options: VerifyOptions) =>
      verifyExport(memorySource({ ...files, [EXPORT_ATTESTATION]: attestation }), options),
  ],
] as const;

type Mixed = { readonly pair: Pair<AnyAttestation>; readonly attestation: AnyAttestation };

/** The expected codes about key and signature of a mix, derived from its pieces without the code under test. */
function listKeyCodes(
  { from }: Mix,
  sides: Pair<MadeSide>,
  keys: readonly TrustedKey[],
  { pair, attestation: { statement } }: Mixed,
): string[] {
  const key = keys.find(({ issuer, keyId }) => issuer === statement.issuer && keyId === statement.keyId);
  const signed =
    canonicalJson(statement) === canonicalJson(pair[from.signature].statement) &&
    key?.point === sides[from.signature].trusted.point;
  const { projectId, organizationId } = sides[from.part];
  return [
    ...(key === undefined ? ['trust.KEY_UNKNOWN'] : []),
    ...(key !== undefined && !signed ? ['attestation.SIGNATURE_INVALID'] : []),
    ...(key?.projects?.includes(projectId) === false ? ['trust.PROJECT_MISMATCH'] : []),
    ...(key?.organizations?.includes(organizationId) === false ? ['trust.ORGANIZATION_MISMATCH'] : []),
  ];
}

/** True if a mix equals one of the two originals. */
const isOriginal = ({ from }: Mix, pair: Pair<object>, mix: object): boolean =>
  canonicalJson(mix) === canonicalJson(pair[from.part]);

/**
 * Requirements 14, 16 and 17: no mix of {statement, signature, keyId, issuer, subject, part} of two valid exports is
 * verified, except the two originals, and each refusal has its code.
 */
export function testMixes(): void {
  describe.each(VARIANTS)('requirements 14, 16, 17: the mixes of %s', (_, parties) => {
    let sides: Pair<MadeSide>;
    let keys: readonly TrustedKey[];
    let trust: TrustStore;
    beforeAll(
      async () => void ({ sides, keys, trust } = await makeSides(parties(makeSigner(), makeSigner()))),
    );

    test.each(TARGETS)(
      'are refused for %s by their codes, all but the two originals',
      async (_name, attestationOf, otherSubject, verify) => {
        const pair = mapSides<AnyAttestation>(sides, attestationOf);
        for (const mix of MIXES) {
          const attestation = mixed(pair, mix);
          const bytes = canonicalBytes(attestation);
          const report = await verify(sides[mix.from.part].sample, bytes, { asOfMs: NOW, trust });
          const codes = [
            ...listKeyCodes(mix, sides, keys, { pair, attestation }),
            ...(mix.from.subject === mix.from.part ? [] : [otherSubject]),
          ].toSorted();
          const verdict = isOriginal(mix, pair, attestation) ? 'verified' : 'failed';
          expect([mix.name, report.verdict, errorsOf(report)]).toEqual([mix.name, verdict, codes]);
          if ('completeness' in report)
            expect(report.completeness).toBe(verdict === 'failed' ? 'claimed' : 'attested');
        }
      },
    );

    test('are refused for the files of an export, all but the two originals', async () => {
      const [a, b] = mapSides(sides, ({ sample }) => sample.files);
      const paths = Object.keys(a);
      for (let mask = 1; mask < 2 ** paths.length - 1; mask++) {
        const files = paths.map((path, i) => [path, ((mask >> i) & 1 ? b : a)[path]!] as const);
        for (const depth of ['full', 'digest'] as const) {
          const source = memorySource(Object.fromEntries(files));
          const report = await verifyExport(source, { asOfMs: NOW, trust, depth });
          expect([mask, depth, report.verdict]).toEqual([mask, depth, 'failed']);
        }
      }
    });
  });

  test('requirement 14: the message is the statement in the file, byte for byte', async () => {
    const { sides } = await makeSides([{}, {}]);
    for (const attestation of mapSides(sides, bundleAttestation)) {
      const text = fromUtf8(canonicalBytes(attestation));
      const message = text.slice(text.indexOf(',"statement":') + ',"statement":'.length, -1);
      expect(message).toBe(canonicalJson(attestation.statement));
    }
  });
}
