import { readFile } from 'node:fs/promises';
import type { Browser, BrowserPage } from './browsers.ts';

export const PAGE = `${process.cwd()}/dist/page/drillproof.html`;
export const FILE_URL = `file://${PAGE}`;

/** The page that verifies, as a user works with it. */
export type VerifyPage = BrowserPage & {
  chooseFolder(files: readonly string[], root: string): Promise<void>;
  /** Starts a verification as of this time and waits for its end: the text of the result, or of the message. */
  verify(asOfMs: number): Promise<string>;
  /** What "Save the report as JSON" saves. */
  saved(): Promise<string>;
  /** Drops these files as the files of a drop event, with their bytes. */
  drop(zone: string, input: string, files: readonly string[]): Promise<void>;
  text(selector: string): Promise<string>;
};

// A Blob that the page saves is caught where the page makes its address.
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
    text,
    async chooseFolder(files, root) {
      // WebDriver gives files without the paths that a folder has.
      const relative = files.map((file) => file.slice(root.length - root.split('/').at(-1)!.length));
      await page.evaluate(`void document.querySelector('#folder').addEventListener('change', ({ target }) => {
        const paths = ${JSON.stringify(relative)};
        [...target.files].forEach((file, at) => {
          if (file.webkitRelativePath === '') Object.defineProperty(file, 'webkitRelativePath', { value: paths[at] });
        });
      }, { capture: true, once: true })`);
      await page.choose('#folder', page.page === undefined ? files : [root]);
    },
    async verify(asOfMs) {
      await page.evaluate(
        `void (document.querySelector('#as-of').value = ${JSON.stringify(new Date(asOfMs).toISOString())}, document.querySelector('#verify').click())`,
      );
      await waitFor(
        "!document.querySelector('#result').hidden || !document.querySelector('#message').hidden",
      );
      return page.evaluate(
        "document.querySelector('#message').hidden ? document.querySelector('#report').innerText : document.querySelector('#message').innerText",
      );
    },
    async saved() {
      await page.evaluate("void document.querySelector('#save').click()");
      return page.evaluate('blobs.at(-1).text()');
    },
    async drop(zone, input, files) {
      // The files come from an input, so that their bytes are those on the disk.
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

export const readPage = (): Promise<string> => readFile(PAGE, 'utf8');
