import { groupBy } from '../../src/bytes/async.ts';
import { catalogue } from '../../src/codes/catalogue.ts';

/** The codes of signed statements and of their documents, as `StatementCode` has them. */
const STATEMENT_CODE = /^(?:encoding|json|trust|attestation|dsse|timestamp)\./;

/** The classes of all codes as a module, apart from the texts of the catalogue. */
export function codeClassesModule(): string {
  const [ofStatements, others] = [true, false].map((wanted) =>
    formatRows(Object.keys(catalogue).filter((code) => STATEMENT_CODE.test(code) === wanted)),
  );
  return `/** The codes of each class and severity, a line each; a word with a full stop begins the codes after it. \`npm run docs\` writes this file from the catalogue. */
export const STATEMENT_CLASSES = \`
${ofStatements}\`;

export const OTHER_CLASSES = \`
${others}\`;
`;
}

function formatRows(names: readonly string[]): string {
  const rows = new Map<string, string[]>();
  for (const [code, { class: codeClass, severity }] of Object.entries(catalogue)) {
    const key = `${codeClass} ${severity}`;
    if (names.includes(code)) rows.set(key, [...(rows.get(key) ?? []), code]);
  }
  return [...rows].map(([key, codes]) => `${key} ${formatCodes(codes)}\n`).join('');
}

/** Codes, with each namespace once: `zip. NOT_A_ZIP TRUNCATED part. EXTRA`. */
const formatCodes = (codes: readonly string[]): string =>
  [...groupBy(codes, (code) => code.slice(0, code.indexOf('.') + 1))]
    .map(([space, all]) => [space, ...all.map((code) => code.slice(space.length))].join(' '))
    .join(' ');
