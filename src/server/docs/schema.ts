import { anchor, markup, inline, type Html } from './html.ts';
import { itemsOf, membersOf, nameOfRef, textOf, type Members } from './json.ts';

const UNLIMITED = Number.MAX_SAFE_INTEGER;

const join = (parts: readonly (Html | string)[], between: string): Html[] =>
  parts.flatMap((part, i) => (i === 0 ? [markup`${part}`] : [markup`${between}${part}`]));

const code = (value: unknown): Html => markup`<code>${JSON.stringify(value)}</code>`;

/** A range for people; bounds that are only those of a safe integer say nothing. */
function range(from: unknown, to: unknown, unit: string): string | undefined {
  const least = typeof from === 'number' && from > -UNLIMITED ? from : undefined;
  const most = typeof to === 'number' && to < UNLIMITED ? to : undefined;
  if (least === undefined && most === undefined) return undefined;
  if (least === most) return `${least} ${unit}`.trim();
  if (most === undefined)
    return least === 1 && unit !== '' ? 'not empty' : `at least ${least} ${unit}`.trim();
  return least === undefined ? `at most ${most} ${unit}`.trim() : `${least} to ${most} ${unit}`.trim();
}

/** What else a value must keep to. */
function rules(schema: Members): Html[] {
  const above = schema['exclusiveMinimum'];
  const ranges = [
    range(schema['minimum'], schema['maximum'], ''),
    typeof above === 'number' ? `more than ${above}` : undefined,
    range(schema['minLength'], schema['maxLength'], 'characters'),
    range(schema['minItems'], schema['maxItems'], 'items'),
  ];
  const pattern = textOf(schema['pattern']);
  return [
    ...ranges.filter((text) => text !== undefined).map((text) => markup`, ${text}`),
    ...(pattern === undefined ? [] : [markup`, <code class="pattern">${pattern}</code>`]),
    ...('default' in schema ? [markup`, default ${code(schema['default'])}`] : []),
  ];
}

/** The type of a value in a line; the shape of an object follows below it. */
export function typeOf(value: unknown): Html {
  const schema = membersOf(value);
  const reference = textOf(schema['$ref']);
  if (reference !== undefined) {
    const name = nameOfRef(reference);
    return markup`<a href="#${anchor('schema', name)}">${name}</a>`;
  }
  const choices = [...itemsOf(schema['oneOf']), ...itemsOf(schema['anyOf'])];
  if (choices.length > 0) return markup`${join(choices.map(typeOf), ' or ')}`;
  if ('const' in schema) return code(schema['const']);
  const values = itemsOf(schema['enum']);
  if (values.length > 0) return markup`${join(values.map(code), ' | ')}`;
  if (schema['type'] === 'array') return markup`array of ${typeOf(schema['items'])}${rules(schema)}`;
  return markup`${textOf(schema['type']) ?? 'any value'}${rules(schema)}`;
}

/** The schemas inside a value that have members to show: its own, those of its items, and those of its choices. */
function shapesOf(value: unknown): Members[] {
  const schema = membersOf(value);
  if ('$ref' in schema || Object.keys(schema).length === 0) return [];
  const inside = [schema['items'], ...itemsOf(schema['oneOf']), ...itemsOf(schema['anyOf'])];
  return ['properties' in schema ? [schema] : [], ...inside.map(shapesOf)].flat();
}

function memberRow(name: string, schema: unknown, required: boolean): Html {
  const description = textOf(membersOf(schema)['description']);
  return markup`<li>
    <code class="name">${name}</code>${required ? '' : markup` <span class="optional">optional</span>`}
    <span class="type">${typeOf(schema)}</span>
    ${description === undefined ? '' : markup`<span class="about">${inline(description)}</span>`}
    ${membersIn(schema)}
  </li>`;
}

/** The members of an object as a list, those of inner objects as lists within. */
function membersIn(value: unknown): Html[] {
  return shapesOf(value).map((schema) => {
    const required = new Set(itemsOf(schema['required']));
    const rows = Object.entries(membersOf(schema['properties'])).map(([name, member]) =>
      memberRow(name, member, required.has(name)),
    );
    return rows.length === 0
      ? markup``
      : markup`<ul class="members">
          ${rows}
        </ul>`;
  });
}

/** A named schema of the document. */
export const schemaSection = (name: string, schema: unknown): Html =>
  markup` <section class="schema" aria-labelledby="${anchor('schema', name)}">
    <h3 id="${anchor('schema', name)}">
      ${name} <a class="here" href="#${anchor('schema', name)}" aria-label="Link to ${name}">#</a>
    </h3>
    ${textOf(membersOf(schema)['description']) ?? ''}
    ${'properties' in membersOf(schema) ? '' : markup`<p class="type">${typeOf(schema)}</p>`}
    ${membersIn(schema)}
  </section>`;
