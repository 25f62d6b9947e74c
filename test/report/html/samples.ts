import { expect } from 'vitest';
import { memorySource } from '../../../src/evidence/source.ts';
import type { TrustStore } from '../../../src/trust/store.ts';
import type { ExportReport, Run } from '../../../src/verify/report.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import { REPORT_SCRIPT } from '../../../src/report/html/document.ts';
import { flipBit, makeExport, makeTrust, NOW } from '../../support/evidence.ts';
import { replaceText } from '../hostile.ts';

const DAY_MS = 86_400_000;

/** A text that tries to become markup, one of our states, or text in another order. */
export const ATTACK = '"><script>alert(1)</script><img src=x onerror=alert(2)>\u2713\u202E</style>]]>-->';

const run: Run = {
  tool: { name: 'drillproof', version: '0.1.0' },
  path: './mirror',
  options: { depth: 'full', trust: ['trust.json'] },
  exitCode: 0,
  unmet: [],
};

/** A good and a damaged export, with the trust store of their verification. */
export async function makeReports(): Promise<{
  good: ExportReport;
  damaged: ExportReport;
  trust: TrustStore;
}> {
  const { files, signer } = await makeExport({ parts: 3 });
  const trust = makeTrust(signer, { notBeforeMs: NOW - 30 * DAY_MS, notAfterMs: NOW + 10 * DAY_MS });
  const options = { asOfMs: NOW + 2 * DAY_MS, trust };
  const path = Object.keys(files).find((name) => name.startsWith('parts/'))!;
  const changed = { ...files, [path]: flipBit(files[path]!, 300) };
  const good = { ...(await verifyExport(memorySource(files), options)), run };
  const damaged = await verifyExport(memorySource(changed), options);
  return { good, damaged: { ...damaged, run: { ...run, exitCode: 1 } }, trust };
}

/** The report with the attack wherever evidence or a caller can put a text. */
export const attacked = <T>(value: T): T => replaceText(value, ATTACK);

const OUR_TAGS =
  /^<\/?(?:head|body|main|html|header|section|article|div|span|svg|circle|path|rect|line|text|figure|figcaption|h[1-3]|p|br|dl|dt|dd|ul|ol|li|table|caption|thead|tbody|tr|th|td|code|pre|strong|picture|source|img|a|time|details|summary|button|label|input)$/;

const DATA = /<script type="application\/json" id="part-data">([^<]*)<\/script>/;

/** What a page has as data for its script. */
export const readPartData = (page: string): { columns: Record<string, { words: string[] }> } =>
  JSON.parse(DATA.exec(page)?.[1] ?? '') as { columns: Record<string, { words: string[] }> };

/** Expects a page of hostile text in which nothing became markup or a picture. */
export function expectOurTags(page: string): void {
  const [, rest = ''] = page.split('</style>', 2);
  expect(rest).toContain(`<script>${REPORT_SCRIPT}</script>`);
  const body = rest.replace(`<script>${REPORT_SCRIPT}</script>`, '').replace(DATA, '');
  expect(body).toContain('&lt;script&gt;');
  expect(body).not.toMatch(/<script|onerror=alert\(2\)>|<\/style|\u2713|\u202E/);
  for (const [tag] of body.matchAll(/<\/?[a-z][^\s>]*/g)) expect(tag).toMatch(OUR_TAGS);
}
