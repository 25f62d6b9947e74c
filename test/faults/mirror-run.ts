import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createClient, type Fetch } from '../../src/client/index.ts';
import { digestOf } from '../../src/bytes/hash.ts';
import { DrillproofError } from '../../src/errors.ts';
import { mirrorExport, type MirrorEvent } from '../../src/mirror/index.ts';
import { createHttpFetch, mirrorDirectory, verifyDirectory } from '../../src/node/index.ts';
import { filesOf } from '../mirror/make.ts';
import type { Stage } from './rows/row.ts';
import { STRUCK_PART, STRUCK_REPORT, type Origin } from './origin.ts';
import { faultProxy, type Strike } from './proxy.ts';

/** Repetitions after the first attempt. */
export const RETRIES = 2;
const MAX_RETRY_AFTER_MS = 60_000;
/** How often a file may come at most: each attempt of a call, from each of two beginnings. */
export const MOST_FETCHES = 2 * (RETRIES + 1);

const AT: Readonly<Record<Stage, { readonly file: string; readonly address: RegExp }>> = {
  resource: { file: 'export.json', address: /\/evidence-exports\/[^/]+$/ },
  manifest: { file: 'manifest.json', address: /\/manifest$/ },
  attestation: { file: 'export-attestation.json', address: /\/export-attestation$/ },
  part: { file: STRUCK_PART, address: /\/parts\/evidence_000000000001$/ },
  rest: { file: STRUCK_PART, address: /\/parts\/evidence_000000000001$/ },
  report: { file: STRUCK_REPORT, address: /\/local-reports\/[^/]+\/archive$/ },
};

/** A fault that strikes some requests of one stage. */
export type Attack = {
  readonly stage: Stage;
  readonly strike: Strike;
  readonly strikes: number;
  readonly timed: boolean;
  readonly transport: Transport;
};

export type Transport = keyof typeof TRANSPORTS;
/** That of the platform, and that of the command. */
export const TRANSPORTS = { fetch: globalThis.fetch as Fetch, 'node:http': createHttpFetch() };

export type Outcome = {
  /** `whole`, or the code of what failed at the stage. */
  readonly end: string;
  /** How often the fault struck. */
  readonly struck: number;
  /** Bytes that came for the file, over all its attempts. */
  readonly received: number;
  /** Each wait, in milliseconds, that was asked of the clock. */
  readonly waits: readonly number[];
  /** Everything that was said: the error with all that it holds, and the events. */
  readonly said: string;
};

/** Limits so small that the time of a fault is short, or so large that a busy machine does not reach them. */
export const timeoutsFor = (timed: boolean) =>
  timed ? { headersMs: 700, stallMs: 600 } : { headersMs: 20_000, stallMs: 20_000 };

/** A folder for one mirror, in which a third of the part is when the stage is its rest. */
export async function folderFor(stage: Stage, origin: Origin) {
  const folder = await mkdtemp(join(tmpdir(), 'faults-'));
  if (stage === 'rest') await leaveThird(folder, origin);
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function leaveThird(folder: string, { files }: Origin): Promise<void> {
  const bytes = fileOf(files, STRUCK_PART);
  const target = await mirrorDirectory(folder).open();
  const partial = await target.partial(STRUCK_PART);
  await partial.restart(`"${digestOf(bytes)}"`);
  await partial.append(bytes.subarray(0, Math.floor(bytes.length / 3)));
  await partial.close();
  await target.close();
}

/** Mirrors through a proxy that strikes. */
export async function mirrorUnder(
  { stage, strike, strikes, timed, transport }: Attack,
  folder: string,
  origin: Origin,
  stranger: string,
): Promise<Outcome> {
  const { file, address } = AT[stage];
  const waits: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  let struck = 0;
  let received = 0;
  const proxy = await faultProxy({
    to: origin.url,
    stranger,
    fault: ({ url }) => (address.test(url) && struck < strikes ? (struck++, strike) : undefined),
  });
  let last = 0;
  const events: MirrorEvent[] = [];
  const facts = (failure?: unknown) => ({
    struck,
    received,
    waits,
    said: inspect([failure, events], { depth: 9 }),
  });
  try {
    await mirrorExport(origin.exportRef, {
      client: createClient({
        baseUrl: proxy.url,
        token: origin.token,
        fetch: TRANSPORTS[transport],
        sleep,
        retry: { retries: RETRIES, maxRetryAfterMs: MAX_RETRY_AFTER_MS },
        timeouts: timeoutsFor(timed),
        limits: { jsonBytes: 100_000 },
      }),
      to: mirrorDirectory(folder),
      sleep,
      onProgress: (event) => {
        events.push(event);
        if (event.type !== 'bytes' || event.path !== file) return;
        received += event.received > last ? event.received - last : event.received;
        last = event.received;
      },
    });
    return { end: 'whole', ...facts() };
  } catch (failure) {
    return { end: codeAt(file, failure), ...facts(failure) };
  } finally {
    await proxy.close();
  }
}

/** The code with which one file failed, or the mirror before it came to files. */
function codeAt(file: string, failure: unknown): string {
  if (!(failure instanceof DrillproofError)) throw failure;
  if (failure.code !== 'mirror.SOURCE_INCOMPLETE') return failure.code;
  const failures = failure.details?.['failures'];
  if (!Array.isArray(failures) || failures.length !== 1) throw failure;
  const [{ path, code }] = failures;
  if (path !== file) throw new Error(`${path} failed, not ${file}`);
  return String(code);
}

/** Says what is wrong with a folder that must hold the whole export, byte for byte; nothing when it does. */
export async function faultsOfWhole(folder: string, origin: Origin): Promise<string[]> {
  const here = await filesOf(folder);
  const faults = [...origin.files.keys()]
    .filter((path) => !here.has(path))
    .map((path) => `${path} is missing`);
  if (!here.has('SHA256SUMS')) faults.push('SHA256SUMS is missing');
  faults.push(...unproven(here, origin));
  faults.push(...[...here.keys()].filter((path) => path.startsWith('.')).map((path) => `${path} is left`));
  const { verdict } = await verifyDirectory(folder, { trust: origin.trust, asOfMs: origin.asOfMs, jobs: 1 });
  return verdict === 'verified' ? faults : [...faults, `the verdict is ${verdict}`];
}

/** Says what is wrong with a folder after a mirror that failed. */
export async function faultsOfFailed(folder: string, origin: Origin): Promise<string[]> {
  const here = await filesOf(folder);
  const early = ['manifest.json', 'SHA256SUMS'].filter((path) => here.has(path));
  return [...early.map((path) => `${path} is there`), ...unproven(here, origin)];
}

/** Files under a final name that are not those of the source, but for what a mirror says of itself. */
function unproven(here: ReadonlyMap<string, Uint8Array>, { files }: Origin): string[] {
  return [...here]
    .filter(([path]) => !path.startsWith('.drillproof-mirror/') && !path.startsWith('receipts/'))
    .filter(([path]) => path !== 'SHA256SUMS')
    .filter(([path, bytes]) => !Buffer.from(files.get(path) ?? []).equals(bytes))
    .map(([path]) => `${path} is not that of the source`);
}

export function fileOf(files: ReadonlyMap<string, Uint8Array>, path: string): Uint8Array {
  const bytes = files.get(path);
  if (bytes === undefined) throw new Error(`the export has no ${path}`);
  return bytes;
}

/** The size of what a stage asks for. */
export const sizeAt = (stage: Stage, { files }: Origin): number => fileOf(files, AT[stage].file).length;
