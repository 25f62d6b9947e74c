import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium, type Page } from 'playwright-core';

/** A page in a real browser. */
export type BrowserPage = {
  /** The result of an expression, once a promise settled, as JSON. */
  evaluate<T = unknown>(expression: string): Promise<T>;
  /** Gives files, or one folder, to an input as a user does. */
  choose(selector: string, paths: readonly string[]): Promise<void>;
  /** Every address that was requested. */
  readonly requests: readonly string[];
  /** Only Chromium: the page of Playwright. */
  readonly page?: Page;
  close(): Promise<void>;
};

export type Browser = { open(url: string): Promise<BrowserPage>; close(): Promise<void> };

const CHROMIUM_FLAGS =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';

async function startChromium(flags: readonly string[] = []): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [...CHROMIUM_FLAGS.split(' '), ...flags],
  });
  return {
    async open(url) {
      const page = await browser.newPage();
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      await page.goto(url);
      return {
        evaluate: (expression) => page.evaluate(expression),
        choose: (selector, paths) => page.setInputFiles(selector, [...paths]),
        requests,
        page,
        close: () => page.close(),
      };
    },
    close: () => browser.close(),
  };
}

type Answer = {
  readonly id?: number;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: string;
  readonly message?: string;
};

/** Starts Debian's Firefox with WebDriver BiDi, because Playwright supports only its own builds and newer ones. */
async function startFirefox(): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'drillproof-firefox-'));
  const flags = ['--headless', '--no-remote', '--remote-debugging-port', '0'];
  const args = [...flags, '--profile', profile, 'about:blank'];
  const child = spawn('/usr/bin/firefox-esr', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const address = await new Promise<string>((resolve, reject) => {
    const lines = createInterface(child.stderr);
    lines.on('line', (line) => {
      const [, url] = /BiDi listening on (ws:\S+)/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
    lines.once('close', () => reject(new Error('Firefox ended')));
  });
  const { send, socket, requests } = await connectBidi(`${address}/session`);
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['network.beforeRequestSent'] });
  return {
    async open(url) {
      const { context } = (await send('browsingContext.create', { type: 'tab' })) as { context: string };
      requests.set(context, []);
      await send('browsingContext.navigate', { context, url, wait: 'complete' });
      return pageOf(send, context, requests.get(context)!);
    },
    async close() {
      await send('browser.close', {}).catch(() => undefined);
      socket.close();
      await ended;
      // Its other processes may still be writing.
      await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

type Send = (method: string, params: object) => Promise<unknown>;

async function connectBidi(
  address: string,
): Promise<{ send: Send; socket: WebSocket; requests: Map<string, string[]> }> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, (answer: Answer) => void>();
  const requests = new Map<string, string[]>();
  let last = 0;
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id !== undefined) return waiting.get(answer.id)?.(answer);
    const { context, request } = answer.params as { context?: string; request?: { url: string } };
    if (context !== undefined && request !== undefined) requests.get(context)?.push(request.url);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const send: Send = (method, params) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ({ result, error, message }) =>
        error === undefined ? resolve(result) : reject(new Error(`${method}: ${error}: ${message}`)),
      );
      socket.send(JSON.stringify({ id, method, params }));
    });
  return { send, socket, requests };
}

type Evaluated = {
  readonly result: { readonly value?: string; readonly sharedId?: string };
  readonly exceptionDetails?: { readonly text: string };
};

function pageOf(send: Send, context: string, requests: readonly string[]): BrowserPage {
  const run = async (expression: string): Promise<Evaluated['result']> => {
    const script = { expression, target: { context }, awaitPromise: true, resultOwnership: 'root' };
    const { result, exceptionDetails } = (await send('script.evaluate', script)) as Evaluated;
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
    return result;
  };
  return {
    async evaluate<T>(expression: string) {
      const { value } = await run(`(async () => JSON.stringify(await (${expression})) ?? 'null')()`);
      return JSON.parse(value!) as T;
    },
    async choose(selector, paths) {
      const { sharedId } = await run(`document.querySelector(${JSON.stringify(selector)})`);
      await send('input.setFiles', { context, element: { sharedId }, files: paths });
    },
    requests,
    close: () => send('browsingContext.close', { context }) as Promise<void>,
  };
}

export const BROWSERS = { chromium: startChromium, firefox: startFirefox } as const;
