/**
 * The page in Chromium next to a page that only reads and hashes the same files: time, and memory above an empty page.
 * Usage: npm run build && node --conditions=drillproof:source bench/browser.ts
 */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { chromium, type Page } from 'playwright-core';
import { exportOf, small, type Shape } from './inputs.ts';

/** One worker reads and hashes the files: small ones 16 at a time, large ones into the same buffer, as the page does. */
const LEAST = `<!doctype html><input id="folder" type="file" multiple webkitdirectory><script>
const code = \`
let spare = new ArrayBuffer(2 ** 25);
async function hash(file) {
  if (file.size < 2 ** 20) return crypto.subtle.digest('SHA-256', new FileReaderSync().readAsArrayBuffer(file));
  const reader = file.stream().getReader({ mode: 'byob' });
  for (let at = 0; at < file.size;) {
    const { value } = await reader.read(new Uint8Array(spare, at, file.size - at));
    spare = value.buffer;
    at += value.length;
  }
  return crypto.subtle.digest('SHA-256', new Uint8Array(spare, 0, file.size));
}
onmessage = async ({ data }) => {
  for (let at = 0; at < data.length; at += 16) {
    const files = data.slice(at, at + 16);
    if (files.every(({ size }) => size < 2 ** 20)) await Promise.all(files.map(hash));
    else for (const file of files) await hash(file);
  }
  postMessage('done');
};\`;
function begin() {
  const worker = new Worker(URL.createObjectURL(new Blob([code])));
  worker.onmessage = () => { document.title = 'done'; };
  worker.postMessage([...document.querySelector('#folder').files]);
}
</script>`;

/** The processes that have this one as an ancestor. */
function listProcesses(): readonly string[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((id) => [id, readOr(`/proc/${id}/stat`).replace(/^.*\) . (\d+) .*$/s, '$1')]),
  );
  const isOurs = (id: string): boolean =>
    id === String(process.pid) || (parents.has(id) && id !== '1' && isOurs(parents.get(id)!));
  return [...parents.keys()].filter(isOurs);
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // the process ended
  }
}

/** The proportional set size of the processes that run pages, in MiB: not of those of the browser and of pictures. */
const measureMiB = (): number =>
  listProcesses()
    .filter((id) => readOr(`/proc/${id}/cmdline`).includes('--type=renderer'))
    .reduce((sum, id) => sum + Number(/^Pss:\s+(\d+)/m.exec(readOr(`/proc/${id}/smaps_rollup`))?.[1]), 0) /
  1024;

async function measure(
  name: string,
  shape: Shape,
  act: (page: Page, root: string) => Promise<void>,
): Promise<void> {
  const root = await exportOf(shape);
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const page = await browser.newPage();
  await page.goto('about:blank');
  await wait(1500);
  const before = measureMiB();
  let highest = 0;
  const watch = setInterval(() => (highest = Math.max(highest, measureMiB())), 60);
  await act(page, root);
  clearInterval(watch);
  const ms = Number(await page.evaluate('Math.round(globalThis.ms)'));
  console.log(`${name}: ${ms} ms, ${Math.round(highest - before)} MiB above an empty page`);
  await browser.close();
}

const folder = await mkdtemp(join(tmpdir(), 'drillproof-browser-'));
await writeFile(join(folder, 'least.html'), LEAST);

const watchFor = (begin: string, isDone: string): string =>
  `new Promise((resolve) => { const start = performance.now(); ${begin}; const look = () => ${isDone} ? resolve(globalThis.ms = performance.now() - start) : setTimeout(look, 10); look(); })`;

async function verify(page: Page, root: string): Promise<void> {
  await page.goto(`file://${resolve('dist/page/drillproof.html')}`);
  await page.setInputFiles('#folder', join(root, 'export'));
  await page.setInputFiles('#keys-input', join(root, 'trust.json'));
  await page.waitForSelector('#key-list li li');
  await page.evaluate(
    watchFor("document.querySelector('#verify').click()", "!document.querySelector('#result').hidden"),
  );
}

async function hash(page: Page, root: string): Promise<void> {
  await page.goto(`file://${join(folder, 'least.html')}`);
  await page.setInputFiles('#folder', join(root, 'export'));
  await page.evaluate(watchFor('begin()', "document.title === 'done'"));
}

for (const [name, shape] of [
  ['10,000 parts of 3.7 kB', small(10_000)],
  ['64 parts of 16 MiB', { parts: 64, logBytes: 2 ** 24, compression: 'store' }],
] as const)
  for (const [what, act] of [
    ['the page', verify],
    ['reading and hashing only', hash],
  ] as const)
    await measure(`${name}, ${what}`, shape, act);
await rm(folder, { recursive: true });
