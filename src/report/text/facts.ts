import { isoTime } from '../../bytes/text/iso-time.ts';
import type { Finding } from '../../verify/finding.ts';
import type {
  AttestationReport,
  Completeness,
  Coverage,
  SignedBy,
  TrustUsed,
  Verdict,
} from '../../verify/report.ts';
import { count, counted, percent, shortId, size } from './figures.ts';
import { indented, labelled, wrap, type Page } from './page.ts';
import { printable } from '../printable.ts';
import { countSigners, type SignerCount } from './tally.ts';

export const VERDICT_PAINT: Readonly<
  Record<Verdict | AttestationReport['verdict'], 'good' | 'caution' | 'bad'>
> = {
  verified: 'good',
  intact: 'caution',
  incomplete: 'caution',
  failed: 'bad',
  valid: 'good',
  not_judged: 'caution',
  invalid: 'bad',
};

/** The first line: the verdict and what it is about. */
export function headline(page: Page, verdict: keyof typeof VERDICT_PAINT, text: string): string[] {
  const word = verdict.toUpperCase().replace('_', ' ');
  const [first = '', ...rest] = wrap(`${word} ${text}`, page.width - HEADLINE_INDENT);
  const painted = page.paint[VERDICT_PAINT[verdict]](word) + first.slice(word.length);
  return [painted, ...rest.map((line) => ' '.repeat(HEADLINE_INDENT) + line)];
}

const HEADLINE_INDENT = 2;
const NAME_WIDTH = 16;

/** One named fact, left out when it is not known. */
export function fact(page: Page, name: string, value: string | undefined): string[] {
  return value === undefined ? [] : labelled(page, `  ${name.padEnd(NAME_WIDTH)}`, printable(value));
}

export function asOfFact(page: Page, asOfMs: number): string[] {
  return fact(page, 'judged as of', isoTime(asOfMs));
}

/** The trust store that the result rests on. */
export function trustFacts(page: Page, trust: TrustUsed | undefined): string[] {
  if (trust === undefined) return fact(page, 'trust store', 'none given');
  return [
    ...fact(page, 'trust store', trust.fingerprint),
    ...fact(page, '', `with ${counted(trust.keys, 'key')}`),
  ];
}

/** By whose key: each key once, with how many parts it signed and when it says so. */
export function signerLines(page: Page, signers: readonly SignedBy[], what = 'part'): string[] {
  return countSigners(signers).flatMap((row) => {
    const many = signers.length === 1 && what === '' ? '' : `, ${counted(row.parts, what)}`;
    const key = `${printable(row.issuer)}, key ${printable(shortId(row.keyId))}${many}`;
    return [...labelled(page, '  - ', key), ...indented(page, `signed ${issued(row)}`, 4)];
  });
}

/** Why no signer is named: nothing said whose keys count, or nobody's that does. */
export function untrustedLine(findings: readonly Finding[]): string {
  const unjudged = findings.some(({ code }) => code === 'trust.STORE_ABSENT');
  return unjudged ? '  not judged: no trust store was given' : '  nobody whose key is trusted here';
}

function issued({ firstIssuedAtMs, lastIssuedAtMs }: SignerCount): string {
  if (firstIssuedAtMs === lastIssuedAtMs) return isoTime(firstIssuedAtMs);
  return `between ${isoTime(firstIssuedAtMs)} and ${isoTime(lastIssuedAtMs)}`;
}

const COMPLETENESS: Readonly<Record<Completeness, string>> = {
  pinned: 'pinned: the list of bundles has the digest that you gave',
  attested: 'attested: a key in your trust store vouches for the list of bundles',
  claimed: 'claimed: only the export itself says that its list of bundles is complete',
};

export function completenessLines(page: Page, completeness: Completeness): string[] {
  return indented(page, COMPLETENESS[completeness]);
}

const MAX_FILES = 10;

/** How many of the bytes something vouches for, and the files of which nothing does. */
export function coverageLines(page: Page, coverage: Coverage): string[] {
  const { totalBytes, coveredBytes, attestedBytes, uncovered, mirrorFiles } = coverage;
  return [
    `  ${count(totalBytes)} bytes looked at${totalBytes < 1024 ? '' : ` (${size(totalBytes)})`}`,
    `  ${count(coveredBytes)} match a digest in the chain (${percent(coveredBytes, totalBytes)})`,
    `  ${count(attestedBytes)} stand under a trusted signature (${percent(attestedBytes, totalBytes)})`,
    ...fileLines(page, uncovered, 'that nothing covers'),
    ...fileLines(page, mirrorFiles, 'of the mirror, outside coverage'),
  ];
}

function fileLines(page: Page, files: readonly string[], which: string): string[] {
  if (files.length === 0) return [];
  const left = files.length - MAX_FILES;
  const names = files.slice(0, MAX_FILES).map(printable).join(', ');
  const rest = left > 0 ? ` and ${count(left)} more` : '';
  return indented(page, `${counted(files.length, 'file')} ${which}: ${names}${rest}`);
}
