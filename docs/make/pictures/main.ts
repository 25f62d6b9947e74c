/**
 * Makes the pictures in docs/images with Chromium, and pictures.json with the digest of the input of each, which a test
 * compares with what the product shows now. Usage: node --conditions=drillproof:source docs/make/pictures/main.ts
 */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { NOW } from '../../../test/support/evidence.ts';
import { digestInput, makePictures, type Picture } from './inputs.ts';

const SIZE = { width: 1000, height: 640 };

const PHONE = { width: 360, height: 640 };

const folder = await mkdtemp(join(tmpdir(), 'drillproof-pictures-'));
const pictures = await makePictures(folder);
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
for (const [name, picture] of Object.entries(pictures)) {
  const { element, isDarkPhone = false } = picture;
  const viewport = isDarkPhone ? PHONE : SIZE;
  const colorScheme = isDarkPhone ? 'dark' : 'light';
  const tab = await browser.newPage({ viewport, colorScheme, timezoneId: 'UTC', locale: 'en-GB' });
  await open(tab, picture);
  const box = element === undefined ? null : await tab.locator(element).first().boundingBox();
  const top = await tab.evaluate<number>('scrollY');
  const devtools = await tab.context().newCDPSession(tab);
  const { data } = await devtools.send('Page.captureScreenshot', {
    format: 'webp',
    quality: 75,
    captureBeyondViewport: true,
    clip: { x: 0, ...viewport, ...box, y: top + (box?.y ?? 0), scale: 1.25 },
  });
  const bytes = Buffer.from(data, 'base64');
  writeFileSync(`docs/images/${name}.webp`, bytes);
  console.log(`docs/images/${name}.webp ${bytes.length} bytes`);
  await tab.close();
}
await browser.close();
await rm(folder, { recursive: true });
const digests = Object.fromEntries(
  Object.entries(pictures).map(([name, picture]) => [name, digestInput(picture)]),
);
writeFileSync('docs/images/pictures.json', `${JSON.stringify(digests, null, 2)}\n`);

/** Opens the page of a picture, and verifies as a user does. */
async function open(tab: Page, { page, verifies }: Picture): Promise<void> {
  if (verifies === undefined) return tab.setContent(page);
  await tab.goto(`file://${resolve('dist/page/drillproof.html')}`);
  if (verifies === '') return;
  await tab.setInputFiles('#folder', join(folder, verifies));
  await tab.setInputFiles('#keys-input', join(folder, 'trust.json'));
  await tab.evaluate(`void (document.querySelector('#as-of').value = '${new Date(NOW).toISOString()}')`);
  await tab.click('#verify');
  await tab.waitForSelector('#result', { state: 'visible' });
}
