import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { REPORT_CSS } from '../src/report/html/style.ts';
import { directImports } from './direct-imports.ts';
import { notices } from './notices.ts';

const SOURCE = 'src/web/page';
const NAME = 'drillproof.html';

/** Writes the page that verifies evidence in a browser, and next to it its SHA-256, which is published apart from it. */
export async function buildPage(folder: string): Promise<void> {
  const page = await makePage(folder);
  const digest = createHash('sha256').update(page).digest('hex');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, NAME), page);
  await writeFile(join(folder, `${NAME}.sha256`), `${digest}  ${NAME}\n`);
  console.log(`${digest}  ${join(folder, NAME)}`);
}

/**
 * The page. With a folder, the licences of the packages inside it go there. Its policy names the hashes of its script,
 * its style and its worker, and allows nothing else.
 */
export async function makePage(folder?: string): Promise<string> {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  const worker = await bundle('src/web/worker/main.ts', { VERSION: JSON.stringify(version) }, folder);
  const script = await bundle(`${SOURCE}/main.ts`, { WORKER_CODE: JSON.stringify(worker) });
  const style = REPORT_CSS + (await readFile(`${SOURCE}/page.css`, 'utf8'));
  const values = {
    '{{policy}}': policyOf(script, style, worker),
    '{{version}}': version,
    '<!-- {{style}} -->': `<style>${style}</style>`,
    '<!-- {{script}} -->': `<script>${script}</script>`,
  };
  const shell = await readFile(`${SOURCE}/page.html`, 'utf8');
  return Object.entries(values).reduce((text, [name, value]) => text.replace(name, () => value), shell);
}

async function bundle(
  entry: string,
  define: Readonly<Record<string, string>>,
  outdir?: string,
): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    platform: 'browser',
    minify: true,
    charset: 'ascii', // a worker from a Blob has no encoding of its own
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
    define,
    conditions: ['drillproof:source'],
    metafile: true,
    ...(outdir === undefined ? { plugins: [directImports] } : { outdir, plugins: [directImports, notices] }),
  });
  // Its text must not end the enclosing element.
  return outputFiles[0]!.text
    .trim()
    .replaceAll('</script', String.raw`<\/script`)
    .replaceAll('<!--', String.raw`<\!--`);
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
