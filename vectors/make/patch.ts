import type { JsonObject, JsonValue } from '../../src/bytes/json/parse.ts';

/** Changes of a document by JSON pointer; `undefined` takes a member away. */
export type Patch = Readonly<Record<string, JsonValue | undefined>>;

/** The document with these members set or taken away; its own members are left alone. */
export function patched(document: JsonObject, patch: Patch = {}): JsonObject {
  const copy = structuredClone(document);
  for (const [pointer, value] of Object.entries(patch)) {
    const steps = pointer.split('/').slice(1);
    const name = steps.pop() ?? '';
    let parent: JsonValue = copy;
    for (const step of steps) parent = member(parent, step, pointer);
    set(parent, name, value, pointer);
  }
  return copy;
}

function member(parent: JsonValue, name: string, pointer: string): JsonValue {
  const value = Array.isArray(parent) ? parent[Number(name)] : isObject(parent) ? parent[name] : undefined;
  if (value === undefined) throw new TypeError(`${pointer} names nothing`);
  return value;
}

function set(parent: JsonValue, name: string, value: JsonValue | undefined, pointer: string): void {
  if (Array.isArray(parent)) {
    const at = name === '-' ? parent.length : Number(name);
    if (value === undefined) parent.splice(at, 1);
    else parent[at] = value;
  } else if (isObject(parent)) {
    if (value === undefined) delete parent[name];
    else parent[name] = value;
  } else throw new TypeError(`${pointer} names nothing`);
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
