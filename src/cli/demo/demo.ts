import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DrillproofError } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import { tamper, verifyMirror } from './judge.ts';
import { makeEvidence, makeKeys } from './make-evidence.ts';
import { readInstalled } from './packages.ts';
import { serveAndMirror } from './serve-and-mirror.ts';
import type { Demo, DemoOptions, DemoSummary } from './stage.ts';

/** Packs, signs, serves, mirrors and verifies real evidence, then tampers with it and looks at what is found. */
export async function runDemo(
  cli: Cli,
  options: DemoOptions,
  tell: (line: string) => Promise<void>,
): Promise<DemoSummary> {
  const startedAtMs = cli.now();
  const installed = await readInstalled(options.project);
  await makeOutput(options.out);
  const work = await mkdtemp(join(options.out, '.work-'));
  const demo: Demo = { ...options, cli, tell, expectations: [], work };
  try {
    const keys = await makeKeys(demo);
    const made = await makeEvidence(demo, keys.signer, installed);
    await serveAndMirror(demo, made);
    const report = await verifyMirror(demo, keys.trust, made);
    await tamper(demo, keys.trust);
    return {
      bundles: report.parts.length,
      bytes: report.coverage.totalBytes,
      mirror: join(options.out, 'mirror'),
      manifestDigest: made.packed.manifestDigest,
      seconds: Math.round((cli.now() - startedAtMs) / 100) / 10,
      expectations: demo.expectations,
    };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The folder of an earlier demonstration is replaced; anything else that lies there is left alone. */
const MARK = '.drillproof-demo';

async function makeOutput(out: string): Promise<void> {
  const there = await stat(out).catch(() => undefined);
  if (there !== undefined) {
    const ours = await stat(join(out, MARK)).catch(() => undefined);
    if (ours === undefined) {
      const message = `${out} exists and is not the folder of an earlier demonstration`;
      throw new DrillproofError('io.EXISTS', message, { path: out });
    }
    await rm(out, { recursive: true });
  }
  await mkdir(out, { recursive: true });
  await writeFile(join(out, MARK), 'made by drillproof demo; replaced by the next one\n');
}
