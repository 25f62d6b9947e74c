import { describe, expect, it } from 'vitest';
import * as client from '../src/client.ts';
import * as contract from '../src/contract.ts';
import { once } from '../src/bytes/async.ts';
import { DrillproofError } from '../src/errors.ts';
import * as library from '../src/index.ts';
import * as node from '../src/node.ts';
import * as server from '../src/server.ts';
import * as web from '../src/web.ts';
import {
  makeBundleInput,
  makeExport,
  makeExportInput,
  makeSigner,
  makeSigning,
  makeTrust,
} from './support/evidence.ts';

/** Text that is no path of a file: nothing can be read or written below a device. */
const TEXT = '/dev/null/x';
const WRONG: readonly unknown[] = [
  undefined,
  null,
  42,
  TEXT,
  true,
  {},
  [],
  [null],
  [{}],
  () => undefined,
  new Uint8Array(3),
  Symbol('x'),
];

type Callable = (...values: readonly unknown[]) => unknown;

async function finish(result: unknown): Promise<void> {
  const value: unknown = await result;
  if (typeof value !== 'object' || value === null) return;
  if (Symbol.asyncIterator in value) for await (const _ of value as AsyncIterable<unknown>);
  if ('close' in value && typeof value.close === 'function') await (value.close as () => unknown)();
}

/** What a call throws, unless it is an error that a user can act on: one with a code, or one that names an argument. */
async function findRawError(call: Callable, values: readonly unknown[]): Promise<string | undefined> {
  try {
    const isClass = Function.prototype.toString.call(call).startsWith('class');
    await finish(isClass ? Reflect.construct(call, values) : call(...values));
  } catch (error) {
    if (error instanceof DrillproofError) return undefined;
    const named =
      error instanceof TypeError &&
      / (?:Pass|Did you mean) |^a point is 65 bytes|is not a URI/.test(error.message);
    return named ? undefined : String(error);
  }
  return undefined;
}

const ENTRIES = { library, client, contract, node, server, web };
const FUNCTIONS = Object.entries(ENTRIES).flatMap(([entry, names]) =>
  Object.entries(names).flatMap(([name, value]): [string, Callable][] =>
    typeof value === 'function' && !name.endsWith('Error') ? [[`${entry}.${name}`, value as Callable]] : [],
  ),
);

it.each(FUNCTIONS)('%s names a wrong argument, whatever its shape', async (_name, call) => {
  const raw = new Set<string | undefined>();
  for (const first of WRONG) {
    raw.add(await findRawError(call, [first]));
    for (const second of WRONG) raw.add(await findRawError(call, [first, second]));
  }
  raw.delete(undefined);
  expect([...raw]).toEqual([]);
});

const asOfMs = Date.now();
const signer = makeSigner();
const trust = makeTrust(signer);
const { files } = await makeExport({ signer });
const bytes = files['parts/evidence_000000000001.zip']!;
const access = library.memoryAccess(bytes);
const source = library.memorySource(files);
const report = await library.verifyExport(source, { asOfMs, trust });
const inputs = [{ name: 'export', report }];
const decision = library.evaluate(inputs, library.DEFAULT_POLICY, { asOfMs });
const verifier = { verifierId: 'https://ci.example/gate', version: '1' };

/** Valid calls, by the name of the function. */
const CALLS: Readonly<Record<string, readonly unknown[]>> = {
  assertVerified: [report, { requireList: true }],
  allFindings: [report],
  evaluate: [inputs, library.DEFAULT_POLICY, { asOfMs }],
  memorySource: [files],
  packBundle: [makeBundleInput(1), makeSigning(signer)],
  packExport: [
    makeExportInput([await library.readPartFacts(access)]),
    { signer, issuer: 'acme', issuedAtMs: 1 },
  ],
  signSummary: [library.summarize(decision, verifier) ?? {}, [signer]],
  summarize: [decision, verifier],
  trustStore: [[trust.keys[0]]],
  trustStoreJwks: [trust],
  verifyAttestation: [bytes, { asOfMs, trust, expect: {} }],
  verifyDsse: [bytes, { asOfMs, trust }],
  verifyExport: [source, { asOfMs, trust, expect: {}, limits: { parts: 5 } }],
  verifyPart: [access, { asOfMs, trust, expect: {} }],
  verifyReceipts: [source, { expectHead: report.manifestDigest }],
  verifySummary: [bytes, { asOfMs, trust, expect: { inputs: [report.manifestDigest] } }],
  verifyToolSource: [bytes, { lock: bytes, expect: { projectId: 'p' } }],
  writeZip: [[{ name: 'a', open: () => once(bytes) }], { compression: 'store' }],
  zipSource: [await library.openZip(access)],
};

type Path = readonly [string, ...string[]];

/** The members of arguments, to the given depth. Callbacks are not changed: their results belong to the caller. */
function listPaths(value: unknown, depth: number): readonly Path[] {
  if (depth === 0 || typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  return Object.entries(value).flatMap(([name, member]): Path[] => [
    ...(typeof member === 'function' ? [] : [[name] as const]),
    ...listPaths(member, depth - 1).map((path): Path => [name, ...path]),
  ]);
}

function replace(value: object, [name, ...rest]: readonly string[], wrong: unknown): object {
  const copy: object = Array.isArray(value)
    ? [...(value as readonly unknown[])]
    : (Object.assign(Object.create(Object.getPrototypeOf(value)), value) as object);
  const [next] = rest;
  const member: unknown = Reflect.get(value, name!);
  Reflect.set(copy, name!, next === undefined ? wrong : replace(member as object, rest, wrong));
  return copy;
}

describe.each(Object.entries(CALLS))('%s', (name, values) => {
  it(`${name} names a wrong member of an argument, whatever its shape`, async () => {
    const call = Reflect.get(library, name) as Callable;
    const raw = new Set<string>();
    for (const path of listPaths(values, 3))
      for (const wrong of WRONG.filter((value) => typeof value !== 'function')) {
        const error = await findRawError(call, replace(values, path, wrong) as readonly unknown[]);
        if (error !== undefined) raw.add(`${path.join('.')}: ${error}`);
      }
    expect([...raw]).toEqual([]);
  });
});

it('renderText and allFindings name a wrong list of a report, and a wrong option', () => {
  for (const name of ['parts', 'localReports', 'findings', 'checks'] as const) {
    const wrong = { ...report, [name]: [null] };
    expect(() => library.renderText(wrong)).toThrow(`report.${name}[0] is null. Pass `);
  }
  expect(() => library.allFindings({ ...report, parts: 42 as never })).toThrow('report.parts is 42. Pass ');
  expect(() => library.renderText(report, { width: '80' as never })).toThrow('options.width is "80". Pass ');
});

it('trustStore names each purpose that does not exist', () => {
  const [key] = trust.keys;
  expect(() => library.trustStore([{ ...key!, purposes: ['evidence', 'zz' as never] }])).toThrow(
    expect.objectContaining({
      code: 'trust.STORE_INVALID',
      message: expect.stringContaining('keys[0].purposes[1] is "zz". Pass one of evidence, export') as string,
    }),
  );
});
