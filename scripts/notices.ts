import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { packedInputs } from './single.ts';

/** Writes the licences of every package in a single file next to it, as they require. */
export const notices: Plugin = {
  name: 'notices',
  setup(build) {
    const { outdir = '.' } = build.initialOptions;
    build.onEnd(({ metafile }) => {
      const inputs = [...Object.keys(metafile?.inputs ?? {}), ...packedInputs];
      const folders = [...new Set(inputs.flatMap(packageFolder))];
      mkdirSync(outdir, { recursive: true });
      writeFileSync(join(outdir, 'NOTICES.txt'), folders.toSorted().map(notice).join('\n'));
    });
  },
};

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
