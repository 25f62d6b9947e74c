import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type InputOptions, type OutputChunk, type OutputOptions, rolldown } from 'rolldown';

/** Bundles sources for Node.js, or with `platform` for browsers. Names stay; types, white space and unused code go. */
export async function bundle(input: InputOptions, output: OutputOptions): Promise<readonly OutputChunk[]> {
  const { platform = 'node', resolve } = input;
  const bundler = await rolldown({
    ...input,
    platform,
    resolve: {
      conditionNames: [...(resolve?.conditionNames ?? []), 'drillproof:source', platform],
    },
    checks: { ineffectiveDynamicImport: false }, // an import can be late for one command only
  });
  const options: OutputOptions = {
    format: 'esm',
    comments: false,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    ...output,
  };
  const isFile = (options.dir ?? options.file) !== undefined;
  const written = await (isFile ? bundler.write(options) : bundler.generate(options));
  return written.output.filter((chunk) => chunk.type === 'chunk');
}

/** The sources in chunks, as paths from the root. */
export const sourcesOf = (chunks: readonly OutputChunk[]): readonly string[] =>
  chunks.flatMap(({ moduleIds }) => moduleIds.map((id) => relative('.', id)));

/** Writes the licences of the packages from which a bundle has code into a file next to it, as they require. */
export function writeNotices(folder: string, sources: readonly string[]): void {
  const folders = sources.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  writeFileSync(join(folder, 'NOTICES.txt'), [...new Set(folders)].toSorted().map(notice).join('\n'));
}

function notice(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license: string;
  };
  const texts = readTexts(folder);
  // Some packages only name the Apache License, which is that of this repository too.
  if (texts.length === 0 && license === 'Apache-2.0') texts.push(readFileSync('LICENSE', 'utf8').trim());
  if (texts.length === 0) throw new Error(`${name} has no text of its licence ${license}`);
  return [`== ${name} ${version} (${license})`, ...texts, ''].join('\n\n');
}

/** Reads the files with the licence and the notices of a package, or the section of its README with the licence. */
function readTexts(folder: string): string[] {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const texts = names.filter((name) => /^(licen[cs]e|notice)/i.test(name)).map((name) => read(name).trim());
  if (texts.length > 0) return texts;
  const readme = names.find((name) => /^readme/i.test(name));
  const [section] = /^#+ *licen[cs]e$[^]+/im.exec(readme === undefined ? '' : read(readme)) ?? [];
  return section?.includes('Copyright') === true ? [section.trim()] : [];
}
