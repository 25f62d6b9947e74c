import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import { bundle } from '../../make/bundle.ts';
import { sha256Of } from '../../make/bytes.ts';
import { countClaimBytes, type ExportChoices, makeExport, partPath, reportPath } from '../../make/export.ts';
import { CLAIMED, type Case, UNATTESTED, adding, judge, tree, without } from './case.ts';

/** All bytes but those of the claims. */
function total(choices: ExportChoices): number {
  const { files } = makeExport(choices);
  const bytes = Object.values(files).reduce((sum, { length }) => sum + length, 0);
  return bytes - countClaimBytes(files);
}

/** The bytes of the bundle that its own signature reaches. */
function signedBytes(): number {
  const { manifestBytes, artifactBytes, attestation = {} } = bundle(1, { signer: 'a' });
  return manifestBytes.length + artifactBytes + canonicalBytes(attestation).length;
}

/** An export with a folder where a file belongs. */
const folder = (id: string, path: string, ...codes: Code[]): Case => {
  const choices: ExportChoices = {
    files: (before) => adding(`${path}/x`, 'x').files!(without(path).files!(before)),
  };
  const expectedCodes = [UNATTESTED, 'export.FILE_IRREGULAR', ...codes] as const;
  const completeness = id === 'attestation' ? 'claimed' : 'attested';
  const expected = { result: 'failed', completeness, codes: expectedCodes } as const;
  return judge(`folder-${id}`, tree(choices), expected, 'EntryKind', `a folder named ${path}`);
};

/** How far digests and signatures reach, and folders where files belong. */
export const coverages = (): Case[] => {
  const unsigned: ExportChoices = { signer: null };
  const all = total({});
  const { files } = makeExport();
  const sizeOf = (path: string): number => files[path]!.length;
  const reached = {
    totalBytes: total(unsigned),
    coveredBytes: total(unsigned),
    attestedBytes: signedBytes(),
  };
  const text = new TextDecoder().decode(files['export.json']);
  const spaced = adding('export.json', `${text}${'\n'.repeat(1000)}`);
  const fixedBytes = sizeOf('export.json') - countClaimBytes(files);
  const attestedBytes = all - fixedBytes - sizeOf(reportPath(1));
  const escaped = adding('export.json', text.replace('"requestedBy"', String.raw`"\u0072equestedBy"`));
  return [
    judge(
      'coverage-list-attested',
      tree(),
      {
        result: 'verified',
        codes: [UNATTESTED],
        coverage: { totalBytes: all, coveredBytes: all, attestedBytes },
      },
      'Coverage',
      'the signed list reaches whole archives of signed bundles, but not local reports and export.json',
    ),
    judge(
      'coverage-list-claimed',
      tree(unsigned),
      { result: 'verified', completeness: 'claimed', codes: [CLAIMED, UNATTESTED], coverage: reached },
      'Coverage',
      'without a signed list only the content of a signed bundle is attested',
    ),
    judge(
      'coverage-list-pinned',
      { ...tree(unsigned), expect: { manifestDigest: sha256Of(makeExport(unsigned).manifestBytes) } },
      { result: 'verified', completeness: 'pinned', codes: [UNATTESTED], coverage: reached },
      'Coverage',
      'the digest that the caller expects is not a signature',
    ),
    judge(
      'coverage-white-space',
      tree(spaced),
      {
        result: 'verified',
        codes: [UNATTESTED, 'coverage.LOW'],
        coverage: { totalBytes: all + 1000, coveredBytes: all + 1, attestedBytes },
      },
      'Coverage',
      'a thousand line feeds after export.json',
    ),
    judge(
      'coverage-escape',
      tree(escaped),
      {
        result: 'verified',
        codes: [UNATTESTED],
        coverage: { totalBytes: all + 5, coveredBytes: all - fixedBytes, attestedBytes },
      },
      'Coverage',
      'an escaped letter in export.json',
    ),
    folder('attestation', 'export-attestation.json', CLAIMED, 'export.FILE_UNCOVERED'),
    folder('resource', 'export.json', 'export.FILE_UNCOVERED'),
    folder('part', partPath(1), 'part.EXTRA'),
    folder('report', reportPath(1), 'local-report.EXTRA'),
  ];
};
