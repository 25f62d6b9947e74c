import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { loadCharts } from '../../../src/cli/report/charts.ts';
import { renderDecisionPage } from '../../../src/report/html/pages/decision.ts';
import { renderHistoryPage } from '../../../src/report/html/pages/history.ts';
import { renderReportPage } from '../../../src/report/html/report.ts';
import { NO } from '../decision/makers.ts';
import { makeFolder, writeFiles } from '../../support/folder.ts';
import { makeReports } from './samples.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = await makeFolder();
const urlOf = (name: string): string => `file://${join(folder, `${name}.html`)}`;

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const { good, damaged, trust } = await makeReports();
const entries = [good, damaged].map((report, at) => ({ name: `${at}.json`, report }));
await writeFiles(folder, {
  'good.html': renderReportPage(good, { trust }),
  'damaged.html': renderReportPage(damaged, { trust }),
  'history.html': renderHistoryPage(entries, { asOfMs: good.asOfMs, draw: await loadCharts(), trust }),
  'decision.html': renderDecisionPage(NO),
});
afterAll(() => browser.close());

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
    const viewport = { width: 360, height: 800 };
    const context = await browser.newContext({ bypassCSP: true, colorScheme, viewport });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('console', (message) => errors.push(message.text()));
    await page.goto(urlOf(name));
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

it('the tables about many reports are as wide as the page at 1200 px, without scrolling', async () => {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  await page.goto(urlOf('history'));
  const hidden =
    "[...document.querySelectorAll('.scroll')].map((table) => table.scrollWidth - table.clientWidth)";
  expect(Math.max(...(await page.evaluate<number[]>(hidden)))).toBe(0);
});

it.each(['light', 'dark'] as const)(
  'the plots of many reports have the colors of the scheme in %s, and those of paper in print',
  async (colorScheme) => {
    const context = await browser.newContext({ colorScheme });
    const page = await context.newPage();
    await page.goto(urlOf('history'));
    const chosen = (): Promise<string[]> =>
      page.evaluate(
        "[...document.querySelectorAll('picture')].map((picture) => picture.querySelector('img').currentSrc === picture.querySelector('source').srcset ? 'dark' : 'light')",
      );
    expect(await chosen()).toEqual([colorScheme, colorScheme]);
    await page.emulateMedia({ media: 'print' });
    await expect.poll(chosen).toEqual(['light', 'light']);
    await context.close();
  },
);

it('a page in Chromium asks the network for nothing, keeps its own policy, and prints on A4 and Letter', async () => {
  const page = await browser.newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => errors.push(message.text()));
  await page.goto(urlOf('damaged'));
  expect(requests).toEqual([urlOf('damaged')]);
  expect(errors).toEqual([]);
  for (const format of ['A4', 'Letter']) {
    const pdf = await page.pdf({ format });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  }
});
