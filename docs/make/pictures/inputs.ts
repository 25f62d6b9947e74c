/** The inputs of the pictures in the documentation: pages and output of the product, the same bytes on every machine. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { p256 } from '@noble/curves/nist.js';
import manifest from '../../../package.json' with { type: 'json' };
import { digestOf } from '../../../src/bytes/hash.ts';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import type { Output } from '../../../src/cli/cli.ts';
import { run } from '../../../src/cli/run.ts';
import { readPartFacts } from '../../../src/evidence/bundle/part.ts';
import { packBundle } from '../../../src/evidence/bundle/pack-bundle.ts';
import { packExport } from '../../../src/evidence/export/pack-export.ts';
import { stableJson } from '../../../src/report/json.ts';
import { createSigner } from '../../../src/trust/key/signer.ts';
import { trustStoreJwks } from '../../../src/trust/store.ts';
import {
  collect,
  EXPORT_ID,
  idOf,
  ISSUER,
  makeBundleInput,
  makeExportInput,
  makeRunResult,
  makeSigning,
  makeTrust,
  NOW,
  ORGANIZATION,
  PROJECT,
} from '../../../test/support/evidence.ts';
import { writeFiles } from '../../../test/support/folder.ts';

/** What a picture shows. */
export type Picture = {
  /** A page, or what the page that verifies in a browser is made from. */
  readonly page: string;
  /** The element that the picture has; default: the first screen. */
  readonly element?: string;
  /** In the page that verifies in a browser: the folder that is verified, or '' before a verification. */
  readonly verifies?: string;
  readonly isDarkPhone?: boolean;
};

const SCALAR = new Uint8Array(32).fill(7);
const THIRD = `parts/${idOf('evidence', 3)}.zip`;
const DRILLS = [
  'refund',
  'cancel-order',
  'change-address',
  'delete-account',
  'dispute-invoice',
  'out-of-stock',
];

/** Signs without random numbers, so that signatures are the same in every run. */
const signer = {
  ...createSigner(SCALAR),
  sign: async (message: Uint8Array) => p256.sign(message, SCALAR, { format: 'der', lowS: false }),
};

/** Writes an export of six parts, a copy in which one byte of a part is changed, and a trust store. */
async function writeEvidence(): Promise<void> {
  const parts: [string, Uint8Array][] = [];
  for (const [at, drillId] of DRILLS.entries()) {
    const n = at + 1;
    const identity = { runId: `run_test-${n}-run`, drillId, targetId: 'shop' };
    const runResult = makeRunResult(n, {
      identity,
      verdict: drillId === 'dispute-invoice' ? 'failed' : 'passed',
    });
    const packed = await packBundle(makeBundleInput(n, { runResult }), makeSigning(signer));
    parts.push([`parts/${idOf('evidence', n)}.zip`, await collect(packed.archive({ compression: 'store' }))]);
  }
  const facts = await Promise.all(parts.map(([, bytes]) => readPartFacts(memoryAccess(bytes))));
  const { documents } = await packExport(makeExportInput(facts), {
    signer,
    issuer: ISSUER,
    issuedAtMs: NOW - 30_000,
  });
  const files = Object.fromEntries([...parts, ...documents.map(({ path, bytes }) => [path, bytes] as const)]);
  await writeFiles('evidence', files);
  await writeFiles('.', {
    'trust.json': stableJson(trustStoreJwks(makeTrust(signer))),
    'policy.yaml': POLICY,
  });
  cpSync('evidence', 'damaged', { recursive: true });
  damage(`damaged/${THIRD}`);
}

const POLICY = `schemaVersion: 1
kind: policy
name: release
outcome: { verdict: [passed] }
completeness: { vouched: [pinned, attested] }
drills: { required: [refund, { drill: pay-twice, outcome: passed }] }
`;

function damage(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf('hello hello');
  writeFileSync(path, bytes.with(at, 0x48));
}

/** Runs a command at a fixed time; returns what a terminal shows. */
async function call(line: string): Promise<string> {
  let text = '';
  const output: Output = {
    isTTY: false,
    columns: 100,
    rows: 40,
    closed: false,
    write: (chunk) => Promise.resolve(void (text += String(chunk))),
  };
  await run(line.split(' '), {
    env: {},
    stdin: (async function* () {})(),
    stdout: output,
    stderr: output,
    signal: new AbortController().signal,
    now: () => NOW,
    inputs: new Set(),
    quiet: false,
    format: 'text',
    exitCode: 0,
  });
  return text.replaceAll(/\d+\.\d s\b/g, '0.1 s');
}

/** The page that a command writes about its result. */
async function callForPage(line: string): Promise<string> {
  await call(`${line} --format html=page.html --force`);
  return readFileSync('page.html', 'utf8');
}

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A terminal in which these commands were run, with what happened between them unseen. */
async function showTerminal(...steps: readonly (string | (() => void))[]): Promise<Picture> {
  let text = '';
  for (const step of steps)
    if (typeof step === 'function') step();
    else text += `<b>$ drillproof ${escape(step)}</b>\n${escape(await call(step))}\n`;
  return {
    page: `<!doctype html><meta charset="utf-8"><style>${TERMINAL}</style><pre>${text.trimEnd()}</pre>`,
    element: 'pre',
  };
}

const TERMINAL = `body { margin: 0; background: #14181f; color: #dde3ea }
pre { margin: 0; padding: 20px 24px; font: 15px/1.5 monospace; white-space: pre-wrap; overflow-wrap: anywhere }
b { color: #8fd0a5 }`;

/** The sources of the page that verifies in a browser: its bundle changes with every line of the library. */
function readSources(): string {
  const folder = 'src/web/page';
  const files = readdirSync(folder).toSorted((a, b) => (a < b ? -1 : 1));
  return [...files.map((name) => join(folder, name)), 'src/report/html/style.ts']
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
}

/** The inputs by the name of the picture. The evidence that they show is written to a folder. */
export async function makePictures(folder: string): Promise<Readonly<Record<string, Picture>>> {
  const home = process.cwd();
  const page = readSources();
  process.chdir(folder);
  try {
    await writeEvidence();
    const mirror = `archive/${EXPORT_ID}`;
    await call(`mirror --from evidence --to ${mirror}`);
    const verify = 'verify --trust trust.json --require-list';
    const failing = await callForPage(`${verify} damaged`);
    const plane = `--organization ${ORGANIZATION} --id ${PROJECT}`;
    return {
      report: { page: await callForPage(`${verify} evidence`) },
      'report-failed': { page: failing },
      chain: { page: failing, element: 'section:has(ol.chain)' },
      gate: { page: await callForPage('gate evidence --policy policy.yaml --trust trust.json') },
      'mirror-and-scrub': await showTerminal(
        `mirror --from ${mirror} --to second/${EXPORT_ID}`,
        () => damage(`${mirror}/${THIRD}`),
        'scrub archive',
        'scrub archive --repair-from second --trust trust.json',
      ),
      'control-plane': await showTerminal(
        `admin org create --name Acme --id ${ORGANIZATION}`,
        `admin project create --name web ${plane}`,
        'admin ingest export evidence',
        'admin check',
      ),
      'web-start': { page, verifies: '' },
      'web-broken': { page, verifies: 'damaged' },
      'web-parts': { page, verifies: 'damaged', element: '[aria-labelledby=parts]' },
      'web-phone-dark': { page, verifies: 'damaged', isDarkPhone: true },
    };
  } finally {
    process.chdir(home);
  }
}

/** The SHA-256 of the input of a picture, which does not depend on the version of drillproof. */
export const digestInput = ({ page, ...how }: Picture): string =>
  digestOf(toUtf8(`${JSON.stringify(how)}\n${page.replaceAll(manifest.version, 'VERSION')}`));
