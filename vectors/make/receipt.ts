import { canonicalJson } from '../../src/bytes/json/canonical.ts';
import { ORGANIZATION, PROJECT, T } from './bundle.ts';
import { sha256Of } from './bytes.ts';
import { EXPORT_ID } from './export.ts';
import { patched, type Patch } from './patch.ts';

/** A receipt as a file: its path, which follows from its text. */
export type Receipt = { readonly path: string; readonly text: string; readonly digest: string };

/** When the receipt of that number was finished, 1 the first. */
export const finishedAt = (n: number): number => T - 60_000 + n * 1000;

/** The receipt of that number, after another one or none. */
export function receipt(n: number, previous?: Receipt, patch: Patch = {}): Receipt {
  const value = patched(
    {
      schemaVersion: 2,
      kind: 'mirror.receipt',
      evidenceExportId: EXPORT_ID,
      organizationId: ORGANIZATION,
      projectId: PROJECT,
      manifestDigest: sha256Of('a manifest'),
      manifestFrom: 'source',
      source: 'https://control.example',
      tool: 'drillproof/1.0.0',
      startedAtMs: finishedAt(n) - 500,
      finishedAtMs: finishedAt(n),
      outcome: 'complete',
      withoutLocalReports: false,
      files: [{ path: 'parts/evidence_000000000001.zip', bytes: '10', state: 'fetched' }],
      failures: [],
      ...(previous !== undefined && { previous: { path: previous.path, digest: previous.digest } }),
    },
    patch,
  );
  return fileOf(canonicalJson(value), Number(value['finishedAtMs']));
}

/** A receipt of version 1, which names no other. */
export const olderReceipt = (n: number, patch: Patch = {}): Receipt =>
  receipt(n, undefined, { '/schemaVersion': 1, ...patch });

/** Any text, in the place of a receipt of that time. */
export function fileOf(text: string, finishedAtMs: number): Receipt {
  const digest = sha256Of(text);
  const time = new Date(finishedAtMs).toISOString().replaceAll(/[-:]/g, '');
  return { path: `receipts/${time}-${digest.slice(7, 19)}.json`, text, digest };
}

/** So many receipts, each after the one before it. */
export function chain(length: number, patch: Patch = {}): Receipt[] {
  const all: Receipt[] = [];
  for (let n = 1; n <= length; n++) all.push(receipt(n, all.at(-1), patch));
  return all;
}

/** Receipts as files, by path. */
export const textsOf = (receipts: readonly Receipt[]): Record<string, string> =>
  Object.fromEntries(receipts.map(({ path, text }) => [path, text]));
