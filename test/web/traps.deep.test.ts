import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import { afterAll, describe, expect, test } from 'vitest';
import { exportOf, small } from '../../bench/inputs.ts';
import { canonicalJson } from '../../src/bytes/json/canonical.ts';
import { trustStoreJwks } from '../../src/trust/store.ts';
import { flipBit, makeExport, makePart, makeTrust, NOW } from '../support/evidence.ts';
import { BROWSERS } from './browsers.ts';
import { FILE_URL, openPage, servePage, type VerifyPage } from './page.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';

const PARTS = 10_000;
const HOST = 'insecure.test';
const at = (name: string): string => join(dir, name);

const dir = await makeFolder();
const SEVENTH = 'parts/evidence_000000000007.zip';
const { files, signer } = await makeExport({ parts: 150, reports: 0 });
await writeFiles(at('export'), { ...files, [SEVENTH]: flipBit(files[SEVENTH]!, 99) });
const many = await exportOf(small(PARTS));
await writeFiles(dir, {
  'trust.json': canonicalJson(trustStoreJwks(makeTrust(signer))),
  'part.zip': (await makePart(1, signer)).bytes,
});
const server = await servePage();
const browser = await BROWSERS.chromium([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`]);
afterAll(async () => {
  await browser.close();
  server.close();
});

/** Drops a real file or folder, as the system does. */
async function dropPath({ page }: VerifyPage, zone: string, path: string): Promise<void> {
  const { x, y, width, height } = (await page!.locator(zone).boundingBox())!;
  const session = await page!.context().newCDPSession(page!);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data });
}

describe('the page in Chromium', () => {
  test('the page in Chromium lists all files of a dropped folder, although a call lists at most 100', async () => {
    await using page = await openPage(browser, `http://localhost:${server.port}/`);
    await dropPath(page, '#evidence-drop', at('export'));
    await page.choose('#keys-input', [at('trust.json')]);
    const text = await page.verify(NOW);
    expect(text).toContain('149 of 150 parts verified');
    expect(await page.text('#evidence-name')).toContain('export (153 files');
  });

  test('the page in Chromium asks to choose a folder that was dropped on file://', async () => {
    await using page = await openPage(browser, FILE_URL);
    await dropPath(page, '#evidence-drop', at('export'));
    await expect.poll(() => page.text('#message')).toContain('Choose the folder with the button');
    expect(await page.verify(NOW)).toContain('Choose the evidence first');
  });

  test('the page in Chromium finds and filters parts, failed ones first, and looks inside them', async () => {
    await using page = await openPage(browser);
    await page.chooseFolder([], at('export'));
    await page.choose('#keys-input', [at('trust.json')]);
    await page.verify(NOW);
    const status = '#part-controls [role=status]';
    expect(await page.text(status)).toBe('Parts 1 to 100 of 150');
    await page.page!.getByRole('button', { name: 'Failed or incomplete 1' }).click();
    expect(await page.text(status)).toBe('Parts: 1, of 150 in all');
    await page.page!.getByRole('button', { name: 'Look inside evidence_000000000007' }).click();
    await page.page!.locator('#inside-body .finding').first().waitFor();
    expect(await page.text('#inside-body')).toContain('part.DIGEST_MISMATCH');
    expect(await page.text('#inside-title')).toBe('Inside evidence_000000000007');
    await page.page!.keyboard.press('Escape');
    await page.page!.getByRole('button', { name: 'All 150' }).click();
    expect(await page.evaluate("document.querySelector('#part tbody .state').innerText")).toBe('failed');
    await page.page!.getByRole('searchbox').fill('000000000150');
    await page.page!.getByRole('button', { name: 'Look inside evidence_000000000150' }).click();
    await page.page!.locator('#inside-body pre').first().waitFor();
    expect(await page.text('#inside-body')).toContain('What the part contains');
  });

  test(
    `the page in Chromium verifies ${PARTS} parts, filters their rows, and keeps 100 of them in the page`,
    { timeout: 600_000 },
    async () => {
      await using page = await openPage(browser);
      await page.chooseFolder([], join(many, 'export'));
      await page.choose('#keys-input', [join(many, 'trust.json')]);
      expect(await page.verify(NOW)).toContain('10,000 of 10,000 parts verified');
      const rows = "document.querySelectorAll('#part tbody tr').length";
      const status = '#part-controls [role=status]';
      expect([await page.evaluate(rows), await page.text(status)]).toEqual([100, 'Parts 1 to 100 of 10,000']);
      await page.page!.getByRole('button', { name: 'Next' }).click();
      expect(await page.text(status)).toBe('Parts 101 to 200 of 10,000');
      await page.page!.getByRole('searchbox').fill('evidence_000000009999');
      expect(await page.text(status)).toBe('Parts: 1, of 10,000 in all');
      await page.page!.getByRole('button', { name: 'Look inside evidence_000000009999' }).click();
      await page.page!.locator('#inside-body pre').first().waitFor();
      expect(await page.text('#inside-body')).toContain('evidence_000000009999');
    },
  );

  test('the page in Chromium verifies without Web Crypto in an insecure context', async () => {
    await using page = await openPage(browser, `http://${HOST}:${server.port}/`);
    expect(await page.evaluate('[isSecureContext, crypto.subtle === undefined]')).toEqual([false, true]);
    await page.choose('#file', [at('part.zip')]);
    await page.choose('#keys-input', [at('trust.json')]);
    expect(await page.verify(NOW)).toContain('VERIFIED');
  });

  test('the page in Chromium allows no request, no code from text and no style of others', async () => {
    await using page = await openPage(browser);
    const attempts = [
      "fetch('http://localhost/').then(() => 'sent', () => 'refused')",
      "new Promise((resolve) => { const image = new Image(); image.onload = () => resolve('sent'); image.onerror = () => resolve('refused'); image.src = 'http://localhost/a.png'; })",
      "new Promise((resolve) => { const script = document.createElement('script'); script.textContent = 'globalThis.ran = 1'; document.body.append(script); resolve(globalThis.ran === undefined ? 'refused' : 'ran'); })",
      "new Promise((resolve) => { try { const socket = new WebSocket('ws://localhost/'); socket.onerror = () => resolve('refused'); } catch { resolve('refused'); } })",
    ];
    for (const attempt of attempts) expect(await page.evaluate(attempt)).toBe('refused');
  });

  test('the page in Chromium shows no check mark that evidence or names of files contain', async () => {
    await using page = await openPage(browser);
    await writeFile(at('✔ verified ✅.zip'), (await makePart(2)).bytes);
    await page.choose('#file', [at('✔ verified ✅.zip')]);
    const text = await page.verify(NOW);
    expect(text).not.toMatch(/[✔✅]/u);
    expect(text).toContain(String.raw`\u{2714}`);
  });

  test('the page in Chromium fits into 360 and 1000 pixels, and follows a dark color scheme', async () => {
    await using page = await openPage(browser);
    await page.page!.setViewportSize({ width: 360, height: 740 });
    await page.page!.emulateMedia({ colorScheme: 'dark' });
    await page.chooseFolder([], at('export'));
    await page.verify(NOW);
    await page.page!.getByRole('button', { name: 'Look inside evidence_000000000007' }).click();
    const wide = `[...document.querySelectorAll('html, dialog, .scroll')].filter(({ scrollWidth, clientWidth }) => scrollWidth > Math.min(360, clientWidth + 1)).map(({ outerHTML }) => outerHTML.slice(0, 80))`;
    expect(await page.evaluate(wide)).toEqual([]);
    await page.page!.setViewportSize({ width: 1000, height: 740 });
    expect(await page.evaluate(wide.replace('360', '1000'))).toEqual([]);
    await page.page!.setViewportSize({ width: 360, height: 740 });
    await page.evaluate(`void (() => { ${axe.source} })()`);
    expect(await page.evaluate('axe.run().then(({ violations }) => violations)')).toEqual([]);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(13, 17, 23)');
  });

  test('the page in Chromium can be used with the keyboard only', async () => {
    await using page = await openPage(browser);
    const seen = new Set<string>();
    for (let tab = 0; tab < 12; tab++) {
      await page.page!.keyboard.press('Tab');
      seen.add(await page.evaluate('document.activeElement.id || document.activeElement.tagName'));
    }
    expect([...seen]).toEqual(
      expect.arrayContaining(['choose-folder', 'choose-file', 'choose-keys', 'verify']),
    );
  });
});
