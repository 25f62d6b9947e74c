import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

/** Writes the licences of every package that the bundler put into a file next to that file, as they require. */
export function writeNotices(folder: string, metafiles: readonly Metafile[]): void {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
  const packages = [...new Set(inputs.flatMap(packageFolder))];
  writeFileSync(join(folder, 'NOTICES.txt'), packages.toSorted().map(notice).join('\n'));
}

const packageFolder = (input: string): string[] =>
  /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.slice(0, 1) ?? [];

function notice(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license: string;
  };
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|notice)/i.test(entry.name))
    .map(({ name: file }) => readFileSync(join(folder, file), 'utf8').trim());
  return [`== ${name} ${version} (${license})`, ...texts, ''].join('\n\n');
}
