import { catalogue, codeEntry, type Code } from '../../src/codes/catalogue.ts';
import type { CodeClass } from '../../src/codes/entry.ts';
import { exitOfCode } from '../../src/cli/exit.ts';
import { CHECK_TEXTS, checksOf } from '../../src/verify/check-texts.ts';
import { CHECK_IDS, type CheckId } from '../../src/verify/checks.ts';

const CODES = Object.keys(catalogue) as readonly Code[];

/** The heading of each namespace. */
const ABOUT: Readonly<Record<string, string>> = {
  encoding: 'Text and numbers',
  json: 'JSON',
  zip: 'Archives',
  trust: 'Keys and trust stores',
  attestation: 'Attestations',
  bag: 'BagIt bags',
  dsse: 'DSSE envelopes',
  timestamp: 'Timestamps',
  challenge: 'Challenges',
  bundle: 'Bundles',
  object: 'Objects of a bundle',
  run: 'Runs that contradict themselves',
  coverage: 'Coverage',
  export: 'Exports',
  part: 'Parts of an export',
  'local-report': 'Local reports',
  report: 'Reports',
  receipt: 'Receipts of a mirror',
  expect: 'What the caller expects',
  'tool-source': 'Tool sources',
  build: 'Builds',
  io: 'Files and disks',
  transport: 'The network',
  client: 'The client of a control plane',
  control: 'Responses of a control plane',
  mirror: 'Mirrors',
  inventory: 'The inventory of an archive',
  scrub: 'Scrubs of an archive',
  queue: 'Work shared through a queue',
  policy: 'Policies',
  vsa: 'Verification summaries',
  usage: 'The command line',
  pack: 'Packing',
  selftest: 'The selftest',
  server: 'Running a control plane',
  runner: 'Runners of a control plane',
  internal: 'Faults of drillproof',
};

/** The meaning of each class of codes. */
const CLASSES: Readonly<Record<CodeClass, string>> = {
  malformed: 'a document, an archive or a response breaks a rule of its format',
  missing: 'something that is listed or required does not exist',
  mismatch: 'two values that must be equal differ',
  untrusted: 'a signature is missing, or is not by a key that you trust for it',
  expired: 'a time is outside the period in which it counts',
  unsupported: 'drillproof does not accept this form, although it may be valid',
  limit: 'a limit is exceeded; raise it only if you trust the source',
  extra: 'something exists that does not belong to the evidence',
  claimed: 'only the evidence itself states it',
  usage: 'the command, an option or an input file is wrong',
  inaccessible: 'bytes or a service could not be reached, read or written',
  refused: 'a request or an operation was refused, was cancelled or failed',
  internal: 'drillproof or a signer has a fault',
};

const HEAD = `# Codes and checks

\`drillproof explain CODE\` prints one entry of this page, and \`drillproof explain --json\` prints all of them
([schema](schemas/codes.v1.schema.json)). \`npm run docs\` writes the page from \`src/codes/\` and \`src/verify/\`.

A code is never renamed or reused. Each entry has the meaning, the advice, and in parentheses: the class, the severity
if it is not \`error\`, the checks that can report it (if at most six), and the clause. An \`error\` fails the verdict,
except in class \`inaccessible\`, where it leaves the verdict open. A \`warning\` asks you to look. An \`info\` states a
fact. [verify.md](verify/verify.md#verdicts) explains the verdicts.

## Classes

The exit code is that of a command that ends with an error of the class. Where this table has 1, errors of \`control\` and
\`transport\` end with 3, because a failed request says nothing about the evidence.
`;

const CHECKS_HEAD = `## Checks

Checks run in this order. Each ends as \`passed\`, \`failed\`, \`not_checked\` (it should have run but could not; it never
counts as passed) or \`not_applicable\` (there was nothing to examine). A check that reads an archive or a document can also
report the codes of archives (\`zip\`), JSON (\`json\`) and reading (\`io\`).
`;

/** The page of every class, check and code. */
export function codesPage(): string {
  const spaces = [...new Set(CODES.map(namespaceOf))];
  const checks = `${CHECKS_HEAD}\n${CHECK_IDS.map(checkEntry).join('\n')}`;
  return [HEAD, classTable(), checks, ...spaces.map(section)].join('\n');
}

const namespaceOf = (code: Code): string => code.slice(0, code.indexOf('.'));
const anchor = (name: string): string => name.toLowerCase().replace(/[^a-z0-9_-]/g, '');
const linkTo = (name: string): string => `[\`${name}\`](#${anchor(name)})`;
// A heading has the anchor that links name, and search finds it.
const entryHead = (name: string): string => `### ${name}\n\n`;

function classTable(): string {
  const rows = Object.entries(CLASSES).map(([name, meaning]) => [`\`${name}\``, meaning, exitOfClass(name)]);
  const cells = [['class', 'meaning', 'exit code'], ['', '', ''], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]!.length)));
  const lines = cells.map((row, at) =>
    row.map((cell, column) => cell.padEnd(widths[column]!, at === 1 ? '-' : ' ')),
  );
  return `${lines.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
}

/** The exit code of a class, which its codes share apart from those of requests. */
function exitOfClass(name: string): string {
  const codes = CODES.filter(
    (code) => codeEntry(code).class === name && !/^(?:control|transport)\./.test(code),
  );
  return [...new Set(codes.map(exitOfCode))].join(', ');
}

function checkEntry(id: CheckId): string {
  const codes = CHECK_TEXTS[id].own.map(linkTo).join(', ');
  return `${entryHead(id)}${CHECK_TEXTS[id].sentence}${codes === '' ? '' : `: ${codes}`}\n`;
}

function section(space: string): string {
  const heading = ABOUT[space];
  if (heading === undefined) throw new TypeError(`docs/make/codes-page.ts has no heading for ${space}`);
  const codes = CODES.filter((code) => namespaceOf(code) === space);
  const clauses = new Set(codes.map((code) => codeEntry(code).clause));
  const [shared] = codes.length > 1 && clauses.size === 1 ? clauses : [];
  const intro = shared === undefined ? '' : `The clause of all of these is ${shared}.\n\n`;
  return `## ${heading}\n\n${intro}${codes.map((code) => entry(code, shared)).join('\n')}`;
}

function entry(code: Code, sharedClause: string | undefined): string {
  const { class: codeClass, severity, meaning, action, clause } = codeEntry(code);
  const checks = checksOf(code);
  const facts = [
    codeClass,
    ...(severity === 'error' ? [] : [severity]),
    ...(checks.length > 6 ? [] : checks.map(linkTo)),
    ...(clause === sharedClause ? [] : [clause]),
  ];
  return `${entryHead(code)}${meaning} _${action}_ (${facts.join(' · ')})\n`;
}
