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
import { digestOf } from '../../../src/bytes/hash.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { visibleText } from '../../../src/report/html/document.ts';
import { exportReport, failedPart, part } from '../makers.ts';
import { ATTACK, attacked, makeReports } from './samples.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = await makeFolder();
const urlOf = (name: string): string => `file://${join(folder, `${name}.html`)}`;

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const { good, damaged, trust } = await makeReports();
const entries = [good, damaged].map((report, at) => ({ name: `${at}.json`, report }));
const drill = { drillId: 'd', targetId: 't', status: 'completed', verdict: 'failed' };
const PARTS = 10_000;
const many = Array.from({ length: PARTS }, (_, at) => {
  const entry =
    at % 4 === 3 && at < 20 ? failedPart(at + 1) : part(at + 1, at === 0 ? { outcome: drill } : {});
  return { ...entry, archive: { digest: digestOf(toUtf8(String(at))), bytes: at } };
});
await writeFiles(folder, {
  'many.html': renderReportPage(exportReport({ verdict: 'failed', parts: many })),
  'attacked.html': renderReportPage(attacked(exportReport({ verdict: 'failed', parts: many.slice(0, 200) }))),
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
  ['many', 'light'],
  ['many', 'dark'],
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

const ROWS =
  "document.querySelector('#part tbody').innerHTML.replaceAll(/>\\s+</g, '><').replaceAll(/\\s+/g, ' ')";
const STATUS = "document.querySelector('[role=status]').textContent";

it('a page about 10,000 parts in Chromium has fewer than 5,000 elements, and prints on 40 pages', async () => {
  const page = await browser.newPage();
  await page.goto(urlOf('many'));
  expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(5000);
  const pdf = await page.pdf({ format: 'A4' });
  expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)!.length).toBeLessThanOrEqual(40);
  await page.close();
});

it('the script of a page makes the rows that the page has without it', async () => {
  const contexts = await Promise.all(
    [false, true].map((javaScriptEnabled) => browser.newContext({ javaScriptEnabled, timezoneId: 'UTC' })),
  );
  const [without, withScript] = await Promise.all(
    contexts.map(async (context) => {
      const page = await context.newPage();
      // A file in Chromium may write to the clipboard. The buttons for it are of the script only.
      await page.goto(urlOf('many'));
      const rows = await page.evaluate<string>(ROWS);
      return rows.trim().replaceAll(/ *<button[^>]*>Copy<\/button>/g, '');
    }),
  );
  expect(withScript).toBe(without);
  await Promise.all(contexts.map((context) => context.close()));
});

it('a page about many parts filters, finds and pages them, and a link to a part leads to its row', async () => {
  const page = await browser.newPage();
  await page.goto(urlOf('many'));
  expect(await page.evaluate(STATUS)).toBe('Parts 1 to 100 of 10,000');
  await page.getByRole('button', { name: 'Next' }).click();
  expect(await page.evaluate(STATUS)).toBe('Parts 101 to 200 of 10,000');
  await page.getByRole('button', { name: 'Failed or incomplete 5' }).click();
  expect(await page.evaluate(STATUS)).toBe('Parts: 5, of 10,000 in all');
  expect(await page.getByRole('button', { pressed: true }).allTextContents()).toEqual([
    'Failed or incomplete 5',
  ]);
  await page.getByRole('button', { name: 'Drill did not pass 1' }).click();
  expect(await page.locator('#part tbody th code').first().textContent()).toBe('evidence_000000000001');
  await page.locator('.case a').first().click();
  expect(page.url()).toMatch(/#part-1$/);
  expect(await page.locator('#part tr:target code').first().textContent()).toBe('evidence_000000000004');
  await page.getByRole('searchbox').fill('000000009999');
  expect(await page.evaluate(STATUS)).toBe('Parts: 1, of 10,000 in all');
  await page.close();
});

it('a page in Chromium copies a digest, shows local times, and stops the keyboard only at what acts', async () => {
  const context = await browser.newContext({
    timezoneId: 'Asia/Tokyo',
    locale: 'en-GB',
    viewport: { width: 1280, height: 800 },
  });
  const page = await context.newPage();
  await page.goto(urlOf('good'));
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.locator('time').first().textContent()).toMatch(/GMT\+9 \d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(await page.locator('.scroll[tabindex]').count()).toBe(0);
  await page.getByRole('button', { name: 'Expand all' }).click();
  expect(await page.locator('details:not([open])').count()).toBe(0);
  await context.close();
});

it('hostile text in the data of a page stays text', async () => {
  const page = await browser.newPage();
  const dialogs: unknown[] = [];
  page.on('dialog', (dialog) => dialogs.push(dialog.dismiss()));
  await page.goto(urlOf('attacked'));
  await page.getByRole('button', { name: 'Next' }).click();
  expect(await page.evaluate(STATUS)).toBe('Parts 101 to 200 of 200');
  expect(await page.locator('img, main script:not([type])').count()).toBe(0);
  expect(await page.locator('#part tbody th code').first().textContent()).toBe(visibleText(ATTACK));
  expect(dialogs).toEqual([]);
  await page.close();
});

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
  // What is fixed is on every page, and the box of the report has room for it on every page.
  await page.emulateMedia({ media: 'print' });
  const read = `[getComputedStyle(document.querySelector('.running')).position, getComputedStyle(document.querySelector('main')).boxDecorationBreak]`;
  expect(await page.evaluate(read)).toEqual(['fixed', 'clone']);
});
