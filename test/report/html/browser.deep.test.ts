import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { drawChart } from '../../../src/cli/report/charts.ts';
import { renderDecisionPage } from '../../../src/report/html/pages/decision.ts';
import { renderHistoryPage, renderReportPage } from '../../../src/report/index.ts';
import { NO } from '../decision/makers.ts';
import { makeReports } from './samples.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'drillproof-pages-'));
const pages = new Map<string, string>();

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const { good, damaged, trust } = await makeReports();
const entries = [good, damaged].map((report, at) => ({ name: `${at}.json`, report }));
const texts = {
  good: renderReportPage(good, { trust }),
  damaged: renderReportPage(damaged, { trust }),
  history: renderHistoryPage(entries, { asOfMs: good.asOfMs, draw: drawChart, trust }),
  decision: renderDecisionPage(NO),
};
for (const [name, text] of Object.entries(texts)) {
  const file = join(folder, `${name}.html`);
  writeFileSync(file, text);
  pages.set(name, `file://${file}`);
}
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

it.each([
  ['good', 'light'],
  ['good', 'dark'],
  ['damaged', 'light'],
  ['damaged', 'dark'],
  ['history', 'light'],
  ['history', 'dark'],
  ['decision', 'dark'],
] as const)(
  'a page in Chromium %s, %s: has no violation of accessibility, no error, and fits 360 px',
  async (name, colorScheme) => {
    // The policy of the page refuses the script of axe too.
    const context = await browser.newContext({
      bypassCSP: true,
      colorScheme,
      viewport: { width: 360, height: 800 },
    });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('console', (message) => errors.push(message.text()));
    await page.goto(pages.get(name)!);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.evaluate(AXE);
    const violations = await page.evaluate(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html))',
    );
    expect(violations).toEqual([]);
    expect(errors).toEqual([]);
    await context.close();
  },
);

it('a page in Chromium asks the network for nothing, keeps its own policy, and prints on A4 and Letter', async () => {
  const page = await browser.newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => errors.push(message.text()));
  await page.goto(pages.get('damaged')!);
  expect(requests).toEqual([pages.get('damaged')]);
  expect(errors).toEqual([]);
  for (const format of ['A4', 'Letter']) {
    const pdf = await page.pdf({ format });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  }
});
