import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutputChunk } from 'rolldown';
import { ENHANCE_REPORT } from '../src/report/html/script.ts';
import { REPORT_CSS } from '../src/report/html/style.ts';
import { bundle, sourcesOf, writeNotices } from './bundle.ts';

const ZEROS = '0'.repeat(64);
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const SOURCE = 'src/web/page';
export const PAGE_NAME = 'drillproof.html';

/** Writes the page that verifies evidence in a browser, its SHA-256, and the licences of the packages inside it. */
export async function buildPage(folder: string): Promise<readonly string[]> {
  const { page, sources } = await makePage();
  const digest = digestOf(page);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, PAGE_NAME), page);
  await writeFile(join(folder, `${PAGE_NAME}.sha256`), `${digest}  ${PAGE_NAME}\n`);
  writeNotices(folder, sources);
  console.log(`${digest}  ${join(folder, PAGE_NAME)}`);
  return sources;
}

/** Makes the page. Its policy names the hashes of its script, its style and its worker, and allows nothing else. */
export async function makePage(): Promise<{
  readonly page: string;
  readonly sources: readonly string[];
}> {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  const worker = await makeScript('src/web/worker/main.ts', { VERSION: JSON.stringify(version) });
  const main = await makeScript(`${SOURCE}/main.ts`, { WORKER_CODE: JSON.stringify(worker.code) });
  const script = ENHANCE_REPORT + main.code;
  const style = REPORT_CSS + (await readFile(`${SOURCE}/page.css`, 'utf8'));
  const values = {
    '{{policy}}': policyOf(script, style, worker.code),
    '{{version}}': version,
    '{{digest}}': ZEROS,
    '{{zeros}}': ZEROS,
    '<!-- {{style}} -->': `<style>${style}</style>`,
    '<!-- {{script}} -->': `<script>${script}</script>`,
  };
  const shell = await readFile(`${SOURCE}/page.html`, 'utf8');
  const page = Object.entries(values).reduce((text, [name, value]) => text.replace(name, () => value), shell);
  // The page states its own digest, which is that of the page with zeros in its place.
  return { page: page.replace(ZEROS, digestOf(page)), sources: [...worker.sources, ...main.sources] };
}

/** Bundles a script, whose text must not end the enclosing element. */
async function makeScript(
  input: string,
  define: Readonly<Record<string, string>>,
): Promise<{ readonly code: string; readonly sources: readonly string[] }> {
  const chunks = await bundle(
    { input, platform: 'browser', transform: { target: 'es2022', define } },
    { format: 'iife' },
  );
  const [{ code }] = chunks as [OutputChunk];
  return {
    code: code
      .trim()
      .replaceAll('</script', String.raw`<\/script`)
      .replaceAll('<!--', String.raw`<\!--`),
    sources: sourcesOf(chunks),
  };
}

function policyOf(script: string, style: string, worker: string): string {
  return [
    "default-src 'none'",
    "connect-src 'none'",
    `script-src ${hashSource(script)} ${hashSource(worker)}`,
    `style-src ${hashSource(style)}`,
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

const hashSource = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
