import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserPage } from './browsers.ts';

export const PAGE = `${process.cwd()}/dist/page/drillproof.html`;
export const FILE_URL = `file://${PAGE}`;

/** The page that verifies evidence, with the actions of a user. */
export type VerifyPage = BrowserPage &
  AsyncDisposable & {
    chooseFolder(files: readonly string[], root: string): Promise<void>;
    /** Enters the issuer of a chosen public key, which the page reads from the disk before it asks. */
    enterIssuer(issuer: string): Promise<void>;
    /** Starts a verification as of this time and waits for its end: the text of the result, or of the message. */
    verify(asOf: number | string): Promise<string>;
    /** The file that "Save as JSON" saves, without the digest of the page, which the command does not write. */
    saveReport(): Promise<string>;
    /** Drops these files with a drop event. */
    drop(zone: string, input: string, files: readonly string[]): Promise<void>;
    text(selector: string): Promise<string>;
  };

// Catches a Blob that the page saves where the page makes its URL.
const CATCH = `void (() => {
  const make = URL.createObjectURL;
  globalThis.blobs = [];
  URL.createObjectURL = (blob) => { blobs.push(blob); return make.call(URL, blob); };
  HTMLAnchorElement.prototype.click = function () { globalThis.savedAs = this.download; };
})()`;

export async function openPage(browser: Browser, url = FILE_URL): Promise<VerifyPage> {
  const page = await browser.open(url);
  await page.evaluate(CATCH);
  const text = (selector: string): Promise<string> =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`);
  const waitFor = async (condition: string): Promise<void> =>
    page.evaluate(
      `new Promise((resolve) => { const look = () => (${condition}) ? resolve(null) : setTimeout(look, 20); look(); })`,
    );
  return {
    ...page,
    [Symbol.asyncDispose]: () => page.close(),
    text,
    async chooseFolder(files, root) {
      // WebDriver passes files without their paths in the folder.
      const relative = files.map((file) => file.slice(root.length - root.split('/').at(-1)!.length));
      await page.evaluate(`void document.querySelector('#folder').addEventListener('change', ({ target }) => {
        const paths = ${JSON.stringify(relative)};
        [...target.files].forEach((file, at) => {
          if (file.webkitRelativePath === '') Object.defineProperty(file, 'webkitRelativePath', { value: paths[at] });
        });
      }, { capture: true, once: true })`);
      await page.choose('#folder', page.page === undefined ? files : [root]);
    },
    async enterIssuer(issuer) {
      await waitFor("document.querySelector('#key-list input') !== null");
      await page.evaluate(
        `void (document.querySelector('#key-list input').value = ${JSON.stringify(issuer)})`,
      );
    },
    async verify(asOf) {
      await page.evaluate(
        `void (document.querySelector('#as-of').value = ${JSON.stringify(typeof asOf === 'number' ? new Date(asOf).toISOString() : asOf)}, document.querySelector('#verify').click())`,
      );
      await waitFor(
        "!document.querySelector('#result').hidden || !document.querySelector('#message').hidden",
      );
      return page.evaluate(
        "document.querySelector('#message').hidden ? document.querySelector('#report').innerText : document.querySelector('#message').innerText",
      );
    },
    async saveReport() {
      await page.evaluate("void (blobs.length = 0, document.querySelector('#save').click())");
      await waitFor('blobs.length > 0');
      const json = await page.evaluate<string>('blobs.at(-1).text()');
      return json.replaceAll(/,\s*"page": "sha256:[0-9a-f]{64}"/g, '');
    },
    async drop(zone, input, files) {
      // The files come from an input, so their bytes are read from the disk.
      await page.evaluate(
        `void document.querySelector('${input}').addEventListener('change', (event) => { event.stopImmediatePropagation(); globalThis.held = [...event.target.files]; }, { capture: true, once: true })`,
      );
      await page.choose(input, files);
      await page.evaluate(`void (() => {
        const dataTransfer = new DataTransfer();
        for (const file of held) dataTransfer.items.add(file);
        document.querySelector('${zone}').dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
      })()`);
    },
  };
}

/** Serves the page over HTTP on a free port. */
export async function servePage(): Promise<{ readonly port: number; readonly close: () => void }> {
  const html = await readPage();
  const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(html));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

export const readPage = (): Promise<string> => readFile(PAGE, 'utf8');
