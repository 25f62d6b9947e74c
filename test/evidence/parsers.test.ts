import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalBytes, canonicalJson } from '../../src/bytes/json/canonical.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { isCode } from '../../src/codes/facts.ts';
import { DEFAULT_LIMITS } from '../../src/evidence/document.ts';
import { parseAttestation, parseExportAttestation } from '../../src/evidence/bundle/attestation.ts';
import { parseBuildLock } from '../../src/evidence/build-lock.ts';
import { parseBundleManifest, parseRunResult } from '../../src/evidence/bundle/manifest.ts';
import { parseExportManifest, parseExportResource } from '../../src/evidence/export/manifest.ts';
import {
  flipBit,
  hashOf,
  idOf,
  makeExport,
  makePart,
  makeSigner,
  unpack,
  type Json,
} from '../support/evidence.ts';
import { codeOf, outcomeOf, refusal } from '../bytes/thrown-by.ts';
import { tries } from '../support/deep.ts';
import { forAll } from '../support/property.ts';

const PARSERS = {
  'bundle manifest': parseBundleManifest,
  'export manifest': parseExportManifest,
  attestation: parseAttestation,
  'export attestation': parseExportAttestation,
  'run result': parseRunResult,
  'build lock': parseBuildLock,
  'export resource': parseExportResource,
} as const;
type Kind = keyof typeof PARSERS;
const CODES: Record<Kind, string> = {
  'bundle manifest': 'bundle.MANIFEST_INVALID',
  'export manifest': 'export.MANIFEST_INVALID',
  attestation: 'attestation.INVALID',
  'export attestation': 'attestation.INVALID',
  'run result': 'bundle.RUN_RESULT_INVALID',
  'build lock': 'build.ARCHIVE_INVALID',
  'export resource': 'export.RESOURCE_INVALID',
};
const KINDS = Object.keys(PARSERS) as Kind[];
const CANONICAL = KINDS.filter((kind) => kind !== 'export resource');

const lock = {
  schemaVersion: 1,
  kind: 'build',
  packages: ['a-tool', 'b-tool'].map((packageId) => ({
    packageId,
    version: '1.0.0-rc.1+7',
    manifestHash: hashOf('m'),
    artifactHash: hashOf('a'),
    manifest: `tools/${packageId}/manifest.json`,
    source: `tools/${packageId}/index.js`,
    ui: {
      entry: 'ui/index.html',
      assets: [{ path: 'ui/a.css', mediaType: 'text/css', artifactHash: hashOf('c'), bytes: 0 }],
    },
  })),
};

const valueOf = (kind: Kind): Json => JSON.parse(text(valid[kind])) as Json;

const signer = makeSigner();
const entries = await unpack((await makePart(1, signer, { rerunOfHostedRunId: idOf('hrun', 2) })).bytes);
const { files } = await makeExport({ signer });
const valid = {
  'bundle manifest': entries.get('manifest.json')!,
  attestation: entries.get('attestation.json')!,
  'run result': entries.get('objects/run-result.json')!,
  'export manifest': files['manifest.json']!,
  'export attestation': files['export-attestation.json']!,
  'export resource': files['export.json']!,
  'build lock': canonicalBytes(lock),
};

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const parse = (kind: Kind, bytes: Uint8Array) => outcomeOf<unknown>(() => PARSERS[kind](bytes));
const parseValue = (kind: Kind, value: unknown) => parse(kind, canonicalBytes(value));

describe.each(KINDS)('the %s', (kind) => {
  test('is read as the value that it encodes', () => {
    expect(parse(kind, valid[kind])).toEqual({ value: valueOf(kind) });
  });

  test.each(['null', '1', '"text"', '[]', '{}', '{"__proto__":{"schemaVersion":1}}'])(
    'is not %s',
    (other) => {
      expect(parse(kind, toUtf8(other))).toEqual({ code: CODES[kind] });
    },
  );

  test('is closed, __proto__ and constructor included', () => {
    for (const name of ['extra', '__proto__', 'constructor', 'toJSON']) {
      const value = valueOf(kind);
      Object.defineProperty(value, name, { value: { a: 1 }, enumerable: true, configurable: true });
      expect([name, parseValue(kind, value)]).toEqual([name, { code: CODES[kind] }]);
    }
    expect(Object.hasOwn(Object.prototype, 'a')).toBe(false);
  });

  test('needs every member that is not optional, of the type it has', () => {
    for (const name of Object.keys(valueOf(kind))) {
      const { [name]: _omitted, ...rest } = valueOf(kind);
      const expected = OPTIONAL.has(name) ? { value: rest } : { code: CODES[kind] };
      expect([name, parseValue(kind, rest)]).toEqual([name, expected]);
      for (const wrong of [null, [[]], { a: 1 }, true])
        expect([name, parseValue(kind, { ...rest, [name]: wrong })]).toEqual([name, { code: CODES[kind] }]);
    }
  });

  test('of another schema version is not read', () => {
    for (const schemaVersion of [0, 2, '1', 1.5])
      expect(parseValue(kind, { ...valueOf(kind), schemaVersion })).toEqual({
        code: CODES[kind],
      });
  });

  test('with one byte changed is refused with a code, or parsed as its own content', () => {
    const bytes = valid[kind];
    forAll(tries(60, 300), [fc.nat(bytes.length - 1), fc.nat(7)], (offset, bit) => {
      const changed = flipBit(bytes, offset, bit);
      const result = parse(kind, changed);
      if ('code' in result) expect(isCode(result.code)).toBe(true);
      else expect(canonicalJson(result.value)).toBe(canonicalJson(JSON.parse(text(changed))));
    });
  });

  test('with one value changed is refused with its code, or parsed as the changed value', () => {
    const places = placesOf(valueOf(kind));
    forAll(tries(60, 300), [fc.constantFrom(...places), replacement], (place, to) => {
      const value = valueOf(kind);
      replace(value, place, to);
      const result = parseValue(kind, value);
      if ('code' in result) expect(result.code).toBe(CODES[kind]);
      else expect(canonicalJson(result.value)).toBe(canonicalJson(value));
    });
  });
});

const OPTIONAL = new Set([
  'rerunOfHostedRunId',
  'localReportCount',
  'completedLocalReportCount',
  'manifestDigest',
  'manifestBytes',
  'completedAtMs',
]);

// oxfmt-ignore
const VALUES: readonly unknown[] = [
  null, true, '', 'x', -1, 0, 1, 2 ** 53 - 1, 0.5, [], {}, hashOf('x'), 'objects/x', '../x', '0', '00',
];
const replacement = fc.oneof(
  fc.constantFrom(...VALUES),
  fc.string({ maxLength: 5 }).filter((value) => value.isWellFormed()),
  fc
    .jsonValue({ maxDepth: 2 })
    .filter((value) => JSON.stringify(value).isWellFormed() && !/\\ud[89a-f]/i.test(JSON.stringify(value))),
);

/** Paths of every value in a document. */
function placesOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([name, member]) => placesOf(member, [...path, name]));
  return path.length === 0 ? inner : [path, ...inner];
}

function replace(value: Json, path: readonly string[], to: unknown): void {
  const parent = path.slice(0, -1).reduce<unknown>((at, name) => Reflect.get(at as object, name), value);
  Reflect.set(parent as object, path.at(-1)!, to);
}

describe.each(CANONICAL)('the %s, which is canonical,', (kind) => {
  test('is refused in any other form', () => {
    const canonical = text(valid[kind]);
    const forms = [
      `${canonical}\n`,
      ` ${canonical}`,
      JSON.stringify(JSON.parse(canonical), null, 1),
      JSON.stringify(Object.fromEntries(Object.entries(valueOf(kind)).toReversed())),
      canonical.replace('"schemaVersion"', String.raw`"schemaVersio\u006e"`),
    ];
    for (const form of forms) expect(parse(kind, toUtf8(form))).toEqual({ code: 'json.NOT_CANONICAL' });
  });

  test('is refused with a duplicate member', () => {
    const doubled = text(valid[kind]).replace('"schemaVersion":1', '"schemaVersion":1,"schemaVersion":1');
    expect(parse(kind, toUtf8(doubled))).toEqual({ code: 'json.MEMBER_DUPLICATE' });
  });
});

const issuesOf = (kind: Kind, value: unknown): { path: string; message: string }[] =>
  refusal(() => PARSERS[kind](canonicalBytes(value)))!.details!['issues'] as {
    path: string;
    message: string;
  }[];

const parseWithin = (kind: Kind, bytes: number): (() => unknown) => {
  const limits = { ...DEFAULT_LIMITS, manifestBytes: bytes, documentBytes: bytes, runResultBytes: bytes };
  return () => PARSERS[kind](valid[kind], limits);
};

const parseWith = (limits: object, kind: 'bundle manifest' | 'export manifest') => () =>
  PARSERS[kind](valid[kind], { ...DEFAULT_LIMITS, ...limits });

test.each(KINDS.filter((kind) => valueOf(kind)['schemaVersion'] !== undefined))(
  'a %s of an unknown version is refused with the advice that it may need a newer drillproof',
  (kind) => {
    const bytes = canonicalBytes({ ...valueOf(kind), schemaVersion: 2 });
    expect(refusal(() => PARSERS[kind](bytes))).toMatchObject({
      code: CODES[kind],
      message: expect.stringMatching(/^must be 1, or this document needs a newer version of drillproof/),
    });
  },
);

describe('the limits of documents', () => {
  test.each(KINDS)('bound the bytes of the %s', (kind) => {
    expect(parseWithin(kind, valid[kind].length)).not.toThrow();
    const error = refusal(parseWithin(kind, valid[kind].length - 1));
    expect(error).toMatchObject({ name: 'LimitError', code: 'json.TOO_LARGE' });
  });

  test('bound the rows', () => {
    expect(parseWith({ objects: 5 }, 'bundle manifest')).not.toThrow();
    expect(codeOf(parseWith({ objects: 4 }, 'bundle manifest'))).toBe('bundle.OBJECTS_EXCEEDED');
    expect(parseWith({ parts: 2 }, 'export manifest')).not.toThrow();
    expect(codeOf(parseWith({ parts: 1 }, 'export manifest'))).toBe('export.PARTS_EXCEEDED');
  });

  test('report at most 100 faults of rows, and messages of at most 500 characters', () => {
    const wrong = Array.from({ length: 50_000 }, () => 1);
    for (const [kind, member] of [
      ['bundle manifest', 'objects'],
      ['export manifest', 'parts'],
      ['export manifest', 'localReports'],
      ['build lock', 'packages'],
    ] as const) {
      const issues = issuesOf(kind, { ...valueOf(kind), [member]: wrong });
      expect(issues.length).toBe(100);
      expect(issues[99]!.path).toBe(`/${member}/99`);
    }
    const [issue] = issuesOf('attestation', { ...valueOf('attestation'), ['x'.repeat(10_000)]: 1 });
    expect(issue!.message.length).toBeLessThan(600);
  });

  test('do not hide the only wrong row of many', () => {
    const manifest = valueOf('bundle manifest') as { objects: Json[] };
    const row = manifest.objects[1]!;
    const objects = Array.from({ length: 300 }, (_, i) => ({
      ...row,
      path: `objects/${String(i).padStart(3, '0')}`,
    }));
    expect(parseValue('bundle manifest', { ...manifest, objects })).toHaveProperty('value');
    objects[299] = { ...objects[299]!, bytes: -1 } as unknown as (typeof objects)[number];
    expect(parseValue('bundle manifest', { ...manifest, objects })).toEqual({
      code: 'bundle.MANIFEST_INVALID',
    });
  });
});
