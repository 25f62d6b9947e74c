import { isAlias, isMap, isNode, isPair, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from 'yaml';
import type { Document, ParsedNode } from 'yaml';
import type { JsonValue } from '../../bytes/json/parse.ts';
import { MAX_JSON_DEPTH } from '../../bytes/json/parse.ts';
import { DrillproofError } from '../../errors.ts';

/** Values of a file, before anything is made of them. */
const MAX_NODES = 100_000;

export type YamlValue = {
  readonly value: JsonValue;
  /** The line, from 1, at which the value of a JSON pointer stands. */
  readonly lineOf: (pointer: string) => number | undefined;
};

/**
 * Plain data of one YAML 1.2 document in the core schema: what JSON could say, and no more. Aliases, anchors, tags,
 * merge keys, keys that are no text, two equal keys and numbers that a double does not hold are refused, so that two
 * readers cannot see two contents.
 * @throws DrillproofError `policy.INVALID`, with the line in the message
 */
export function parseYaml(text: string): YamlValue {
  const lines = new LineCounter();
  const document = onlyDocument(text, lines);
  const [error] = document.errors;
  if (error !== undefined) throw fault(error.message.split('\n')[0] ?? 'not YAML', lines, error.pos[0]);
  refuseMoreThanJson(document, lines);
  const root = document.contents;
  return {
    value: root === null ? null : plain(root, lines, 0),
    lineOf: (pointer) => lineOf(root, pointer, lines),
  };
}

function onlyDocument(text: string, lineCounter: LineCounter): Document.Parsed {
  if (text.startsWith('\uFEFF'))
    throw new DrillproofError('policy.INVALID', 'it begins with a byte order mark');
  const documents = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    strict: true,
    uniqueKeys: true,
    stringKeys: true,
    merge: false,
    intAsBigInt: true,
    prettyErrors: false,
    lineCounter,
  });
  if (!Array.isArray(documents)) throw new DrillproofError('policy.INVALID', 'the file is empty');
  const [document, ...more] = documents;
  if (document === undefined) throw new DrillproofError('policy.INVALID', 'the file is empty');
  if (more.length > 0) throw new DrillproofError('policy.INVALID', 'the file holds more than one document');
  return document;
}

function refuseMoreThanJson(document: Document.Parsed, lines: LineCounter): void {
  let nodes = 0;
  visit(document, (_key, node) => {
    if (!isNode(node) && !isPair(node)) return;
    if (++nodes > MAX_NODES) throw new DrillproofError('policy.INVALID', `more than ${MAX_NODES} values`);
    if (isPair(node)) return;
    const at = node.range?.[0] ?? 0;
    if (isAlias(node)) throw fault('aliases are not allowed', lines, at);
    if (node.anchor !== undefined) throw fault('anchors are not allowed', lines, at);
    if (node.tag !== undefined) throw fault('tags are not allowed', lines, at);
  });
}

function plain(node: ParsedNode, lines: LineCounter, depth: number): JsonValue {
  if (depth > MAX_JSON_DEPTH)
    throw fault(`nested deeper than ${MAX_JSON_DEPTH} levels`, lines, node.range[0]);
  if (isMap(node))
    return Object.fromEntries(
      node.items.map((pair) => [
        keyOf(pair.key, lines),
        pair.value === null ? null : plain(pair.value, lines, depth + 1),
      ]),
    );
  if (isSeq(node)) return node.items.map((item) => plain(item, lines, depth + 1));
  if (isScalar(node)) return scalar(node.value, lines, node.range[0]);
  throw fault('a value is expected', lines, 0);
}

function keyOf(key: ParsedNode, lines: LineCounter): string {
  if (!isScalar(key) || typeof key.value !== 'string')
    throw fault('the name of a member must be text', lines, key.range[0]);
  if (key.value === '<<') throw fault('merge keys are not allowed', lines, key.range[0]);
  return key.value;
}

function scalar(value: unknown, lines: LineCounter, at: number): JsonValue {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw fault('a lone surrogate', lines, at);
    return value;
  }
  if (typeof value === 'bigint') {
    if (!Number.isSafeInteger(Number(value))) throw fault('a number that a double does not hold', lines, at);
    return Number(value);
  }
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw fault('a value that JSON does not have', lines, at);
}

/** Of a member the line of its name. */
function lineOf(root: ParsedNode | null, pointer: string, lines: LineCounter): number | undefined {
  let node: ParsedNode | null = root;
  let offset = root?.range[0];
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    const pair: { key: ParsedNode; value: ParsedNode | null } | undefined = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && key.value === name)
      : undefined;
    const item: ParsedNode | undefined = isSeq(node) ? node.items[Number(name)] : undefined;
    const place = pair?.key ?? item;
    if (place === undefined) break;
    offset = place.range[0];
    node = pair?.value ?? item ?? null;
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

const fault = (message: string, lines: LineCounter, offset: number): DrillproofError =>
  new DrillproofError('policy.INVALID', `line ${lines.linePos(offset).line}: ${message}`);
