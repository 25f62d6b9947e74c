import { isoTime } from '../../bytes/index.ts';
import type { BundleReport, Coverage, ExportReport } from '../../verify/index.ts';
import { shellWord } from '../printable.ts';
import { count, percent, size } from '../text/page.ts';
import { quote, renderTable } from './blocks.ts';
import { html, type Markup } from './markup.ts';

const MAX_FILES = 100;
const BAR = 720;

/** How many of the bytes a digest or a trusted signature covers. */
export function renderCoverage(coverage: Coverage): Markup {
  const { totalBytes, coveredBytes, attestedBytes, uncovered, mirrorFiles } = coverage;
  const rows = [
    ['looked at', totalBytes],
    ['match a digest in the chain', coveredBytes],
    ['are under a trusted signature', attestedBytes],
  ] as const;
  const width = (bytes: number): number => (totalBytes === 0 ? 0 : Math.floor((bytes / totalBytes) * BAR));
  return html`<svg
      class="plot"
      viewBox="0 0 ${BAR} 20"
      role="img"
      aria-label="${percent(coveredBytes, totalBytes)} of the bytes match a digest, ${percent(attestedBytes, totalBytes)} are under a trusted signature"
    >
      <rect class="track" x="0" y="0" width="${BAR}" height="20" />
      <rect class="covered" x="0" y="0" width="${width(coveredBytes)}" height="20" />
      <rect class="attested" x="0" y="0" width="${width(attestedBytes)}" height="20" />
    </svg>
    ${renderTable(
      'Byte coverage',
      [['Bytes that'], ['Number', 'number'], ['Size', 'number'], ['Share', 'number']],
      rows.map(([name, bytes]) => [name, count(bytes), size(bytes), percent(bytes, totalBytes)]),
    )}${renderFiles('Files that no digest covers', uncovered)}${renderFiles('Files that the mirror adds, outside coverage', mirrorFiles)}`;
}

function renderFiles(title: string, files: readonly string[]): Markup | undefined {
  if (files.length === 0) return undefined;
  const more = files.length - MAX_FILES;
  return html`<h3>${title}: ${count(files.length)}</h3>
    <ul>
      ${files.slice(0, MAX_FILES).map((file) => html`<li>${quote(file)}</li>`)}${more > 0 ? html`<li>and ${count(more)} more, which the JSON report lists</li>` : undefined}
    </ul> `;
}

/** Commands that check the same again, with this program and without it. */
export function renderCommands(report: ExportReport | BundleReport): Markup {
  return html`${commandsOf(report).map(
    ([purpose, command]) =>
      html`<p>${purpose}</p>
        <pre><code>${command}</code></pre> `,
  )}`;
}

type Purpose = readonly [purpose: string, command: string];

function commandsOf(report: ExportReport | BundleReport): readonly Purpose[] {
  const again: Purpose = ['With drillproof, as of the same time:', sameCall(report)];
  return [again, ...(report.kind === 'export' ? exportCommands(report) : partCommands(report))];
}

/** Members of `run.options` that name a time or a path that the line has already. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'as-of',
  'sign',
  'signer',
  'issuer',
  'previous',
  'public-key',
  'signer-timeout',
]);

function sameCall({ run, asOfMs, depth }: ExportReport | BundleReport): string {
  const options: NonNullable<typeof run>['options'] = run?.options ?? { depth };
  const words = Object.entries(options)
    .filter(([name, value]) => !LEFT_OUT.has(name) && value !== false)
    .flatMap(([name, value]) =>
      [value].flat().flatMap((word) => [`--${name}`, ...(word === true ? [] : [shellWord(String(word))])]),
    );
  const keys = run === undefined ? ['--trust', 'TRUST.json'] : [];
  const path = shellWord(run?.path ?? 'EVIDENCE');
  return ['drillproof verify', path, ...words, ...keys, '--as-of', isoTime(asOfMs)].join(' ');
}

const hexOf = (digest: string): string => digest.replace(/^sha256:/, '');
/** Paths from the evidence are put into a command only if no shell reads anything into them. */
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/;

function exportCommands({ manifestDigest, parts }: ExportReport): readonly Purpose[] {
  const manifest: Purpose[] =
    manifestDigest === undefined
      ? []
      : [
          [
            'Without it, in the folder of the export, the digest of the list of bundles:',
            checkLine(manifestDigest, 'manifest.json'),
          ],
        ];
  const part = parts.find(
    ({ verdict, archive, path }) =>
      verdict !== 'incomplete' && archive !== undefined && PLAIN.test(path ?? ''),
  );
  if (part?.archive === undefined || part.path === undefined) return manifest;
  return [
    ...manifest,
    [
      'One part, by the digest that was read; the appendix has that of every part:',
      checkLine(part.archive.digest, part.path),
    ],
    ['The manifest of its bundle:', `unzip -p ${shellWord(part.path)} manifest.json | sha256sum`],
  ];
}

const checkLine = (digest: string, path: string): string =>
  `echo "${hexOf(digest)}  ${path}" | sha256sum --check`;

function partCommands({ archive, manifestDigest }: BundleReport): readonly Purpose[] {
  return [
    ...(archive === undefined
      ? []
      : [['Without it, the digest of the archive:', checkLine(archive.digest, 'PART.zip')] as const]),
    ...(manifestDigest === undefined
      ? []
      : [
          [
            `The manifest of its bundle, which has the SHA-256 ${hexOf(manifestDigest)}:`,
            'unzip -p PART.zip manifest.json | sha256sum',
          ] as const,
        ]),
  ];
}
