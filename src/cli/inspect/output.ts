import { defined } from '../../bytes/arguments.ts';
import { count, isoTime } from '../../bytes/text/wording.ts';
import type { Attestation, ExportAttestation } from '../../contract/resources/attestation.ts';
import { escapeText } from '../../report/printable.ts';
import { describeAssertion, formatSigner, listPartFacts } from '../../report/text/contents.ts';
import { shortId, size } from '../../report/text/page.ts';
import type { PartContents, Preview } from '../../evidence/bundle/contents.ts';
import type { ReadDocuments } from '../shared/input/input.ts';
import { alignFacts, formatTable } from '../shared/output/product.ts';

type Description = { readonly product: Readonly<Record<string, unknown>>; readonly text: string };

export function describeExport(documents: ReadDocuments): Description {
  const { manifest, manifestDigest, resource, attestation, files } = documents;
  const { parts, localReports } = manifest;
  const listedPaths = new Set([...parts, ...localReports].map((row) => row.path));
  const others = files.filter((file) => !listedPaths.has(file.path));
  const text = [
    alignFacts([
      ['export', manifest.evidenceExportId],
      ['organization', manifest.organizationId],
      ['scope', manifest.scope.kind === 'project' ? `project ${manifest.scope.projectId}` : 'organization'],
      ['from', isoTime(manifest.fromAtMs)],
      ['through', isoTime(manifest.throughAtMs)],
      ['state', resource?.state ?? 'unknown: export.json is missing'],
      ['manifest', manifestDigest],
      ['list signed by', formatSigner(attestation)],
      ['bundles', count(parts.length)],
      ['local reports', count(localReports.length)],
    ]),
    formatTable(
      ['#', 'BUNDLE', 'PROJECT', 'BYTES', 'SIGNED', 'ARCHIVE'],
      parts.map((row) => [
        String(row.ordinal),
        row.evidenceBundleId,
        row.projectId,
        row.bytes,
        row.signed ? 'yes' : 'no',
        shortId(row.digest),
      ]),
    ),
    formatTable(
      ['#', 'LOCAL REPORT', 'PROJECT', 'BYTES', 'ARCHIVE'],
      localReports.map((row) => [
        String(row.ordinal),
        row.localReportId,
        row.projectId,
        row.bytes,
        shortId(row.digest),
      ]),
    ),
    formatTable(
      ['OTHER FILE', 'BYTES'],
      others.map((file) => [file.path, String(file.bytes)]),
    ),
  ];
  const otherFiles = others.map(({ path, bytes }) => ({ path, bytes }));
  const documentsJson = defined({ resource, attestation });
  return {
    product: { kind: 'export-contents', manifestDigest, manifest, ...documentsJson, otherFiles },
    text: joinBlocks(text),
  };
}

export function describePart(contents: PartContents): Description {
  const { manifest, manifestDigest, attestation, runResult, previews } = contents;
  const text = [
    alignFacts(listPartFacts(contents)),
    formatTable(
      ['ASSERTION', 'RESULT', 'WHAT IT STATES'],
      (runResult?.assertionResults ?? []).map((result) => [
        result.assertionId,
        result.status,
        describeAssertion(result),
      ]),
    ),
    formatTable(
      ['OBJECT', 'ROLE', 'MEDIA TYPE', 'SIZE', 'DIGEST'],
      manifest.objects.map((object) => [
        object.path,
        object.role ?? '',
        object.mediaType,
        size(object.bytes),
        shortId(object.digest),
      ]),
    ),
    ...previews.map(formatPreview),
  ];
  return {
    product: { kind: 'part-contents', manifestDigest, manifest, ...defined({ attestation, runResult }) },
    text: joinBlocks(text),
  };
}

const formatPreview = ({ path, lines, isWhole }: Preview): string =>
  [
    `  ${escapeText(path)}${isWhole ? '' : ', its beginning'}\n`,
    ...lines.map((line) => `  | ${escapeText(line)}`.trimEnd() + '\n'),
  ].join('');

export type SignatureFiles = {
  readonly statementPath: string;
  readonly signaturePath: string;
  /** Absent without a key of the caller, because evidence never supplies its own. */
  readonly keyPath?: string;
  readonly command: string;
};

export function formatSignatureFiles(
  files: SignatureFiles,
  { statement: { issuer, keyId, issuedAtMs, subject } }: Attestation | ExportAttestation,
): string {
  const lines = alignFacts([
    ['statement', files.statementPath],
    ['signature', files.signaturePath],
    ['public key', files.keyPath ?? 'not written: pass it with --trust or --key; evidence never supplies it'],
    ['issuer', issuer],
    ['key id', keyId],
    ['issued at', isoTime(issuedAtMs)],
    ['manifest', subject.manifestDigest],
  ]);
  return `${lines}\nVerify the signature without drillproof:\n  ${files.command}\n\nThen compare manifestDigest in the statement with the SHA-256 of manifest.json.\n`;
}

const joinBlocks = (blocks: readonly string[]): string => blocks.filter((block) => block !== '').join('\n');
