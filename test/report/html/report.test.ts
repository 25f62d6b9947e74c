import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { fromBase64, toHex, toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { renderReportPage } from '../../../src/report/html/report.ts';
import { codeEntry } from '../../../src/codes/catalogue.ts';
import { exportReport, failedPart, localReport, part } from '../makers.ts';
import { attacked, makeReports, expectOurTags } from './samples.ts';

const reports = await makeReports();

describe('a report as a page', () => {
  it('states who verified what, when, with which result, and every fingerprint', () => {
    const { good, trust } = reports;
    const page = renderReportPage(good, { trust });
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

  it('has a policy that allows its own style by its digest and no script', () => {
    const page = renderReportPage(reports.good);
    const [, hash = ''] = /style-src 'sha256-([^']+)'/.exec(page) ?? [];
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(page) ?? [];
    expect(`sha256:${toHex(fromBase64(hash)!)}`).toBe(digestOf(toUtf8(style)));
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(
      /<script|<link|<iframe|\sstyle=|\son\w+=|url\(|@import|https?:\/\/(?!drills\.example)/,
    );
  });

  it.each([
    ['an export', exportReport({ parts: [part(1), failedPart(2)], localReports: [localReport()] })],
    ['a part', failedPart(1)],
  ])('keeps hostile text of %s in its place', (_what, report) => {
    expectOurTags(renderReportPage(attacked(report)));
  });

  it('puts a path into a command only if no shell reads anything into it', () => {
    const hostile = part(1, { path: 'parts/$(reboot).zip' });
    const page = renderReportPage(exportReport({ parts: [hostile] }));
    expect(page).not.toMatch(/<pre>[^]*?reboot[^]*?<\/pre>/);
  });
});
