import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type Format, list, object } from './formats.ts';

/**
 * The rules of a resource by path: `a.b` is a member, `a[]` the items of a list. A trailing `?` says that the member
 * may be absent, `=` that it may be absent and is then filled in.
 */
type Rules = Readonly<Record<string, Format>>;

/**
 * Rules from rows of a format and the paths, separated by spaces, that have it. An object or list that must be present
 * follows from the paths inside it.
 */
export function rulesOf(...rows: readonly (readonly [Format, ...string[]])[]): Rules {
  const rules: Record<string, Format> = {};
  for (const [format, ...paths] of rows) {
    for (const path of paths.flatMap((text) => text.split(' '))) rules[path] = format;
  }
  const stated = new Set(Object.keys(rules).map(pathOf));
  for (const path of stated) {
    for (const parent of parentsOf(path)) {
      if (stated.has(parent) || parent in rules) continue;
      rules[parent] = stated.has(`${parent}[]`) || path.startsWith(`${parent}[]`) ? list : object;
    }
  }
  return rules;
}

/** The objects and lists around a path: `a.b[].c` is in `a`, `a.b` and `a.b[]`. */
function parentsOf(path: string): string[] {
  const ends = Array.from(path.matchAll(/\[\]|\./g), ({ index }) => index);
  return ends.filter((end) => end > 0).map((end) => path.slice(0, end));
}

type Resource = {
  readonly schema: z.ZodMiniType;
  /** A valid value with every member that may be there. */
  readonly sample: unknown;
  readonly rules: Rules;
  /** Paths of the open objects; every other object is closed. */
  readonly open?: readonly string[];
  /** Members that the sample lacks because they exclude one that it has: how to make room for them. */
  readonly insteadOf?: Readonly<Record<string, string>>;
  /** Members that go together: which other one is absent when this one is. */
  readonly absentWith?: Readonly<Record<string, string>>;
};

/** Tests of a resource: every rule by what it accepts and refuses, presence, closed and open objects, no field forgotten. */
export function describeResource(name: string, resource: Resource): void {
  const { schema, sample, rules, open = [] } = resource;
  describe(name, () => {
    it('accepts a complete value and changes nothing in it', () => {
      expect(schema.parse(sample)).toEqual(sample);
    });

    it('has a rule here for each of its fields, required or not as stated', () => {
      const leaves = new Set(
        Object.keys(rules)
          .filter((key) => rules[key]?.whole)
          .map(pathOf),
      );
      expect(fieldsOf(z.toJSONSchema(schema, { io: 'input' }), leaves)).toEqual(
        Object.keys(rules)
          .map((key) => key.replace('=', '?'))
          .toSorted(),
      );
    });

    for (const [key, format] of Object.entries(rules)) describeField(resource, key, format);

    for (const path of objectsOf(rules)) {
      const changed = edit(sample, path === '' ? 'unheardOf' : `${path}.unheardOf`, 'x');
      if (open.includes(path)) {
        it(`keeps an unknown member of ${path || 'the whole'}`, () => {
          expect(schema.parse(changed)).toEqual(changed);
        });
      } else {
        it(`refuses an unknown member of ${path || 'the whole'}`, () => {
          expect(issuePaths(schema, changed)).toContain(path);
        });
      }
    }
  });
}

function describeField(
  { schema, sample, insteadOf = {}, absentWith = {} }: Resource,
  key: string,
  format: Format,
): void {
  const path = pathOf(key);
  const rival = insteadOf[path];
  const base = rival === undefined ? sample : edit(sample, rival, undefined);
  it(`accepts and refuses values of ${path} by its format`, () => {
    for (const value of format.accepts)
      expect(schema.safeParse(edit(base, path, value))).toMatchObject({ success: true });
    for (const value of format.rejects) {
      const issues = issuePaths(schema, edit(base, path, value));
      expect(issues, `${path} ${JSON.stringify(value)?.slice(0, 80)}`).toSatisfy(somewhereAt(path));
    }
  });
  if (path.endsWith('[]')) return;
  if (/[?=]$/.test(key)) {
    it(`accepts a value without ${path}`, () => {
      const partner = absentWith[path];
      const rest = partner === undefined ? base : edit(base, partner, undefined);
      expect(schema.safeParse(edit(rest, path, undefined))).toMatchObject({ success: true });
    });
  } else {
    it(`refuses a value without ${path}`, () => {
      expect(issuePaths(schema, edit(base, path, undefined))).toSatisfy(somewhereAt(path));
    });
  }
}

const pathOf = (key: string): string => key.replace(/[?=]$/, '');

const somewhereAt = (path: string) => (found: string[]) =>
  found.some((issue) => issue === path || issue.startsWith(`${path}.`) || issue.startsWith(`${path}[]`));

/** Where a schema finds fault, in the notation of the rules. */
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
  if (Array.isArray(sample)) return sample.with(Number(step), editAt(sample[Number(step)], rest, value));
  const members = new Map(Object.entries(sample ?? {}));
  const changed = editAt(members.get(step), rest, value);
  if (changed === undefined) members.delete(step);
  else members.set(step, changed);
  return Object.fromEntries(members);
}

/** Paths of the objects that the rules describe member by member, and of the open ones. */
const objectsOf = (rules: Rules): string[] => {
  const described = Object.keys(rules).map((key) => pathOf(key).split('.').slice(0, -1).join('.'));
  const open = Object.keys(rules)
    .filter((key) => rules[key]?.open)
    .map(pathOf);
  return [...new Set([...described, ...open])].toSorted();
};

type Node = { properties?: Record<string, Node>; required?: string[]; items?: Node };

/** The fields that a JSON Schema describes, in the notation of the rules, down to those that are tested as wholes. */
function fieldsOf(schema: unknown, leaves: ReadonlySet<string>): string[] {
  const found: string[] = [];
  const visit = (node: Node, path: string): void => {
    if (leaves.has(path)) return;
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      const at = path === '' ? name : `${path}.${name}`;
      found.push(node.required?.includes(name) ? at : `${at}?`);
      visit(child, at);
    }
    if (node.items !== undefined) {
      found.push(`${path}[]`);
      visit(node.items, `${path}[]`);
    }
  };
  visit(schema as Node, '');
  return found.toSorted();
}
