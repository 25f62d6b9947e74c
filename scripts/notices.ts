import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the licences of every package from which the bundler put a source into a file next to that file, as they require. */
export function writeNotices(folder: string, sources: readonly string[]): void {
  const packages = [...new Set(sources.flatMap(packageFolder))];
  writeFileSync(join(folder, 'NOTICES.txt'), packages.toSorted().map(notice).join('\n'));
}

const packageFolder = (source: string): string[] =>
  /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(source)?.slice(0, 1) ?? [];

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
