import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { fromBase64, toHex, toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { renderReportPage } from '../../../src/report/html/report.ts';
import { codeEntry } from '../../../src/codes/catalogue.ts';
import { exportReport, failedPart, localReport, part } from '../makers.ts';
import { ATTACK, attacked, makeReports, expectOurTags, readPartData } from './samples.ts';
import { visibleText } from '../../../src/report/html/document.ts';
import type { BundleReport } from '../../../src/verify/report.ts';

const reports = await makeReports();

/** Parts of which each third failed. */
const makeParts = (length: number): BundleReport[] =>
  Array.from({ length }, (_, at) => (at % 3 === 0 ? failedPart(at + 1) : part(at + 1)));

describe('a report as a page', () => {
  it('states who verified what, when, with which result, and every fingerprint', () => {
    const { good, trust } = reports;
    const page = renderReportPage(good, { trust });
    const result = `verified: ${good.evidenceExportId}, as of ${new Date(good.asOfMs).toISOString()}`;
    expect(page).toContain(`<title>${result}</title>`);
    expect(page).toContain(`<p class="running">${result}</p>`);
    for (const text of [
      good.evidenceExportId!,
      good.organizationId!,
      good.manifestDigest!,
      trust.fingerprint,
      trust.keys[0]!.keyId,
      'drillproof 0.1.0',
      new Date(good.asOfMs).toISOString(),
      ...good.parts.flatMap(({ evidenceBundleId, archive }) => [evidenceBundleId!, archive!.digest]),
    ])
      expect(page).toContain(text);
  });

  it('shows expected and actual values, the meaning and the advice of an error', () => {
    const { damaged, trust } = reports;
    const page = renderReportPage(damaged, { trust });
    const fault = damaged.parts.flatMap(({ findings }) => findings).find(({ expected }) => expected)!;
    for (const text of [fault.code, fault.expected!, fault.actual!, codeEntry(fault.code).action])
      expect(page).toContain(text);
    expect(page).toContain('The chain breaks here.');
  });

  it('shows the validity of keys only for the trust store that the report names', () => {
    const { good, trust } = reports;
    const other = { ...good, trust: { fingerprint: `sha256:${'0'.repeat(64)}` as const, keys: 1 } };
    expect(renderReportPage(good, { trust })).toContain('class="window"');
    expect(renderReportPage(other, { trust })).not.toContain('class="window"');
  });

  it('has a policy that allows its own style and script by their digests', () => {
    const page = renderReportPage(reports.good);
    for (const [name, element] of [
      ['style', 'style'],
      ['script', 'script'],
    ] as const) {
      const [, hash = ''] = new RegExp(`${name}-src 'sha256-([^']+)'`).exec(page) ?? [];
      const [, text = ''] = new RegExp(`<${element}>([^]*)</${element}>`).exec(page) ?? [];
      expect(`sha256:${toHex(fromBase64(hash)!)}`).toBe(digestOf(toUtf8(text)));
    }
    expect(page).toContain("default-src 'none'");
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).not.toMatch(
      /<link|<iframe|\sstyle=|\son\w+=|url\(|@import|innerHTML|https?:\/\/(?!drills\.example)/,
    );
  });

  it.each([
    ['an export', exportReport({ parts: [part(1), failedPart(2)], localReports: [localReport()] })],
    ['a part', failedPart(1)],
    ['many parts', exportReport({ parts: makeParts(150) })],
  ])('keeps hostile text of %s in its place', (_what, report) => {
    expectOurTags(renderReportPage(attacked(report)));
  });

  it('has failed parts first, then incomplete ones, then drills that did not pass, with links both ways', () => {
    const drill = { drillId: 'd', targetId: 't', status: 'completed', verdict: 'failed' };
    const parts = [part(1), part(2, { outcome: drill }), part(3, { verdict: 'incomplete' }), failedPart(4)];
    const page = renderReportPage(exportReport({ verdict: 'failed', parts }));
    const rows = [...page.matchAll(/<tr id="(part-\d)">\s*<th scope="row"\s*><code>(\w+)<\/code>/g)];
    expect(rows.map(([, id, name]) => [id, name])).toEqual(
      [4, 3, 2, 1].map((n, at) => [`part-${at + 1}`, parts[n - 1]!.evidenceBundleId]),
    );
    expect(page.match(/href="#part-1"/g)).toHaveLength(2); // in the box and in the finding
    expect(page).toContain('<a href="#part-3"><code>evidence_000000000002</code></a>');
    expect(page).toContain('<a href="#part.DIGEST_MISMATCH">');
    expect(page).toMatch(/<article class="finding bad" id="part.DIGEST_MISMATCH">/);
  });

  it('has the first 100 of many parts as rows, all of them as data, and says how many are not rows', () => {
    const page = renderReportPage(exportReport({ verdict: 'failed', parts: makeParts(150) }));
    expect(page.match(/<tr id="part-/g)).toHaveLength(100);
    expect(page).toContain('This file has 50 more parts as data');
    expect(page).toMatch(/value="bad"[^>]*>Failed or incomplete 50</);
    const { columns } = readPartData(page);
    expect(columns['id']!.words).toHaveLength(150);
    expect(columns['verdict']).toMatchObject({ words: ['failed', 'verified'] });
  });

  it('escapes hostile text in its data as everywhere', () => {
    const { columns } = readPartData(renderReportPage(attacked(exportReport({ parts: makeParts(150) }))));
    expect(columns['id']!.words[0]).toBe(visibleText(ATTACK));
    expect(JSON.stringify(columns)).not.toMatch(/\u2713|\u202E/);
  });

  it('names in its box who signed, which parts failed and which drills did not pass', () => {
    const drill = { drillId: 'restore', targetId: 'db-1', status: 'completed', verdict: 'failed' };
    const parts = [...makeParts(10), part(11, { outcome: drill })];
    const page = renderReportPage(exportReport({ verdict: 'failed', parts }));
    const box = page.slice(page.indexOf('<div class="verdict'), page.indexOf('<h2'));
    const words = box.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(words).toContain('evidence_000000000001 evidence_000000000004 evidence_000000000007 and 1 more');
    expect(words).toContain('failed : restore on db-1 , evidence_000000000011');
    expect(words).toContain('acme-ci 7 statements');
  });

  it('lists at most 100 cases of a code, and the first five open', () => {
    const parts = Array.from({ length: 200 }, (_, at) => failedPart(at + 1));
    const page = renderReportPage(exportReport({ verdict: 'failed', parts }));
    expect(page.match(/class="case"/g)).toHaveLength(100);
    expect(page).toContain('<summary>95 more</summary>');
    expect(page).toContain('100 more are in the JSON report.');
  });

  it('stays below 2 MB with 10,000 parts', () => {
    const parts = makeParts(10_000).map((entry, at) => ({
      ...entry,
      archive: { digest: digestOf(toUtf8(String(at))), bytes: at },
    }));
    expect(renderReportPage(exportReport({ verdict: 'failed', parts })).length).toBeLessThan(2e6);
  });

  it('puts a path into a command only if no shell reads anything into it', () => {
    const hostile = part(1, { path: 'parts/$(reboot).zip' });
    const page = renderReportPage(exportReport({ parts: [hostile] }));
    expect(page).not.toMatch(/<pre>[^]*?reboot[^]*?<\/pre>/);
  });
});
