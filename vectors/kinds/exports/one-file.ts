import { type RawEntry, extraField, join, le } from '../../../test/zip/raw-zip.ts';
import { type NamedBytes, zipOf } from '../../make/bundle.ts';
import { base64Of, utf8 } from '../../make/bytes.ts';
import { DEFLATED } from '../../make/deflate.ts';
import { countClaimBytes, makeExport, partPath, reportPath } from '../../make/export.ts';
import { type Case, type Input, UNATTESTED, judge } from './case.ts';

/** An extra field of an unassigned id. */
const TEXT = extraField(0xcafe, utf8('VERIFIED '.repeat(1000)));

const ORDER = ['manifest.json', 'export.json', 'export-attestation.json', partPath(1), reportPath(1)];

/** Deflated as one block that is stored. */
const deflate = ({ name, bytes }: NamedBytes): NamedBytes & Partial<RawEntry> => ({
  name,
  bytes,
  method: 8,
  data: join(le(1, 1), le(bytes.length, 2), le(0xffff - bytes.length, 2), bytes),
});

export const oneFile = (): Case[] => {
  const entries: NamedBytes[] = ORDER.map((name) => ({ name, bytes: makeExport().files[name]! }));
  const zip = (
    change: (all: NamedBytes[]) => readonly (NamedBytes & Partial<RawEntry>)[] = (all) => all,
  ): Pick<Input, 'zip'> => ({
    zip: base64Of(zipOf(change(entries))),
  });
  const inflated = zipOf(entries.map((entry) => ({ ...entry, extra: TEXT, localExtra: TEXT })));
  const sizeOf = (...names: readonly string[]): number =>
    entries.reduce((sum, { name, bytes }) => sum + (names.includes(name) ? bytes.length : 0), 0);
  const claimBytes = countClaimBytes(makeExport().files);
  const covered = (container: Uint8Array) => ({
    totalBytes: container.length - claimBytes,
    coveredBytes: sizeOf(...ORDER) - claimBytes,
    attestedBytes: sizeOf('manifest.json', 'export-attestation.json', partPath(1)),
  });
  const extra: NamedBytes & Partial<RawEntry> = {
    name: 'x.txt',
    bytes: utf8('some bytes, some bytes, some bytes'),
    method: 8,
    data: DEFLATED.text,
  };
  return [
    judge('zip', zip(), { result: 'verified', codes: [UNATTESTED] }, 'OneFile', 'the tree as one ZIP'),
    judge(
      'zip-coverage',
      zip(),
      { result: 'verified', codes: [UNATTESTED], coverage: covered(zipOf(entries)) },
      'OneFile',
      'no digest covers the headers and the directory of the container',
    ),
    judge(
      'zip-inflated',
      { zip: base64Of(inflated) },
      {
        result: 'verified',
        codes: [UNATTESTED, 'zip.METADATA_UNUSUAL', 'coverage.LOW'],
        coverage: covered(inflated),
      },
      'Coverage',
      'text in extra fields of the container, which nothing covers',
    ),
    judge(
      'zip-crc',
      zip((all) => [...all, { name: 'x.txt', bytes: utf8('x'), both: { crc: 1 } }]),
      { result: 'failed', codes: [UNATTESTED, 'export.FILE_UNCOVERED', 'zip.CRC_MISMATCH'] },
      'OneFile',
      'a wrong CRC of a file that is not listed: the container is damaged',
    ),
    judge(
      'zip-deflated',
      zip((all) => [...all, extra]),
      { result: 'failed', codes: [UNATTESTED, 'export.FILE_UNCOVERED'] },
      'OneFile',
      'a file that is compressed and not evidence',
    ),
    judge(
      'zip-part-deflated',
      zip((all) => all.map((entry) => (entry.name === partPath(1) ? deflate(entry) : entry))),
      { result: 'failed', codes: [UNATTESTED, 'zip.METHOD_UNSUPPORTED'] },
      'OneFile',
      'a part that is compressed in the export',
    ),
    judge(
      'zip-part-missing',
      zip((all) => all.filter(({ name }) => name !== partPath(1))),
      { result: 'failed', codes: [UNATTESTED, 'part.MISSING'] },
      'OneFile',
      'a part taken out',
    ),
  ];
};
