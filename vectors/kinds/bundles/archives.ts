import type { Code } from '../../../src/codes/catalogue.ts';
import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { extraField } from '../../../test/zip/raw-zip.ts';
import { bundle, idOf, zipOf } from '../../make/bundle.ts';
import { sha256Of, utf8 } from '../../make/bytes.ts';
import {
  type Case,
  type Input,
  MANIFEST,
  type Result,
  STATE,
  covering,
  failed,
  judge,
  replacing,
  signedZip,
} from './case.ts';

export const archives = (): Case[] => [
  judge('failed', 'zip-not', utf8('no archive'), {}, ['zip.NOT_A_ZIP'], 'Structure', 'no archive at all'),
  judge(
    'failed',
    'zip-cut',
    signedZip().subarray(0, -7),
    {},
    ['zip.NOT_A_ZIP'],
    'Truncated',
    'an archive that is cut',
  ),
  judge(
    'failed',
    'zip-comment-byte',
    Uint8Array.of(...signedZip(), 0),
    {},
    ['zip.BYTES_UNACCOUNTED'],
    'HiddenBytes',
    'a byte after the archive',
  ),
  judge(
    'failed',
    'zip-empty',
    zipOf([]),
    {},
    ['bundle.MANIFEST_MISSING'],
    'MissingFile',
    'an archive without entries',
  ),
  failed(
    'zip-manifest-twice',
    { entries: (all) => [...all, { name: MANIFEST, bytes: bundle(2).manifestBytes }] },
    'DuplicateEntry',
    'two manifests',
    'zip.ENTRY_DUPLICATE',
  ),
  failed(
    'zip-link',
    { entries: replacing(STATE, (one) => [{ ...one, central: { external: 0o120777 * 65536 } }]) },
    'EntryKind',
    'an object that is a symbolic link',
    'zip.ENTRY_KIND',
  ),
];

const expecting = (
  result: Result,
  id: string,
  expect: NonNullable<Input['expect']>,
  codes: readonly Code[],
  comment: string,
): Case => judge(result, `expect-${id}`, signedZip(), { expect }, codes, 'Expectation', comment);

export const expectations = (): Case[] => {
  return [
    expecting(
      'verified',
      'manifest',
      { manifestDigest: sha256Of(bundle(1).manifestBytes) },
      [],
      'the manifest that the caller expects',
    ),
    expecting(
      'failed',
      'other-manifest',
      { manifestDigest: sha256Of('x') },
      ['expect.MANIFEST_MISMATCH'],
      'a manifest that the caller does not expect',
    ),
    expecting(
      'failed',
      'other-organization',
      { organizationId: idOf('org', 2) },
      ['expect.ORGANIZATION_MISMATCH'],
      'an organization that the caller does not expect',
    ),
    expecting(
      'failed',
      'other-project',
      { projectId: idOf('prj', 2) },
      ['expect.PROJECT_MISMATCH'],
      'a project that the caller does not expect',
    ),
  ];
};

/** An extra field of an unassigned id. */
const TEXT = extraField(0xcafe, utf8('VERIFIED '.repeat(1000)));

export const coverages = (): Case[] => {
  const entries = bundle(1, { signer: 'a' });
  const content = entries.manifestBytes.length + entries.artifactBytes;
  const signature = canonicalBytes(entries.attestation ?? {}).length;
  const inflated = signedZip({
    entries: (all) => all.map((entry) => ({ ...entry, extra: TEXT, localExtra: TEXT })),
  });
  const reached = { coveredBytes: content + signature, attestedBytes: content + signature };
  return [
    covering(
      judge('verified', 'coverage', entries.zip, {}, [], 'Coverage', 'a signature reaches no ZIP metadata'),
      { totalBytes: entries.zip.length, ...reached },
    ),
    covering(
      judge(
        'verified',
        'coverage-inflated',
        inflated,
        {},
        ['zip.METADATA_UNUSUAL', 'coverage.LOW'],
        'Coverage',
        'text in extra fields, which no digest covers',
      ),
      { totalBytes: inflated.length, ...reached },
    ),
    covering(
      judge(
        'intact',
        'coverage-no-trust',
        entries.zip,
        { trust: undefined },
        ['trust.STORE_ABSENT'],
        'Coverage',
        'an attestation that was not verified is not covered',
      ),
      { totalBytes: entries.zip.length, coveredBytes: content, attestedBytes: 0 },
    ),
  ];
};
