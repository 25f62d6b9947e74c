import { readdir, rm, stat } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { MirrorEventBody } from '../../../src/cli/mirror/events.ts';
import { faultsOf, missedFaults, schemaOf } from '../../docs/schema-of.ts';
import { etagOf, exportRef, type Fault, makeExport, sendBytes } from '../../faults/export-source.ts';
import { envelope } from '../../faults/server.ts';
import { cleanUp, newFolder, source, TOKEN } from '../../mirror/make.ts';
import { call, parseLines } from '../make.ts';

afterEach(cleanUp);

type Event = MirrorEventBody & { readonly atMs: number };
const schema = schemaOf('mirror-event');
const { evidenceExportId, projectId } = exportRef;
const part = (n: number): string => `parts/evidence_${String(n).padStart(12, '0')}.zip`;

function eventsIn(text: string): readonly Event[] {
  const events: Event[] = parseLines(text);
  expect(events.flatMap((event) => faultsOf(schema, event))).toEqual([]);
  expect(text).not.toContain(TOKEN);
  return events;
}
const typesOf = (events: readonly Event[]): ReadonlySet<string> => new Set(events.map(({ type }) => type));

/** The size of a file, which may be removed meanwhile. */
const sizeOf = async (path: string): Promise<number | undefined> =>
  (await stat(path).catch(() => undefined))?.size;

/** Tells whether a folder contains a file that is partly downloaded. */
async function hasPartial(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries)
    if (entry.isFile() && (await sizeOf(`${entry.parentPath}/${entry.name}`)) === 100_000) return true;
  return false;
}

const lineFor = (url: string, to: string) =>
  `mirror ${evidenceExportId} --project ${projectId} --url ${url} --to ${to}`;
const OPTIONS = { env: { DRILLPROOF_TOKEN: TOKEN }, now: Date.now };
const mirror = (url: string, to: string, words = '--format json') =>
  call(`${lineFor(url, to)} ${words}`, OPTIONS);

describe('mirror --format json', () => {
  it('mirror --json writes events to standard error and one product to standard output', async () => {
    const server = await source(makeExport());
    const { code, stdout, stderr } = await mirror(server.url, await newFolder());
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { kind: 'mirror.receipt', outcome: 'complete' }]);
    const events = eventsIn(stderr);
    expect(events[0]).toMatchObject({ type: 'run-started', source: server.url });
    const counts = { files: 4, fetched: 4, bytes: 20_000, transferredBytes: 20_000, retries: 0 };
    expect(events.at(-1)).toMatchObject({ type: 'run-ended', exitCode: 0, ...counts });
    expect(events.filter(({ type }) => type === 'part-done')).toHaveLength(4);
    const times = events.map(({ atMs }) => atMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it('mirror events report retries, and a failed file with its code and advice', async () => {
    const testExport = makeExport();
    const fault: Fault = ({ path, bytes, seen, response, n }) => {
      if (path === part(0) && n === 0) {
        response.writeHead(200, { etag: '"x"', 'content-length': bytes.length });
        response.write(bytes.subarray(0, 2000));
        setTimeout(() => response.destroy(), 20);
        return true;
      }
      if (path !== part(1)) return false;
      sendBytes(response, seen, bytes.toReversed());
      return true;
    };
    const server = await source(testExport, fault);
    const { code, stdout, stderr } = await mirror(server.url, await newFolder());
    const incomplete = { code: 'mirror.SOURCE_INCOMPLETE' };
    expect([code, JSON.parse(stdout)]).toMatchObject([3, { kind: 'error', ...incomplete }]);
    const events = eventsIn(stderr);
    expect(events.find(({ type }) => type === 'retry')).toMatchObject({ evidenceExportId });
    expect(events.filter(({ type }) => type === 'failed')).toMatchObject([
      { path: part(1), code: 'part.DIGEST_MISMATCH', action: expect.stringMatching(/\S/) as unknown },
    ]);
    expect(events.at(-2)).toMatchObject({ type: 'export-failed', failed: 1, ...incomplete });
    expect(events.at(-1)).toMatchObject({ type: 'run-ended', exitCode: code, ...incomplete });
  });

  it('mirror events report kept, linked and resumed files', async () => {
    const testExport = makeExport({ bytes: 300_000 });
    const [folder, store] = [await newFolder(), await newFolder()];
    const whole = await source(testExport);
    await mirror(whole.url, `${folder}/a`, `--store ${store} --quiet`);
    const linked = await mirror(whole.url, `${folder}/b`, `--store ${store} --format json`);
    const all = { linked: 4, transferredBytes: 0, bytes: 1_200_000 };
    expect(eventsIn(linked.stderr).at(-1)).toMatchObject(all);
    await rm(`${folder}/a/${part(2)}`);
    const again = await mirror(whole.url, `${folder}/a`);
    expect(eventsIn(again.stderr).at(-1)).toMatchObject({ kept: 3, fetched: 1, transferredBytes: 300_000 });

    const cut: Fault = ({ path, bytes, response, seen }) => {
      if (path !== part(0) || seen.headers.range !== undefined) return false;
      response.writeHead(200, { etag: etagOf(bytes), 'content-length': bytes.length });
      response.write(bytes.subarray(0, 100_000));
      return true; // sends no more, until the test ends the run
    };
    const stalled = await source(testExport, cut);
    const abort = new AbortController();
    const line = `${lineFor(stalled.url, `${folder}/c`)} --concurrency 1 --json`;
    const work = call(line, { ...OPTIONS, signal: abort.signal });
    while (!(await hasPartial(`${folder}/c`))) await new Promise((resolve) => setTimeout(resolve, 20));
    abort.abort();
    const interrupted = eventsIn((await work).stderr);
    expect(interrupted.at(-1)).toMatchObject({ type: 'run-ended', exitCode: 130, code: 'transport.ABORTED' });
    const resumed = eventsIn((await mirror(whole.url, `${folder}/c`)).stderr);
    const event = { path: part(0), received: 100_000 };
    expect(resumed.find(({ type }) => type === 'resumed')).toMatchObject(event);
    expect(resumed.at(-1)).toMatchObject({ resumed: 1, transferredBytes: 1_100_000, bytes: 1_200_000 });
  });

  it('mirror --json --quiet writes no events, and reports a wrong call as text', async () => {
    const server = await source(makeExport());
    expect((await mirror(server.url, await newFolder(), '--json --quiet')).stderr).toBe('');
    const { stderr } = await mirror(server.url, await newFolder(), '--json --list x');
    expect(stderr).toMatch(/^drillproof: usage\./);
  });

  it('mirror events report a refusal of the first request', async () => {
    const server = await source(makeExport(), ({ response }) => {
      envelope(response, 401, 'control.UNAUTHENTICATED');
      return true;
    });
    const { code, stderr } = await mirror(server.url, await newFolder());
    const types = ['run-started', 'exports', 'export-started', 'export-failed', 'run-ended'];
    expect([code, [...typesOf(eventsIn(stderr))]]).toEqual([3, types]);
  });
});

it('an event with another type or an unknown member does not follow the schema', async () => {
  const server = await source(makeExport());
  const events = eventsIn((await mirror(server.url, await newFolder())).stderr);
  expect(typesOf(events).size).toBeGreaterThan(8);
  expect(missedFaults(schema, events)).toEqual([]);
});
