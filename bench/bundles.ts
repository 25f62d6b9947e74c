import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { missing } from './peers.ts';

/** The size of a bundle with one import, in bytes. */
export type Bundle = { readonly name: string; readonly minified: number; readonly gzip: number };

const IMPORTS = [
  ['canonicalJson', 'drillproof'],
  ['verifyAttestation', 'drillproof'],
  ['verifyPart', 'drillproof'],
  ['compactVerify', 'jose'],
] as const;

const PLATFORMS = ['browser', 'node'] as const;

/** Bundles each import as an application would. */
export async function measureBundles(): Promise<Bundle[]> {
  const bundles: Bundle[] = [];
  const variants = IMPORTS.flatMap((row) => PLATFORMS.map((platform) => [...row, platform] as const));
  for (const [name, from, platform] of variants) {
    if (from === 'jose' && missing([from]).length > 0) continue;
    const { outputFiles } = await build({
      stdin: { contents: `export { ${name} } from '${from}';`, resolveDir: import.meta.dirname },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform,
      mainFields: ['module', 'main'],
      legalComments: 'none',
      logLevel: 'error',
      tsconfigRaw: {}, // that of this repository selects the sources
    });
    const code = outputFiles[0]!.contents;
    bundles.push({
      name: `${name} of ${from}, for ${platform}`,
      minified: code.length,
      gzip: gzipSync(code).length,
    });
  }
  return bundles;
}
