import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { digestOf } from '../../../src/bytes/hash.ts';
import type { JsonObject, JsonValue } from '../../../src/bytes/json/parse.ts';
import { toBase64url, toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { type Bundle, bundle, type NamedBytes, T } from '../../../vectors/make/bundle.ts';
import {
  exportManifest,
  listStatementOf,
  partPath,
  reportPath,
  resourceOf,
} from '../../../vectors/make/export.ts';
import { storeKey } from '../../../vectors/make/keys.ts';
import { statementOf } from '../../../vectors/make/run.ts';
import { bagOf } from '../../support/bag.ts';
import { rawZip } from '../../zip/raw-zip.ts';
import { editBytes, editDocument, editScalar, editValue, editWord } from './json.ts';
import type { Edit, Plan } from './plan.ts';
import { Random } from './random.ts';
import { RUN_DETAILS } from './run.ts';
import { editSignature, signFast } from './signature.ts';
import { editBag, editFiles, editFolder, type Files, type Tree } from './tree.ts';
import { editStore, makeTime, type Store } from './trust.ts';
import { type Archive, editEnd, editEntries, editFields } from './zip.ts';

/** The input of a verifier: a tree or one archive, a trust store and a time. */
export type Case = {
  readonly tree?: Tree;
  readonly zip?: Uint8Array;
  readonly trust: Uint8Array;
  readonly atMs: number;
};

const IDENTITY = [
  'drillId',
  'targetId',
  'buildHash',
  'packageLockHash',
  'seed',
  'scenarioId',
  'setupHash',
  'trial',
  'trialCount',
  'attempt',
  'attemptLimit',
] as const;

/** Applies the edits of a plan that have this name, in their order. */
class Editor {
  readonly #edits: readonly Edit[];

  constructor(edits: readonly Edit[]) {
    this.#edits = edits;
  }

  apply<V>(name: string, value: V, edit: (random: Random, value: V) => V): V {
    return this.#edits
      .filter((one) => one.name === name)
      .reduce((edited, { seed }) => edit(new Random(seed), edited), value);
  }

  has(name: RegExp): boolean {
    return this.#edits.some((edit) => name.test(edit.name));
  }

  /** A document whose values and text were edited before it was digested or signed. */
  encode(name: string, value: JsonObject): Uint8Array {
    return this.apply(`${name} text`, encodeValue(this.value(name, value)), editDocument);
  }

  value<V extends JsonValue>(name: string, value: V): V {
    return this.apply(name, value, editValue);
  }

  /** An attestation of a statement, signed after its edits. */
  attest(name: string, statement: JsonObject): Uint8Array {
    const edited = this.apply(
      `${name} time`,
      this.value(`${name} statement`, statement),
      (random, value) => ({
        ...value,
        issuedAtMs: makeTime(random),
      }),
    );
    const made = sign(
      edited,
      this.apply(`${name} signer`, 'a', () => 'b'),
    );
    const signature = this.apply(`${name} signature`, made.signature, editSignature);
    return this.encode(name, { ...made, signature });
  }

  /** Another name or number in the identity of a run, here and in the statement. */
  identity(member: (name: string) => string, object: JsonObject): JsonObject {
    return this.apply('identity', object, (random, value) => {
      const name = random.pick(IDENTITY);
      const { [member(name)]: old = 1, ...rest } = value;
      return random.once(4) ? rest : { ...rest, [member(name)]: editScalar(random, old) };
    });
  }

  archive(name: string, archive: Archive): Uint8Array {
    const entries = this.apply(`${name} entries`, archive, editEntries);
    const { entries: all, end } = this.apply(`${name} end`, entries, editEnd);
    const bytes = this.apply(`${name} fields`, rawZip(all, end), editFields);
    return this.apply(`${name} bytes`, bytes, editBytes);
  }
}

/** The canonical form, or the usual one of what has none. */
function encodeValue(value: JsonValue): Uint8Array {
  try {
    return canonicalBytes(value);
  } catch {
    return toUtf8(JSON.stringify(value).replaceAll(/[\ud800-\udfff]/g, '?'));
  }
}

const sign = (statement: JsonObject, signer: string) => ({
  schemaVersion: 1,
  algorithm: 'ecdsa-p256-sha256',
  encoding: 'der-base64url',
  signature: toBase64url(signFast(signer, encodeValue(statement))),
  statement,
});

type Base = { readonly made: Bundle; readonly entries: readonly NamedBytes[] };

const [FIRST, SECOND] = [1, 2].map((n): Base => {
  let entries: readonly NamedBytes[] = [];
  const made = bundle(n, { signer: 'a', entries: (all) => (entries = all) });
  return { made, entries };
}) as [Base, Base];

const RUN_RESULT = 'objects/run-result.json';
const RUN = JSON.parse(new TextDecoder().decode(FIRST.made.runResult)) as JsonObject;
const objectOf = (object: JsonObject, name: string): JsonObject => object[name] as JsonObject;

/** The first bundle after its edits; what is digested or signed follows from what was edited before. */
function makeBundle(editor: Editor, isSigned: boolean): Bundle {
  const identity = editor.identity((name) => name, objectOf(RUN, 'identity'));
  const run = { ...RUN, identity, ...(editor.has(/^run/) && RUN_DETAILS) };
  const result = editor.encode('run', editor.apply('run words', run, editWord));
  const rows = (FIRST.made.manifest['objects'] as JsonObject[]).map((row) =>
    row['path'] === RUN_RESULT ? { ...row, digest: digestOf(result), bytes: result.length } : row,
  );
  const manifest = { ...FIRST.made.manifest, objects: rows };
  const manifestBytes = editor.encode('manifest', manifest);
  const contents = new Map(FIRST.entries.map(({ name, bytes }) => [name, bytes]));
  contents.set('manifest.json', manifestBytes).set(RUN_RESULT, result).delete('attestation.json');
  const files = Array.from(contents, ([name, plain]) => ({ name, plain }));
  const { attestation, ...base } = FIRST.made;
  if (isSigned) {
    const plain = editor.attest('attestation', makeStatement(editor, digestOf(manifestBytes), rows));
    files.splice(1, 0, { name: 'attestation.json', plain });
  }
  return {
    ...base,
    ...(isSigned && attestation && { attestation }),
    manifest: editor.value('manifest', manifest),
    manifestBytes,
    artifactBytes: base.artifactBytes - base.runResult.length + result.length,
    zip: editor.archive('part', { entries: files, end: {} }),
  };
}

/** The name that a statement has for a member of the identity of a run. */
const statementName = (name: string): string =>
  /^(trial|attempt)/.test(name) ? `original${name[0]!.toUpperCase()}${name.slice(1)}` : name;

function makeStatement(editor: Editor, digest: string, rows: readonly JsonObject[]): JsonObject {
  const statement = statementOf(1, 'a', digest, rows);
  const subject = objectOf(statement, 'subject');
  const reproduction = editor.identity(statementName, objectOf(subject, 'reproduction'));
  return { ...statement, subject: { ...subject, reproduction } };
}

/** The files of an export of these bundles after its edits. */
function makeTree(editor: Editor, { reports, listed }: Plan, bundles: readonly Bundle[]): Files {
  const plain = exportManifest(bundles, reports);
  const rows = editor.value('rows', {
    parts: plain['parts'] ?? [],
    localReports: plain['localReports'] ?? [],
  });
  const manifest = exportManifest(bundles, reports, {
    '/parts': rows.parts,
    '/localReports': rows.localReports,
  });
  const bytes = editor.encode('list', manifest);
  const resource = editor.value('resource', resourceOf(editor.value('list', manifest), bytes, bundles));
  const files: Record<string, Uint8Array> = {
    'manifest.json': bytes,
    'export.json': editor.apply('resource text', toUtf8(JSON.stringify(resource, null, 2)), editDocument),
  };
  if (listed) {
    const statement = listStatementOf(manifest, bytes, 'a');
    files['export-attestation.json'] = editor.attest('list attestation', statement);
  }
  for (const [i, { zip }] of bundles.entries())
    files[partPath(i + 1)] = i > 0 ? zip : editor.apply('late part', zip, editLate);
  for (let n = 1; n <= reports; n++) files[reportPath(n)] = toUtf8(`local report ${n}`);
  return editor.apply('files', files, editFiles);
}

const editLate = (random: Random, zip: Uint8Array): Uint8Array =>
  (random.once(2) ? editFields : editBytes)(random, zip);

const STORE: Store = { keys: [storeKey('a', { purposes: ['evidence', 'export'] })] };

/** Builds the input of verifiers that a plan describes. */
export function buildCase(plan: Plan): Case {
  const { form, bundles: count } = plan;
  const editor = new Editor(plan.edits);
  const store = editor.value('trust', { keys: [...editor.apply('keys', STORE, editStore).keys] });
  const trust = editor.apply('trust text', toUtf8(JSON.stringify(store)), editDocument);
  const atMs = editor.apply('time', T + 10_000, makeTime);
  const made = makeBundle(editor, plan.signed);
  if (form === 'part') return { zip: made.zip, trust, atMs };
  const bundles = [made, SECOND.made].slice(0, count);
  const files = makeTree(editor, plan, bundles);
  if (form !== 'one file') {
    const bag =
      form === 'bag'
        ? editor.apply('bag files', editor.apply('bag', bagOf({ ...files }), editBag), editFiles)
        : files;
    return { tree: editor.apply('folder', { files: bag, links: [], folders: [] }, editFolder), trust, atMs };
  }
  const entries = Object.entries(files).map(([name, plain]) => ({ name, plain }));
  return { zip: editor.archive('export', { entries, end: {} }), trust, atMs };
}
