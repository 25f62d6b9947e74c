import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { DrillproofError } from '../../src/errors.ts';
import { memoryAccess, type RandomAccess } from '../../src/bytes/random-access.ts';
import {
  assertExportFiles,
  type EvidenceSource,
  memorySource,
  openZipEvidence,
} from '../../src/evidence/source.ts';
import { openEvidence } from '../../src/node/open-evidence.ts';
import { parseTrustStore } from '../../src/trust/store.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import { allFindings } from '../../src/verify/finding.ts';
import { verifyPart } from '../../src/verify/part/part.ts';
import type { Case } from './cases/build.ts';
import type { Tree } from './cases/tree.ts';

/** The paths of one case and the time of its verification. */
export type Question = { readonly path: string; readonly trust: string; readonly at: number };

/** The answer of a verifier: a verdict, `refused` for input that has none, or a crash. */
export type Answer = {
  readonly verdict?: string;
  readonly completeness?: string;
  readonly codes?: readonly string[];
  readonly crash?: string;
};

/** A verifier that answers questions in their order. */
export type Verifier = (questions: readonly Question[]) => Promise<readonly Answer[]>;

/** Writes the cases of a verifier to one folder, each over the one before. */
export class Desk {
  readonly #folder: string;
  #paths: readonly string[] = [];

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder);
  }

  write({ tree: content, zip, trust, atMs }: Case): Question {
    const tree = join(this.#folder, 'export');
    const [path, trustPath] = [
      zip ? join(this.#folder, 'evidence.zip') : tree,
      join(this.#folder, 'trust.json'),
    ];
    replaceFile(trustPath, trust);
    if (zip) replaceFile(path, zip);
    else if (content) this.#writeTree(tree, content);
    return { path, trust: trustPath, at: atMs };
  }

  #writeTree(tree: string, { files, links, folders }: Tree): void {
    if (this.#paths.some((path) => !Object.hasOwn(files, path)))
      rmSync(tree, { recursive: true, force: true });
    mkdirSync(tree, { recursive: true });
    for (const [path, bytes] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, path)), { recursive: true });
      replaceFile(join(tree, path), bytes);
    }
    for (const path of links) {
      mkdirSync(dirname(join(tree, path)), { recursive: true });
      symlinkSync('nothing', join(tree, path));
    }
    for (const path of folders) mkdirSync(join(tree, path), { recursive: true });
    this.#paths = [...Object.keys(files), ...[...links, ...folders].map((path) => `${path}/`)]; // no file
  }
}

/** Some file systems write a file that is truncated to the disk at once, which takes a hundred times as long. */
function replaceFile(path: string, bytes: Uint8Array): void {
  rmSync(path, { force: true });
  writeFileSync(path, bytes);
}

type Opened = (
  | { readonly kind: 'part'; readonly access: RandomAccess }
  | { readonly kind: 'export'; readonly source: EvidenceSource }
) & { close?(): Promise<void> };

async function openCase({ tree, zip }: Case): Promise<Opened> {
  if (zip) return openZipEvidence(memoryAccess(zip), 'evidence.zip');
  const source = memorySource(tree?.files ?? {});
  assertExportFiles('export', await source.files());
  return { kind: 'export', source };
}

const isPlain = ({ files, links, folders }: Tree): boolean =>
  links.length === 0 && folders.length === 0 && files['bagit.txt'] === undefined;

/** The answer of this program to a case, which it reads from memory if the memory can have everything in it. */
export async function answerCase(one: Case, question: Question): Promise<Answer> {
  if (one.tree === undefined || isPlain(one.tree)) return answer(one.trust, one.atMs, () => openCase(one));
  const [answered] = await drillproof([question]);
  return answered!;
}

/** The answers of this program to cases on disk, as its command gives them. */
export const drillproof: Verifier = (questions) =>
  Promise.all(
    questions.map(async ({ path, trust, at }) => answer(await readFile(trust), at, () => openEvidence(path))),
  );

async function answer(trust: Uint8Array, asOfMs: number, open: () => Promise<Opened>): Promise<Answer> {
  try {
    const options = { asOfMs, trust: parseTrustStore(trust) };
    const evidence = await open();
    try {
      const report =
        evidence.kind === 'part'
          ? await verifyPart(evidence.access, options)
          : await verifyExport(evidence.source, options);
      const codes = [...new Set(allFindings(report).map(({ code }) => code))].toSorted();
      const completeness = 'completeness' in report ? { completeness: report.completeness } : {};
      return { verdict: report.verdict, ...completeness, codes };
    } finally {
      await evidence.close?.();
    }
  } catch (error) {
    if (!(error instanceof DrillproofError)) return { crash: String(error) };
    // A file of another kind is a wrong call here, and broken evidence elsewhere.
    const verdict = error.code === 'export.NOT_AN_EXPORT' ? 'failed' : 'refused';
    return { verdict, codes: [error.code] };
  }
}

/** An answer in JSON. A trust store that cannot be used leaves no verdict, and a broken envelope is no evidence. */
function readAnswer(line: string): Answer {
  const read = JSON.parse(line) as Answer;
  const [, code] = /^Fault: (.*)/.exec(read.crash ?? '') ?? [];
  if (code !== undefined) return { verdict: 'refused', codes: [code] };
  return read.verdict === 'invalid' ? { ...read, verdict: 'failed' } : read;
}

/** Starts the program of `verifiers/python`, which the end of the test stops. */
export function startPython(): Verifier {
  const path = [join(import.meta.dirname, '../../verifiers/python'), process.env['PYTHONPATH']];
  const child = spawn('python3', ['-m', 'drillproof_verify', '--batch'], {
    env: { ...process.env, PYTHONPATH: path.filter(Boolean).join(delimiter) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill();
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (questions) => {
    child.stdin.write(questions.map((question) => `${JSON.stringify(question)}\n`).join(''));
    const answers: Answer[] = [];
    for (const { path: asked } of questions) {
      const line = await lines.next();
      if (line.done === true) throw new Error(`verifiers/python ended before it answered about ${asked}`);
      answers.push(readAnswer(line.value));
    }
    return answers;
  };
}
