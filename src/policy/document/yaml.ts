import { Composer, isAlias, isMap, isNode, isScalar, isSeq, Lexer, LineCounter } from 'yaml';
import { Parser, visit, type CST, type Document, type ParsedNode } from 'yaml';
import { type JsonValue, MAX_JSON_DEPTH, parseJsonPointer } from '../../bytes/json/parse.ts';
import { DrillproofError } from '../../errors.ts';

/** Tokens, and the escapes and lines within them, are counted first: each costs much more than a character of JSON. */
const MAX_TOKENS = 100_000;

export type YamlValue = {
  readonly value: JsonValue;
  /** The line, from 1, of the value of a JSON pointer. */
  readonly lineOf: (pointer: string) => number | undefined;
};

/**
 * Plain data of one YAML 1.2 document in the core schema, limited to the values of JSON. Aliases, anchors, tags,
 * merge keys, keys that are not text, duplicate keys and numbers that do not fit a double are refused, so that every
 * reader sees the same content.
 * @throws DrillproofError `policy.INVALID`, with the line in the message
 */
export function parseYaml(text: string): YamlValue {
  const lines = new LineCounter();
  const document = parseOnlyDocument(text, lines);
  const [error] = document.errors;
  if (error !== undefined) throw yamlError(error.message.split('\n')[0] ?? 'not YAML', lines, error.pos[0]);
  refuseMoreThanJson(document, lines);
  const root = document.contents;
  return {
    value: root === null ? null : toJson(root, lines, 0),
    lineOf: (pointer) => lineOf(root, pointer, lines),
  };
}

function parseOnlyDocument(text: string, lineCounter: LineCounter): Document.Parsed {
  if (text.startsWith('\uFEFF'))
    throw new DrillproofError('policy.INVALID', 'it starts with a byte order mark');
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    strict: true,
    uniqueKeys: false, // takes quadratic time; `toJson` checks it
    stringKeys: true,
    merge: false,
    intAsBigInt: true,
    lineCounter,
  });
  const [document, ...more] = composer.compose(listTokens(text, lineCounter));
  if (document === undefined) throw new DrillproofError('policy.INVALID', 'the file is empty');
  if (more.length > 0)
    throw new DrillproofError('policy.INVALID', 'the file contains more than one document');
  return document;
}

/** Tokens open at once for one level at most; the levels themselves are counted later. */
const TOKENS_PER_LEVEL = 2;

/** The tokens of the text, which the composer reads by recursion: its depth is limited here. */
function* listTokens(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let tokens = 0;
  for (const lexeme of new Lexer().lex(text)) {
    tokens += lexeme.split(/[\\\n]/, MAX_TOKENS).length;
    if (tokens > MAX_TOKENS) throw yamlError(`more than ${MAX_TOKENS} tokens`, lines, parser.offset);
    yield* parser.next(lexeme);
    if (parser.stack.length > TOKENS_PER_LEVEL * (MAX_JSON_DEPTH + 2)) throw depthError(lines, parser.offset);
  }
  yield* parser.end();
}

const depthError = (lines: LineCounter, offset: number): DrillproofError =>
  yamlError(`nested deeper than ${MAX_JSON_DEPTH} levels`, lines, offset);

function refuseMoreThanJson(document: Document.Parsed, lines: LineCounter): void {
  visit(document, (_key, node) => {
    if (!isNode(node)) return;
    const at = node.range?.[0] ?? 0;
    if (isAlias(node)) throw yamlError('aliases are not allowed', lines, at);
    if (node.anchor !== undefined) throw yamlError('anchors are not allowed', lines, at);
    if (node.tag !== undefined) throw yamlError('tags are not allowed', lines, at);
  });
}

function toJson(node: ParsedNode, lines: LineCounter, depth: number): JsonValue {
  if (depth > MAX_JSON_DEPTH) throw depthError(lines, node.range[0]);
  if (isMap(node)) {
    const members = new Map<string, JsonValue>();
    for (const { key, value } of node.items) {
      const name = keyOf(key, lines);
      if (members.has(name)) throw yamlError('two members have the same name', lines, key.range[0]);
      members.set(name, value === null ? null : toJson(value, lines, depth + 1));
    }
    return Object.fromEntries(members);
  }
  if (isSeq(node)) return node.items.map((item) => toJson(item, lines, depth + 1));
  if (isScalar(node)) return toScalar(node.value, lines, node.range[0]);
  throw yamlError('a value is expected', lines, 0);
}

function keyOf(key: ParsedNode, lines: LineCounter): string {
  if (!isScalar(key) || typeof key.value !== 'string')
    throw yamlError('the name of a member must be text', lines, key.range[0]);
  if (key.value === '<<') throw yamlError('merge keys are not allowed', lines, key.range[0]);
  return key.value;
}

function toScalar(value: unknown, lines: LineCounter, at: number): JsonValue {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw yamlError('a string contains a lone surrogate', lines, at);
    return value;
  }
  if (typeof value === 'bigint') {
    if (!Number.isSafeInteger(Number(value))) throw yamlError('a number does not fit a double', lines, at);
    return Number(value);
  }
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw yamlError('the value has no JSON form', lines, at);
}

/** The line of a value; for a member, the line of its name. */
function lineOf(root: ParsedNode | null, pointer: string, lines: LineCounter): number | undefined {
  let node: ParsedNode | null = root;
  let offset = root?.range[0];
  for (const name of parseJsonPointer(pointer)) {
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

const yamlError = (message: string, lines: LineCounter, offset: number): DrillproofError =>
  new DrillproofError('policy.INVALID', `line ${lines.linePos(offset).line}: ${message}`);
