import { defined } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import { describeOptions, finishReport } from '../../report/run.ts';
import { quote, renderTime } from '../../report/html/blocks.ts';
import { html, markupText } from '../../report/html/document.ts';
import { MAX_SIGNED_BYTES, openReport } from '../../report/signed/statement.ts';
import { orderSignedReports, type ReportFile, verifyReportChain } from '../../report/signed/chain.ts';
import { renderChainBody, renderChainPage } from '../../report/html/pages/history.ts';
import { sortParts } from '../../report/html/parts.ts';
import { renderReportPage } from '../../report/html/report.ts';
import { escapeText } from '../../report/printable.ts';
import {
  BEGIN_REPORTS,
  endReports,
  renderReportsBody,
  renderReportsRow,
  stateOfTotals,
} from '../../report/html/pages/many.ts';
import { createSummary, listContradictions } from '../../report/many/summary.ts';
import { BEGIN_REPORTS_JSON, endReportsJson, streamReportsItem } from '../../report/many/json.ts';
import { streamJson } from '../../report/json.ts';
import { importPublicKeys } from '../../trust/key-set.ts';
import {
  joinTrust,
  listTrusted,
  parseTrustStore,
  SIGNER_PURPOSES,
  trustStore,
  type TrustStore,
} from '../../trust/store.ts';
import { type Purpose, thumbprintOf } from '../../trust/trusted-key.ts';
import type { BundleReport } from '../../verify/report.ts';
import { verifyExport } from '../../verify/export/export.ts';
import { verifyPart } from '../../verify/part/part.ts';
import type { VerifyProgress } from '../../verify/export/parts.ts';
import {
  isExportPath,
  type OtherKind,
  otherKindError,
  readFile,
  recognizeKind,
  START_BYTES,
} from '../../evidence/source.ts';
import { type BlobTree, type ChosenEvidence, isToken, openTree } from '../sources.ts';
import type {
  FileKind,
  HelperSettings,
  KeyFile,
  PartAnswer,
  PartJob,
  Request,
  Verified,
} from './messages.ts';
import { viewPart, viewReport } from './view.ts';
import { blobAccess, BLOCK_BYTES, HOLD_BYTES, MIN_SPARE_BYTES } from '../blob-access.ts';

declare const VERSION: string;

type RequestContext = {
  readonly ports: readonly MessagePort[];
  readonly onRead: (bytes: number) => void;
  /** Called with the number of bytes to read. */
  readonly onOpen: (bytes: number) => void;
  readonly onProgress: (event: VerifyProgress) => void;
};

export type VerifiedRequest = {
  readonly verified: Verified;
  /** The files that the command writes, in pieces. */
  readonly writeFile: Readonly<Record<FileKind, () => Iterable<string>>>;
  /** What is inside the part of this row of the table. */
  readonly lookInside?: (row: number) => Promise<string>;
};

/** Verifies what the user chose, and describes the run as the command does for the same files. */
export async function verifyRequest(request: Request, context: RequestContext): Promise<VerifiedRequest> {
  const [first] = request.trees;
  if (request.trees.length === 1) {
    const saved = await openSavedReport(first!, request);
    if (saved !== undefined) return saved;
    if (await holdsSignedReports(first!)) return verifySignedReports(request);
  }
  const trust = readKeyFiles(request.keys, SIGNER_PURPOSES);
  const opened: (readonly [name: string, evidence: ChosenEvidence])[] = [];
  for (const tree of request.trees) opened.push([tree.name, await openTree(tree, context.onRead)]);
  const reads = await Promise.all(opened.map(([, evidence]) => countReads(evidence)));
  context.onOpen(reads.reduce((sum, bytes) => sum + bytes, 0));
  const verify = createVerifier(request, trust, context);
  const results: Result[] = [];
  for (const [name, evidence] of opened)
    results.push({ path: name, evidence, report: await verify(name, evidence) });
  const inside = await Promise.all(opened.map(([, evidence]) => findKeysInside(evidence, request.keys)));
  const keyNotes = [...new Set(inside.flat())].map(
    (file) =>
      `The file ${escapeText(file)} is also inside the evidence. Use keys that you received separately: the sender of the evidence could have added their own.`,
  );
  const notes = [
    ...keyNotes,
    ...warnOfTokens([...request.tokens, ...(await listTokens(opened.map(([, evidence]) => evidence)))]),
  ];
  for (const port of context.ports) port.postMessage('end');
  return results.length === 1 ? showResult(results[0]!, trust, notes) : showResults(results, request, notes);
}

const fileWriter = (report: object, renderPage: () => string): VerifiedRequest['writeFile'] => ({
  html: () => [renderPage()],
  json: () => streamJson(report),
});

type Finished = ReturnType<typeof finishReport>;
type Result = { readonly path: string; readonly evidence: ChosenEvidence; readonly report: Finished };

/** Verifies one after the other, so that each has all other workers. */
function createVerifier(
  request: Request,
  trust: TrustStore | undefined,
  { ports, onProgress }: RequestContext,
): (name: string, evidence: ChosenEvidence) => Promise<Finished> {
  const { envelopes, asOfMs, manifestDigest } = request;
  const expect = defined({ manifestDigest: manifestDigest as Digest | undefined });
  const pool =
    ports.length === 0
      ? undefined
      : createPortPool(ports, { asOfMs, ...defined({ trusted: trust && listTrusted(trust) }) });
  let parts = 0;
  return async (name, evidence) => {
    const before = parts;
    const files = envelopes.map((file) => readStart(file, MAX_ENVELOPE_BYTES));
    const dsse = files.length > 0 ? await Promise.all(files) : undefined;
    const options = { asOfMs, expect, ...defined({ trust, dsse }) };
    const report =
      evidence.kind === 'part'
        ? await verifyPart(evidence.access, options)
        : await verifyExport(evidence.source, {
            ...options,
            onProgress(event) {
              if (event.kind !== 'planned') return onProgress({ ...event, done: before + event.done });
              parts = before + event.parts;
              onProgress({ ...event, parts });
            },
            ...(pool && {
              concurrency: ports.length * AHEAD,
              startThreads: () => (path, listed) => {
                const blob = evidence.blobOf(path);
                return blob && pool.verify({ path, blob, listed });
              },
            }),
          });
    return finishReport(report, {}, { ...describeRequest(request), path: name });
  };
}

function showResult(
  { report, evidence }: Result,
  trust: TrustStore | undefined,
  notes: readonly string[],
): VerifiedRequest {
  const parts = sortParts(report);
  return {
    verified: { view: viewReport(report, trust), notes },
    writeFile: fileWriter(report, () => renderReportPage(report, defined({ trust }))),
    lookInside: (row) => viewPart(parts[row]!, evidence),
  };
}

const WORST = [1, 3, 0] as const;

/** Several results as `drillproof verify` reports several paths. */
function showResults(
  results: readonly Result[],
  request: Request,
  notes: readonly string[],
): VerifiedRequest {
  const rows = results.map(({ path, report }) => ({ path, passed: report.run.exitCode === 0, report }));
  const collector = createSummary();
  for (const row of rows) collector.add(row);
  const summary = collector.summary();
  const unmet = listContradictions(summary);
  const exits = [...results.map(({ report }) => report.run.exitCode), unmet.length > 0 ? 1 : 0];
  const exitCode = WORST.find((exit) => exits.includes(exit)) ?? 1;
  const verdict = stateOfTotals(summary);
  const title = `${summary.passed} of ${summary.paths} passed`;
  return {
    verified: { view: { title, verdict, html: renderReportsBody(rows, summary) }, notes },
    writeFile: {
      html: () => [BEGIN_REPORTS, ...rows.map(renderReportsRow), endReports(summary)],
      *json() {
        yield BEGIN_REPORTS_JSON;
        for (const [at, { report, ...row }] of rows.entries())
          yield* streamReportsItem({ ...row, result: report }, at);
        yield endReportsJson(summary, { ...describeRequest(request), exitCode, unmet });
      },
    },
    lookInside: (row) => Promise.resolve(viewReport(results[row]!.report).html),
  };
}

/** The tokens in the evidence itself, also if it is one ZIP file. */
async function listTokens(evidence: readonly ChosenEvidence[]): Promise<readonly string[]> {
  const sources = evidence.flatMap((each) => (each.kind === 'export' ? each.source : []));
  const files = await Promise.all(sources.map((source) => source.files()));
  return files.flat().flatMap(({ path }) => (isToken(path) ? path : []));
}

/** One warning, however many tokens there are: no result is better because of them. */
function warnOfTokens(paths: readonly string[]): readonly string[] {
  const names = new Set(paths.map((path) => path.split('/').at(-1) ?? path));
  const [first] = names;
  if (first === undefined) return [];
  const more = names.size > 1 ? ` and ${names.size - 1} more` : '';
  return [
    `The page does not check timestamps (${escapeText(first)}${more}). The command "drillproof verify" does.`,
  ];
}

const SAVED =
  'This is a saved report, shown as it states itself. Nothing was verified now, and anyone could have written it: verify the evidence, or a signed report.';

/** Opens a JSON report on evidence that was saved before; `undefined` for anything else. */
async function openSavedReport(
  { files }: BlobTree,
  { tokens }: Request,
): Promise<VerifiedRequest | undefined> {
  const [file] = files.values();
  if (files.size !== 1 || file === undefined) return undefined;
  if (recognizeKind(await readStart(file, START_BYTES)) !== 'a report of drillproof') return undefined;
  const bytes = await readStart(file, MAX_SIGNED_BYTES);
  const { report } = openReport(bytes);
  if (report.kind !== 'export' && report.kind !== 'bundle') return undefined;
  const view = viewReport(report);
  const verified = {
    view: {
      ...view,
      title: `saved: ${view.title}`,
      html: view.html.replace('class="running">', '$&saved: '),
    },
    notes: [SAVED, ...warnOfTokens(tokens)],
  };
  return { verified, writeFile: fileWriter(report, () => renderReportPage(report)) };
}

const SIGNED: ReadonlySet<OtherKind | undefined> = new Set(['a signed report', 'a signed envelope']);

/** @throws DrillproofError `export.NOT_AN_EXPORT` for another document among several, with the place where it belongs */
async function holdsSignedReports({ files }: BlobTree): Promise<boolean> {
  if (files.size === 0) return false;
  for (const path of files.keys()) if (!path.endsWith('.json') || isExportPath(path)) return false;
  for (const [name, file] of files) {
    const kind = recognizeKind(await readStart(file, START_BYTES));
    if (SIGNED.has(kind)) continue;
    if (files.size === 1) return false;
    if (kind !== undefined) throw otherKindError(name, kind);
    throw new DrillproofError('export.NOT_AN_EXPORT', `${name} is neither evidence nor a signed report`);
  }
  return true;
}

const weigh = (bytes: number): number => (bytes > HOLD_BYTES ? 2 : 1) * bytes;

/** The bytes that are read: parts that do not fit into memory twice, and a one-file export also as a whole. */
async function countReads(evidence: ChosenEvidence): Promise<number> {
  if (evidence.kind === 'part') return weigh(evidence.access.size);
  const { source } = evidence;
  return (await source.files()).reduce((sum, { bytes }) => sum + weigh(bytes), source.container?.size ?? 0);
}

/** Verifies signed reports as `drillproof report verify` does with the same files in the order of their numbers. */
async function verifySignedReports({ trees, keys, asOfMs, tokens }: Request): Promise<VerifiedRequest> {
  const options = { asOfMs, ...defined({ trust: readKeyFiles(keys, ['report']) }) };
  const files: ReportFile[] = [];
  for (const [name, file] of trees[0]!.files)
    files.push({ name, report: await readStart(file, MAX_SIGNED_BYTES) });
  const chain = verifyReportChain(orderSignedReports(files), options);
  const { verdict } = chain;
  const view = { title: verdict, verdict, html: markupText(renderChainBody(chain)) };
  const verified = { view, notes: warnOfTokens(tokens) };
  return { verified, writeFile: fileWriter(chain, () => renderChainPage(chain)) };
}

/** Above the limit of envelopes, so a larger one is a finding. */
const MAX_ENVELOPE_BYTES = 16 * 2 ** 20;

/** Reads one byte more than the limit, so a larger file is refused when it is parsed. */
const readStart = async (file: Blob, maxBytes: number): Promise<Uint8Array> =>
  blobAccess(file).read(0, Math.min(file.size, maxBytes + 1));

/** Parts that wait in the pool, for each worker. */
const AHEAD = 64;

const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length > 0 ? list : undefined);

/** The run of `drillproof verify NAME --trust … --key … --as-of …`. */
const describeRequest = ({ keys, envelopes, asOfMs, manifestDigest, page }: Request) => {
  return {
    tool: { name: 'drillproof', version: VERSION, ...defined({ page }) },
    options: describeOptions({
      depth: 'full',
      trust: unlessEmpty(keys.flatMap(({ name, issuer }) => (issuer === undefined ? name : []))),
      key: unlessEmpty(
        keys.flatMap(({ name, issuer }) => (issuer === undefined ? [] : { file: name, issuer })),
      ),
      dsse: unlessEmpty(envelopes.map(({ name }) => name)),
      asOf: asOfMs,
      expectManifest: manifestDigest,
    }),
  };
};

/** The keys of all files together; `undefined` without any. @throws DrillproofError `trust.…`, naming the file */
function readKeyFiles(files: readonly KeyFile[], purposes: readonly Purpose[]): TrustStore | undefined {
  return files.length === 0 ? undefined : joinTrust(files.map((file) => readKeyFile(file, purposes)));
}

function readKeyFile({ name, bytes, issuer }: KeyFile, purposes: readonly Purpose[]): TrustStore {
  try {
    if (issuer === undefined) return parseTrustStore(bytes);
    return trustStore(importPublicKeys(bytes).map((key) => ({ ...key, issuer, purposes })));
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    throw new DrillproofError(error.code, `${name}: ${error.message}`, { path: name, cause: error });
  }
}

/** Describes each key of a file: its issuer, the time for which it is valid, and its fingerprint, as items of a list. */
export const describeKeys = (file: KeyFile): string =>
  markupText(
    html`${readKeyFile(file, SIGNER_PURPOSES).keys.map((key) => {
      const times = [
        ['from', key.notBeforeMs],
        ['through', key.notAfterMs],
        ['revoked', key.revokedAtMs],
      ] as const;
      const issuer = file.issuer === undefined ? html`${quote(key.issuer)} ` : undefined;
      const stated = times.map(([word, atMs]) =>
        atMs === undefined ? undefined : html`${word} ${renderTime(atMs)} `,
      );
      return html`<li>${issuer}${stated}<code class="copy">${thumbprintOf(key)}</code></li>`;
    })}`,
  );

/** Finds key files that are also in the evidence, where its sender could have put them. */
async function findKeysInside(
  evidence: ChosenEvidence,
  keys: readonly KeyFile[],
): Promise<readonly string[]> {
  if (evidence.kind === 'part') return [];
  const inside: string[] = [];
  const files = await evidence.source.files();
  for (const { name, bytes } of keys)
    for (const file of files.filter((entry) => entry.regular && entry.bytes === bytes.length)) {
      const other = await readFile(evidence.source, file.path, bytes.length);
      if (other.every((byte, at) => byte === bytes[at])) inside.push(name);
    }
  return inside;
}

type Waiting = {
  readonly resolve: (report: BundleReport) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Parts are sent in batches of about this size, because a message costs about as much as a small part. A part that is read
 * into the spare buffer ends its batch, so that no other one writes into it meanwhile.
 */
const BATCH_BYTES = MIN_SPARE_BYTES;
const BATCH_PARTS = 16;
/** Batches in the queue of a worker, so it is never idle. */
const BATCHES_AHEAD = 2;

/** The memory in which a part is verified. */
const memoryOf = ({ blob: { size } }: PartJob): number => (size > HOLD_BYTES ? BLOCK_BYTES : size);

/**
 * Sends parts to other workers. Every part gets an answer, in any order. Parts wait while those of the workers need
 * `HOLD_BYTES` of memory.
 */
export function createPortPool(
  ports: readonly MessagePort[],
  settings: HelperSettings,
): { verify(job: Omit<PartJob, 'id'>): Promise<BundleReport> } {
  const waiting = new Map<number, Waiting>();
  const queue: PartJob[] = [];
  const helpers = ports.map((port) => ({ port, batches: [] as number[] }));
  let held = 0;
  let next = 0;
  let scheduled = false;
  const dispatch = (): void => {
    scheduled = false;
    for (let ahead = 0; ahead < BATCHES_AHEAD; ahead++)
      for (const helper of helpers) {
        if (queue.length === 0 || held >= HOLD_BYTES) return;
        if (helper.batches.length > ahead) continue;
        const batch = takeBatch(queue);
        const bytes = batch.reduce((sum, job) => sum + memoryOf(job), 0);
        helper.batches.push(bytes);
        held += bytes;
        helper.port.postMessage(batch);
      }
  };
  for (const helper of helpers) {
    helper.port.addEventListener('message', ({ data }: MessageEvent<readonly PartAnswer[]>) => {
      held -= helper.batches.shift() ?? 0;
      for (const answer of data) settle(waiting, answer);
      dispatch();
    });
    helper.port.start();
    helper.port.postMessage(settings);
  }
  return {
    verify: (job) =>
      new Promise((resolve, reject) => {
        const id = next++;
        waiting.set(id, { resolve, reject });
        queue.push({ ...job, id });
        if (!scheduled) queueMicrotask(dispatch);
        scheduled = true;
      }),
  };
}

function takeBatch(queue: PartJob[]): PartJob[] {
  let bytes = 0;
  let parts = 0;
  while (parts < queue.length && parts < BATCH_PARTS && bytes < BATCH_BYTES)
    bytes += queue[parts++]!.blob.size;
  return queue.splice(0, parts);
}

function settle(waiting: Map<number, Waiting>, answer: PartAnswer): void {
  const { resolve, reject } = waiting.get(answer.id)!;
  waiting.delete(answer.id);
  if ('report' in answer) return resolve(answer.report);
  const { code, message, path } = answer.failure;
  reject(new DrillproofError(code, message, path === undefined ? {} : { path }));
}
