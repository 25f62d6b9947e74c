import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { flipBit } from '../../support/evidence.ts';
import { writeFiles } from '../../support/folder.ts';
import { BROWSERS } from '../../web/browsers.ts';
import { makeProgramProject } from './programs.ts';

const PART = 'parts/evidence_000000000001.zip';

it('the page of docs/start/library.md verifies a folder in a browser, and finds a changed byte', async () => {
  const { project, files } = await makeProgramProject('library.md');
  await writeFiles(join(project, 'damaged'), { ...files, [PART]: flipBit(files[PART]!, 100) });
  const options = { bundle: true, format: 'esm', logLevel: 'error' } as const;
  await build({ ...options, entryPoints: [join(project, 'page.js')], outfile: join(project, 'bundle.js') });
  const server = createServer(({ url }, response) => {
    const isScript = url === '/bundle.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(readFileSync(join(project, isScript ? 'bundle.js' : 'page.html')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const browser = await BROWSERS.chromium();
  onTestFinished(() => browser.close());
  const page = await browser.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await page.choose('#trust', [join(project, 'trust.json')]);
  for (const [folder, text] of [
    ['export', /^VERIFIED /],
    ['damaged', /^FAILED .*part\.DIGEST_MISMATCH/],
  ] as const) {
    await page.choose('#folder', [join(project, folder)]);
    await expect.poll(() => page.evaluate("document.querySelector('pre').textContent")).toMatch(text);
  }
});
