/** A JSON object of unknown content. */
export type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of an object; none of anything else. */
export const membersOf = (value: unknown): Members => (isObject(value) ? value : {});

/** The items of a list; none of anything else. */
export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What a `$ref` of the document points to; anything else is what it is. */
export function resolved(document: unknown, value: unknown): Members {
  const pointer = textOf(membersOf(value)['$ref']);
  if (pointer === undefined) return membersOf(value);
  const steps = pointer.slice('#/'.length).split('/');
  return membersOf(steps.reduce<unknown>((at, step) => membersOf(at)[step], document));
}

/** The last step of a `$ref`: the name of the component. */
export const nameOfRef = (pointer: string): string => pointer.slice(pointer.lastIndexOf('/') + 1);
