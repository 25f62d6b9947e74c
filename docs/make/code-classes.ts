import { catalogue } from '../../src/codes/index.ts';

const WIDTH = 110;

/** The classes of all codes as a module, apart from the texts of the catalogue. */
export function codeClassesModule(): string {
  const rows = new Map<string, string[]>();
  for (const [code, { class: codeClass, severity }] of Object.entries(catalogue)) {
    const key = `${codeClass} ${severity}`;
    rows.set(key, [...(rows.get(key) ?? []), code]);
  }
  return `/** The codes of each class and severity. \`npm run docs\` writes this file from the catalogue. */
export const CLASSES = [
${[...rows].map(([key, codes]) => formatRow([...key.split(' '), codes.join(' ')])).join('')}] as const;
`;
}

function formatRow(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  const line = `  [${quoted.join(', ')}],\n`;
  return line.length <= WIDTH ? line : `  [\n${quoted.map((value) => `    ${value},\n`).join('')}  ],\n`;
}
