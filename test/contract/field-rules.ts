import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type Format, list, object } from './formats.ts';

/**
 * The rules of a resource by path: `a.b` is a member, `a[]` the items of a list. A trailing `?` means that the member
 * may be absent, `=` that it may be absent and is then filled in.
 */
type Rules = Readonly<Record<string, Format>>;

/** A format and the paths, separated by spaces, that have it. */
export type Row = readonly [format: Format, paths: string];

/** Rules from rows. An object or list that must be present follows from the paths inside it. */
export function rulesOf(rows: readonly Row[]): Rules {
  const rules: Record<string, Format> = {};
  for (const [format, paths] of rows) for (const path of paths.split(' ')) rules[path] = format;
  const stated = new Set(Object.keys(rules).map(pathOf));
  for (const path of stated)
    for (const parent of parentsOf(path).filter((outer) => !stated.has(outer)))
      rules[parent] ??= stated.has(`${parent}[]`) || path.startsWith(`${parent}[]`) ? list : object;
  return rules;
}

/** A value that has every member of the rules but the excluded ones: the first value that each format accepts. */
export function sampleOf(rules: Rules, excluded: Resource['excluded'] = {}): unknown {
  return Object.entries(rules)
    .map(([key, { accepts }]) => [pathOf(key), accepts.length === 0 ? {} : accepts[0]] as const)
    .filter(([path]) => !Object.hasOwn(excluded, path))
    .toSorted(([a], [b]) => a.length - b.length)
    .reduce<unknown>((value, [path, member]) => edit(value, path, member), {});
}

/** The objects and lists around a path: `a.b[].c` is in `a`, `a.b` and `a.b[]`. */
function parentsOf(path: string): string[] {
  const ends = Array.from(path.matchAll(/\[\]|\./g), ({ index }) => index);
  return ends.filter((end) => end > 0).map((end) => path.slice(0, end));
}

export type Resource = {
  readonly name: string;
  readonly schema: z.ZodMiniType;
  /** A valid value with every member that may be present. */
  readonly sample: unknown;
  readonly rules: Rules;
  /** Paths of the open objects that the rules describe; every other object that they describe is closed. */
  readonly open?: readonly string[];
  /** Members that the sample lacks, each with the member that excludes it. */
  readonly excluded?: Readonly<Record<string, string>>;
  /** Members that are valid only with another member. */
  readonly together?: Readonly<Record<string, string>>;
};

/** Tests of a resource: every rule by what it accepts and refuses, presence, closed and open objects, no field forgotten. */
export function describeResource(resource: Resource): void {
  const { name, schema, sample, rules, open = [] } = resource;
  describe(name, () => {
    it('accepts a complete value and changes nothing in it', () => {
      expect(schema.parse(sample)).toEqual(sample);
    });

    it('has a rule for each of its fields, required or not as stated', () => {
      const keys = Object.keys(rules);
      const leaves = new Set(keys.filter((key) => rules[key]?.whole).map(pathOf));
      expect(fieldsOf(z.toJSONSchema(schema, { io: 'input' }), leaves)).toEqual(
        keys.map((key) => key.replace('=', '?')).toSorted(),
      );
    });

    for (const [key, format] of Object.entries(rules)) describeField(resource, key, format);

    it.each(objectsOf(rules))('keeps an unknown member of %j only if that object is open', (path) => {
      const changed = edit(sample, path === '' ? 'unheardOf' : `${path}.unheardOf`, 'x');
      if (open.includes(path) || isOpen(rules, path)) expect(schema.parse(changed)).toEqual(changed);
      else expect(issuePaths(schema, changed)).toContain(path);
    });
  });
}

function describeField(resource: Resource, key: string, format: Format): void {
  const { schema, sample, excluded = {}, together = {} } = resource;
  const path = pathOf(key);
  const rival = excluded[path];
  const base = rival === undefined ? sample : edit(sample, rival, undefined);
  it(`accepts and refuses values of ${path} by its format`, () => {
    for (const value of format.accepts)
      expect(schema.safeParse(edit(base, path, value))).toMatchObject({ success: true });
    for (const value of format.rejects) {
      const issues = issuePaths(schema, edit(base, path, value));
      expect(issues, `${path} ${JSON.stringify(value)?.slice(0, 80)}`).toSatisfy(includesPath(path));
    }
    if (rival !== undefined)
      expect(issuePaths(schema, edit(sample, path, format.accepts[0]))).toContain(path);
  });
  if (path.endsWith('[]')) return;
  const partner = together[path];
  const without = edit(base, path, undefined);
  if (/[?=]$/.test(key)) {
    it(`accepts a value without ${path}`, () => {
      const rest = partner === undefined ? without : edit(without, partner, undefined);
      expect(schema.parse(rest)).toEqual(key.endsWith('=') ? edit(rest, path, []) : rest);
      if (partner !== undefined) expect(schema.safeParse(without).success).toBe(false);
    });
  } else {
    it(`refuses a value without ${path}`, () => {
      expect(issuePaths(schema, without)).toSatisfy(includesPath(path));
    });
  }
}

const pathOf = (key: string): string => key.replace(/[?=]$/, '');

const includesPath = (path: string) => (issues: string[]) =>
  issues.some((issue) => issue === path || issue.startsWith(`${path}.`) || issue.startsWith(`${path}[]`));

/** The paths of the issues of a value, in the notation of the rules. */
function issuePaths(schema: z.ZodMiniType, value: unknown): string[] {
  const { error } = schema.safeParse(value);
  return (error?.issues ?? []).map(({ path }) =>
    path.reduce<string>((text, step) => {
      if (typeof step === 'number') return `${text}[]`;
      return text === '' ? String(step) : `${text}.${String(step)}`;
    }, ''),
  );
}

/** A copy with the value at a path set, or removed when `undefined`; `[]` names the first item. */
export function edit(sample: unknown, path: string, value: unknown): unknown {
  const steps = path.replaceAll('[]', '.0').split('.');
  return editAt(sample, steps, value);
}

function editAt(sample: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(sample))
    return sample.toSpliced(Number(step), 1, editAt(sample[Number(step)], rest, value));
  const members = new Map(Object.entries(sample ?? {}));
  const changed = editAt(members.get(step), rest, value);
  if (changed === undefined) members.delete(step);
  else members.set(step, changed);
  return Object.fromEntries(members);
}

const isOpen = (rules: Rules, path: string): boolean =>
  Object.entries(rules).some(([key, format]) => pathOf(key) === path && format.open === true);

/** Paths of the objects that the rules describe member by member, and of the open ones. */
function objectsOf(rules: Rules): string[] {
  const described = Object.keys(rules).map((key) => pathOf(key).split('.').slice(0, -1).join('.'));
  const open = Object.keys(rules).filter((key) => rules[key]?.open);
  return [...new Set([...described, ...open.map(pathOf)])].toSorted();
}

type Node = { properties?: Record<string, Node>; required?: string[]; items?: Node };

/** The fields that a JSON Schema describes, in the notation of the rules, down to those that are tested as wholes. */
function fieldsOf(schema: unknown, leaves: ReadonlySet<string>): string[] {
  const fields: string[] = [];
  const visit = (node: Node, path: string): void => {
    if (leaves.has(path)) return;
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      const field = path === '' ? name : `${path}.${name}`;
      fields.push(node.required?.includes(name) ? field : `${field}?`);
      visit(child, field);
    }
    if (node.items !== undefined) {
      fields.push(`${path}[]`);
      visit(node.items, `${path}[]`);
    }
  };
  visit(schema as Node, '');
  return fields.toSorted();
}
