/**
 * Makes the pictures in docs/images with Chromium, and pictures.json with the digest of the input of each, which a test
 * compares with what the product shows now. Usage: node --conditions=drillproof:source scripts/pictures/main.ts
 */
import { writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { digestInput, makePictures } from './inputs.ts';

const FOLDER = 'docs/images';
const SIZE = { width: 1000, height: 640 };

const pictures = await makePictures();
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
for (const [name, { page, element }] of Object.entries(pictures)) {
  const tab = await browser.newPage({ viewport: SIZE, colorScheme: 'light' });
  await tab.setContent(page);
  const box = element === undefined ? null : await tab.locator(element).first().boundingBox();
  const devtools = await tab.context().newCDPSession(tab);
  const { data } = await devtools.send('Page.captureScreenshot', {
    format: 'webp',
    quality: 75,
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, ...SIZE, ...box, scale: 1.25 },
  });
  const bytes = Buffer.from(data, 'base64');
  writeFileSync(`${FOLDER}/${name}.webp`, bytes);
  console.log(`${FOLDER}/${name}.webp ${bytes.length} bytes`);
  await tab.close();
}
await browser.close();
const digests = Object.fromEntries(
  Object.entries(pictures).map(([name, picture]) => [name, digestInput(picture)]),
);
writeFileSync(`${FOLDER}/pictures.json`, `${JSON.stringify(digests, null, 2)}\n`);
