import { catalogue, codeEntry, type Code } from '../../src/codes/index.ts';
import { exitOfCode } from '../../src/cli/shared/output/exit-codes.ts';
import { CHECKS, checksOf, type CheckId } from '../../src/verify/checks.ts';

const CODES = Object.keys(catalogue) as readonly Code[];
const CHECK_IDS = Object.keys(CHECKS) as readonly CheckId[];

/** What the codes of a namespace speak about. */
const ABOUT: Readonly<Record<string, string>> = {
  encoding: 'Text and numbers',
  json: 'JSON',
  zip: 'Archives',
  trust: 'Keys and trust stores',
  attestation: 'Attestations',
  bag: 'BagIt bags',
  dsse: 'DSSE envelopes',
  bundle: 'Bundles',
  object: 'Objects of a bundle',
  export: 'Exports',
  part: 'Parts of an export',
  'local-report': 'Local reports',
  report: 'Reports of a verification',
  receipt: 'Receipts of a mirror',
  expect: 'What the caller expects',
  'tool-source': 'Tool sources',
  build: 'Builds',
  io: 'Files and disks',
  transport: 'The network',
  client: 'The client of a control plane',
  control: 'Answers of a control plane',
  mirror: 'Mirrors',
  scrub: 'Scrubs of an archive',
  queue: 'Work shared through a queue',
  policy: 'Policies',
  vsa: 'Verification summaries',
  usage: 'Wrong calls',
  pack: 'Packing',
  selftest: 'The selftest',
  server: 'Running a control plane',
  internal: 'Faults of this program',
};

const HEAD = `# Codes and checks

Made by \`npm run docs\` from \`src/codes/\` and \`src/verify/\`; a test fails when it is stale. \`drillproof explain CODE\`
says the same of one code or check, and \`drillproof explain --json\` gives everything to a program
([schema](schemas/codes.v1.schema.json)).

A code is never renamed, and never given another meaning. Its class decides what follows: \`error\` codes fail a verdict,
except those of class \`inaccessible\`, which leave it open, for what could not be read says nothing about the evidence. A
\`warning\` asks for a look, \`info\` states a fact. The exit code is that of a command which ends with the code; what a
verdict comes to is in [formats §4](formats.md#4-verdicts).

## Checks

In the order in which a verification runs them. Each ends as \`passed\`, \`failed\`, \`not_checked\` (it should have run and
could not; never counts as passed) or \`not_applicable\` (there was nothing to judge). A check that reads an archive or a
document can also give the codes of archives (\`zip.…\`), JSON (\`json.…\`) and reading (\`io.…\`), as the rows of these say.
`;

/** The page of every check and every code. */
export function codesPage(): string {
  const spaces = [...new Set(CODES.map(namespaceOf))];
  return `${HEAD}\n${CHECK_IDS.map(checkEntry).join('\n')}\n${spaces.map(section).join('\n')}`;
}

const namespaceOf = (code: Code): string => code.slice(0, code.indexOf('.'));
const codeLink = (code: Code): string => `[\`${code}\`](#${anchor(code)})`;
const anchor = (code: string): string => code.toLowerCase().replace(/[^a-z0-9_-]/g, '');

function checkEntry(id: CheckId): string {
  const own = CHECKS[id].own.map(codeLink).join(', ');
  return `### ${id}\n\nA pass states: ${CHECKS[id].sentence}. Codes: ${own === '' ? 'those of what it reads' : own}.\n`;
}

function section(space: string): string {
  const about = ABOUT[space];
  if (about === undefined) throw new TypeError(`docs/make/codes-page.ts has no heading for ${space}`);
  const codes = CODES.filter((code) => namespaceOf(code) === space);
  return `## ${about}\n\n${codes.map(entry).join('\n')}`;
}

function entry(code: Code): string {
  const { class: codeClass, severity, meaning, action, clause } = codeEntry(code);
  const checks = checksOf(code).map((id) => `\`${id}\``);
  const facts = [
    `class \`${codeClass}\``,
    `severity \`${severity}\``,
    ...(severity === 'error' ? [`exit code ${exitOfCode(code)}`] : []),
    clause,
  ];
  const by = checks.length === 0 || checks.length > 6 ? '' : ` Found by ${checks.join(', ')}.`;
  return `### ${code}\n\n${meaning} _${action}_\n\n${facts.join(' · ')}.${by}\n`;
}
