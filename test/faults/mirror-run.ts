import { inspect } from 'node:util';
import { createClient } from '../../src/client/client.ts';
import type { Fetch } from '../../src/client/options.ts';
import { digestOf } from '../../src/bytes/hash.ts';
import { DrillproofError } from '../../src/errors.ts';
import { mirrorExport } from '../../src/mirror/mirror.ts';
import type { MirrorEvent } from '../../src/mirror/run.ts';
import { createHttpFetch } from '../../src/node/http-fetch.ts';
import { mirrorDirectory } from '../../src/node/volume/mirror.ts';
import { verifyDirectory } from '../../src/node/verify-directory.ts';
import { filesOf } from '../mirror/make.ts';
import { FAULTY_PART, FAULTY_REPORT, type Origin } from './origin.ts';
import { faultProxy, type FaultResponder } from './proxy.ts';
import type { Stage } from './rows/row.ts';

/** Repetitions after the first attempt. */
export const RETRIES = 2;
const MAX_RETRY_AFTER_MS = 60_000;
/** The largest number of requests for a file: each attempt of a call, with two calls. */
export const MAX_FETCHES = 2 * (RETRIES + 1);

const AT: Readonly<Record<Stage, { readonly file: string; readonly address: RegExp }>> = {
  resource: { file: 'export.json', address: /\/evidence-exports\/[^/]+$/ },
  manifest: { file: 'manifest.json', address: /\/manifest$/ },
  attestation: { file: 'export-attestation.json', address: /\/export-attestation$/ },
  part: { file: FAULTY_PART, address: /\/parts\/evidence_000000000001$/ },
  rest: { file: FAULTY_PART, address: /\/parts\/evidence_000000000001$/ },
  report: { file: FAULTY_REPORT, address: /\/local-reports\/[^/]+\/archive$/ },
};

/** A fault in the first requests of one stage. */
export type Attack = {
  readonly stage: Stage;
  readonly respond: FaultResponder;
  readonly times: number;
  readonly timed: boolean;
  readonly transport: Transport;
};

export type Transport = keyof typeof TRANSPORTS;
/** The HTTP clients of the platform and of the command. */
export const TRANSPORTS = { fetch: globalThis.fetch as Fetch, 'node:http': createHttpFetch() };

/** Short timeouts for faults that only a timeout detects, and else timeouts that a busy machine does not reach. */
export const timeoutsFor = (timed: boolean) =>
  timed ? { headersMs: 700, stallMs: 600 } : { headersMs: 20_000, stallMs: 20_000 };

/** Writes a third of the part, like an interrupted mirror. */
export async function writeThird(folder: string, { files }: Origin): Promise<void> {
  const bytes = files.get(FAULTY_PART)!;
  const target = await mirrorDirectory(folder).open();
  const partial = await target.partial(FAULTY_PART);
  await partial.restart(`"${digestOf(bytes)}"`);
  await partial.append(bytes.subarray(0, Math.floor(bytes.length / 3)));
  await partial.close();
  await target.close();
}

/** Mirrors through a proxy with a fault. It ends with `whole`, or with the code of the failure at the stage. */
export async function mirrorUnder(
  { stage, respond, times, timed, transport }: Attack,
  folder: string,
  origin: Origin,
) {
  const { file, address } = AT[stage];
  const waitsMs: number[] = [];
  const sleep = async (ms: number): Promise<void> => void waitsMs.push(ms);
  let faults = 0;
  let received = 0;
  const proxy = await faultProxy({
    to: origin.url,
    otherOrigin: origin.other.url,
    fault: ({ url }) => (address.test(url) && faults < times ? (faults++, respond) : undefined),
  });
  let last = 0;
  const events: MirrorEvent[] = [];
  const facts = (failure?: unknown) => ({
    /** The number of requests with the fault. */
    faults,
    /** Bytes received for the file over all attempts. */
    received,
    waitsMs,
    /** The error with all its members, and the events. */
    output: inspect([failure, events], { depth: 9 }),
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

/** The code of the failure of one file, or of a mirror that fetched no file. */
function codeAt(file: string, failure: unknown): string {
  if (!(failure instanceof DrillproofError)) throw failure;
  if (failure.code !== 'mirror.SOURCE_INCOMPLETE') return failure.code;
  const failures = failure.details?.['failures'];
  if (!Array.isArray(failures) || failures.length !== 1) throw failure;
  const [{ path, code }] = failures;
  if (path !== file) throw new Error(`${path} failed, not ${file}`);
  return String(code);
}

/** Lists the problems of a folder that must have the whole export, byte for byte. */
export async function checkCompleteMirror(folder: string, origin: Origin): Promise<string[]> {
  const files = await filesOf(folder);
  const missing = [...origin.files.keys(), 'SHA256SUMS'].filter((path) => !files.has(path));
  const remaining = [...files.keys()].filter((path) => path.startsWith('.'));
  const { verdict } = await verifyDirectory(folder, { trust: origin.trust, asOfMs: origin.asOfMs, jobs: 1 });
  return [
    ...missing.map((path) => `${path} is missing`),
    ...remaining.map((path) => `${path} remains`),
    ...listWrongFiles(files, origin),
    ...(verdict === 'verified' ? [] : [`the verdict is ${verdict}`]),
  ];
}

/** Lists the problems of a folder after a mirror that failed. */
export async function checkFailedMirror(folder: string, origin: Origin): Promise<string[]> {
  const files = await filesOf(folder);
  const early = ['manifest.json', 'SHA256SUMS'].filter((path) => files.has(path));
  return [...early.map((path) => `${path} exists`), ...listWrongFiles(files, origin)];
}

/** Lists the files with a final name that differ from those of the source, other than receipts and checksums. */
function listWrongFiles(mirrored: ReadonlyMap<string, Uint8Array>, { files }: Origin): string[] {
  return [...mirrored]
    .filter(([path]) => !path.startsWith('.drillproof-mirror/') && !path.startsWith('receipts/'))
    .filter(([path]) => path !== 'SHA256SUMS')
    .filter(([path, bytes]) => !Buffer.from(files.get(path) ?? []).equals(bytes))
    .map(([path]) => `${path} differs from the source`);
}

/** The size of the file of a stage. */
export const sizeAt = (stage: Stage, { files }: Origin): number => files.get(AT[stage].file)!.length;
