import { spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decisionRenderers } from '../../src/report/decision-renderers.ts';
import { call, scratch, writeEvidence } from '../cli/make.ts';
import { pasteIntoShell } from './start/programs.ts';

const HOME = process.cwd();
const PAGES = ['README.md', ...globSync('docs/**/*.md')];
const textOf = (page: string): string => readFileSync(join(HOME, page), 'utf8');

type Sample = { readonly command: string; readonly output: string; readonly exit: number };

/** The commands of a page with their output. "```console exit=1" is the exit code of the last command of a block. */
function samplesOf(page: string): readonly Sample[] {
  const blocks = textOf(page).matchAll(/^```console(?: exit=(\d+))?\n([\s\S]*?)\n```$/gm);
  return Array.from(blocks, ([, exit = '0', text = '']) => {
    const samples = text.split(/^\$ /m).slice(1).map(parseSample);
    return samples.map((sample, at) => ({ ...sample, exit: at === samples.length - 1 ? Number(exit) : 0 }));
  }).flat();
}

/** A command continues after a backslash or pipe at the end of a line, and up to the end of a here-document. */
function parseSample(text: string): Omit<Sample, 'exit'> {
  const [command = ''] = /^.*<<'(\w+)'\n[\s\S]*?\n\1(?=\n|$)|^(?:.*[\\|]\n)*.*/.exec(text) ?? [];
  return {
    command: command.replaceAll(/\s*\\\n\s*/g, ' '),
    output: text.slice(command.length).replace(/^\n/, '').trimEnd(),
  };
}

/** Writes the named blocks of a page, such as "```yaml release.yaml". */
function writeFiles(page: string, names: ReadonlyMap<string, string> = new Map()): void {
  for (const [, name = '', text = ''] of textOf(page).matchAll(/^```\S+ (\w\S*\.\S+)\n([\s\S]*?)\n```$/gm))
    writeFileSync(name, `${translate(text, names)}\n`, { mode: 0o755 });
}

async function must(line: string): Promise<void> {
  const { code, stderr } = await call(line.split(' '));
  if (code !== 0) throw new Error(`${line}: ${stderr}`);
}

function damage(part: string): void {
  const bytes = readFileSync(part);
  const at = bytes.indexOf('nothing special');
  writeFileSync(part, bytes.with(at, bytes[at]! ^ 1));
}

/** Writes a mirror, and a copy in which one byte of a part is changed. */
async function makeMirrors(): Promise<void> {
  await must('mirror --from export --to mirror');
  cpSync('mirror', 'damaged', { recursive: true });
  damage('damaged/parts/evidence_000000000002.zip');
}

/** Writes a mirror with the bundle of a drill that passed. */
async function makePassedMirror(): Promise<void> {
  await must('export part-1.zip --out passed --key key.pem --issuer acme-ci');
  await must('mirror --from passed --to mirror');
}

async function makeDecision(): Promise<void> {
  await makePassedMirror();
  writeFiles('docs/gate/policy.md');
}

/** Writes an archive of three mirrors, and a copy with a damaged and a missing part. */
async function makeArchive(): Promise<void> {
  for (const id of ['000000000001', '000000000002', '000000000003']) {
    await must(`export part-1.zip part-2.zip --id evexp_${id} --out ${id} --key key.pem --issuer acme-ci`);
    await must(`mirror --from ${id} --to archive/evexp_${id}`);
  }
  cpSync('archive', 'later', { recursive: true });
  damage('later/evexp_000000000002/parts/evidence_000000000002.zip');
  rmSync('later/evexp_000000000003/parts/evidence_000000000001.zip');
}

/** The commands of the README that are pasted into an empty folder. */
const QUICK_START = /^## Quick start\n[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(textOf('README.md'))?.[1] ?? '';

const clear = (): void => readdirSync('.').forEach((name) => rmSync(name, { recursive: true }));

/** Writes what the commands of a page need in addition to the files of `writeEvidence` and the named blocks. */
const PREPARE: Readonly<Record<string, () => void | Promise<void>>> = {
  async 'README.md'() {
    clear();
    for (const line of QUICK_START.trim().split('\n')) await run(line);
  },
  'docs/verify/keys.md'() {
    const { keys } = JSON.parse(readFileSync('trust.json', 'utf8')) as { keys: Record<string, unknown>[] };
    const published = keys.map(({ issuer: _issuer, purposes: _purposes, ...key }) => key);
    writeFileSync('jwks.json', JSON.stringify({ keys: published }));
    for (const name of ['key.pem', 'key.pub.pem', 'trust.json']) rmSync(name);
  },
  async 'docs/verify/verify.md'() {
    await makeMirrors();
    await must('keys generate --out qa.pem');
    await must('keys add qa.pub.pem --issuer acme-qa --trust trust.json');
    const signers = 'signers: { distinct: 2 }';
    writeFileSync('two-keys.yaml', `schemaVersion: 1\nkind: policy\nname: two-keys\n${signers}\n`);
  },
  'docs/start/archive.md': clear,
  'docs/start/auditor.md': clear,
  'docs/start/gate.md': clear,
  'docs/gate/gate.md': makeDecision,
  'docs/gate/gate-formats.md': makeDecision,
  'docs/gate/policy.md': makePassedMirror,
  async 'docs/gate/vsa.md'() {
    await makePassedMirror();
    await must('policy init policy.yaml');
  },
  async 'docs/archive/receipts.md'() {
    for (let runs = 0; runs < 3; runs++) {
      rmSync('mirror/SHA256SUMS', { force: true }); // a run that changes nothing writes no receipt
      await must('mirror --from export --to mirror');
    }
  },
  'docs/archive/mirror.md': makeMirrors,
  'docs/archive/scrub.md': makeArchive,
  'docs/archive/scale.md': makeArchive,
  'docs/formats/selftest.md': () => symlinkSync(join(HOME, 'docs'), 'docs'),
};

// A name differs between runs, but is the same everywhere on a page. Figures are not compared.
const DIGEST = /\b[0-9a-f]{64}\b/;
const NAME = new RegExp(String.raw`${DIGEST.source}|\bevexp_\w+|\b\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{12}\b`);
const START = /\b[0-9a-f]{12}…/;
const FIGURE = /\b\d{4}-\d\d-\d\dT[\d:.]+Z|\b[\d.,]+(?= (?:%|(?:KiB|bytes|s)\b))/;
const VARIABLE = new RegExp(
  `(${[NAME, START, FIGURE, /^…\n|…/].map(({ source }) => source).join('|')})`,
  'm',
);

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/** The pattern of a variable piece of an output; `…` alone on a line is any number of lines. */
function patternOf(piece: string, names: ReadonlyMap<string, string>): string {
  if (piece.startsWith('…')) return piece === '…' ? '.*' : '(?:.*\n)*?';
  if (START.test(piece)) return '[0-9a-f]{12}…';
  if (NAME.test(piece)) return `(${names.get(piece) ?? String.raw`[\w.-]+`})`;
  return '[0-9T:.,Z-]+';
}

/** Compares an output with that on a page. If they match, each name on the page gets the name of this run. */
function matchOutput(actual: string, shown: string, names: Map<string, string>): boolean {
  const pieces = `${shown}\n`.split(VARIABLE);
  const pattern = pieces
    .map((piece, at) => (at % 2 === 0 ? escape(piece) : patternOf(piece, names)))
    .join('');
  const match = new RegExp(`^${pattern}$`).exec(`${actual.trimEnd()}\n`);
  const variable = pieces.filter((piece, at) => at % 2 === 1 && NAME.test(piece));
  for (const [at, name] of variable.entries()) names.set(name, match?.[at + 1] ?? name);
  return match !== null;
}

/** Replaces the names on a page, and the beginnings of digests, by those of this run. */
const translate = (command: string, names: ReadonlyMap<string, string>): string =>
  command
    .replaceAll(new RegExp(NAME, 'g'), (name) => names.get(name) ?? name)
    .replaceAll(/(?<=sha256:)[0-9a-f]{12}\b/g, (start) => {
      const [, digest = start] = Array.from(names).find(([shown]) => shown.startsWith(start)) ?? [];
      return digest.slice(0, start.length);
    });

/** Runs a command of a page: in this process if it is only drillproof, otherwise in a shell. */
async function run(command: string): Promise<{ readonly exit: number; readonly text: string }> {
  const [, line, file] = /^drillproof ((?:'[^']*'|"[^"]*"|[^|;&<>$])*?)(?: > (\S+))?$/.exec(command) ?? [];
  if (line === undefined) {
    const { status, stdout } = spawnSync('sh', ['-ec', command], { encoding: 'utf8' });
    return { exit: status ?? -1, text: stdout };
  }
  const words = Array.from(line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g), ([, a, b, c]) => a ?? b ?? c ?? '');
  const { code, stdout, stderr } = await call(words);
  if (file !== undefined) writeFileSync(file, stdout);
  return { exit: code, text: (file === undefined ? stdout : '') + stderr };
}

const evidence = await scratch();
mkdirSync(evidence.path('evidence'));
await writeEvidence(evidence.path('evidence'));
afterAll(() => evidence[Symbol.asyncDispose]());

it('the quick start of README.md, pasted into an empty folder, verifies evidence and then finds a changed byte', async () => {
  expect(QUICK_START.trim().split('\n').length).toBeLessThanOrEqual(8);
  const { code, stdout } = await pasteIntoShell(QUICK_START);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/^VERIFIED [^]*^FAILED .*: part\.DIGEST_MISMATCH, zip\.CRC_MISMATCH/m),
  ]);
});

describe.each(PAGES.filter((page) => samplesOf(page).length > 0))('%s', (page) => {
  const names = new Map<string, string>();
  beforeAll(async () => {
    const folder = evidence.path(page.replace('/', '-'));
    cpSync(evidence.path('evidence'), folder, { recursive: true });
    process.chdir(folder);
    await PREPARE[page]?.();
  });
  afterAll(() => process.chdir(HOME));

  const rows = samplesOf(page).map((sample) => [sample.command.split('\n', 1)[0], sample] as const);
  it.each(rows)(`${page} shows what "%s" prints`, async (_, { command, output, exit }) => {
    writeFiles(page, names);
    const ended = await run(translate(command, names));
    if (output !== '' && !matchOutput(ended.text, output, names)) expect(ended.text).toBe(output);
    expect(ended.exit, ended.text).toBe(exit);
  });
});

it.each(PAGES)('%s shows output only of commands that the tests run', (page) => {
  const blocks = textOf(page).replaceAll(/^```console[\s\S]*?^```$/gm, '');
  expect(Array.from(blocks.matchAll(/^ *\$ .*/gm), ([line]) => line)).toEqual([]);
});

it('docs/gate/gate-formats.md has a row for every format of the gate, and a sample of those for CI', () => {
  const page = textOf('docs/gate/gate-formats.md');
  for (const kind of Object.keys(decisionRenderers)) {
    expect(page).toContain(`| \`${kind}\``);
    if (!['text', 'json', 'html'].includes(kind)) expect(page).toContain(`--format ${kind}\n`);
  }
});

it('docs/start/gate.md has a pipeline of at most eight commands', () => {
  expect(
    samplesOf('docs/start/gate.md').findIndex(({ command }) => command.startsWith('drillproof gate ')),
  ).toBeLessThan(8);
});
