import { Option } from 'commander';

type Camel<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Camel<Capitalize<B>>}` : S;
type WordOf<S extends string> = S extends `${infer W} ${string}` ? W : S;
/** The name under which commander stores the value of an option: `asOf` of `--as-of <time>`. */
type NameOf<F extends string> = F extends `${string}--${infer Rest}`
  ? Camel<Rest extends `no-${infer Positive}` ? WordOf<Positive> : WordOf<Rest>>
  : never;
type ValueOf<F extends string> = F extends `${string} ${'<' | '['}${string}` ? string : boolean;

/** A declared option. Its name and the type of its value follow from its flags and its parser. */
export class Declared<N extends string = string, V = unknown> {
  declare readonly name: N;
  declare readonly value: V;
  /** Options and arguments: of each group one must be given too. */
  readonly needed: (readonly string[])[] = [];
  isRepeatable = false;
  readonly option: Option;

  constructor(declared: Option) {
    this.option = declared;
  }

  /** Its text in the help replaces the value. */
  default(value: Exclude<V, undefined>, text?: string): Declared<N, Exclude<V, undefined>> {
    this.option.default(value, text);
    return this as Declared<N, Exclude<V, undefined>>;
  }

  required(): Declared<N, Exclude<V, undefined>> {
    this.option.makeOptionMandatory();
    return this as Declared<N, Exclude<V, undefined>>;
  }

  choices<C extends string>(values: readonly C[]): Declared<N, C | undefined> {
    this.option.choices(values);
    return this as Declared<N> as Declared<N, C | undefined>;
  }

  /** The value of an option that is given without one. */
  preset(value: string): this {
    this.option.preset(value);
    return this;
  }

  /** Collects the values of an option that may be given several times. */
  repeat(): Declared<N, readonly Exclude<V, undefined>[] | undefined> {
    const { parseArg = (value: string) => value } = this.option;
    this.option.argParser((value, before: readonly unknown[] | undefined) => [
      ...(before ?? []),
      parseArg(value, undefined),
    ]);
    return this.allowRepeats() as Declared<N> as Declared<N, readonly Exclude<V, undefined>[] | undefined>;
  }

  /** For a parser that combines the values itself. */
  allowRepeats(): this {
    this.isRepeatable = true;
    this.option.description += ' (repeatable)';
    return this;
  }

  /** Requires one of these options (`--queue`, or with a value `--scope project`) or arguments (`[export]`). */
  needs(...needed: readonly string[]): this {
    if (needed.length > 0) this.needed.push(needed);
    return this;
  }

  /** Requires one of these options, as its help says. */
  onlyWith(...needed: readonly string[]): this {
    this.option.description = `with ${needed.join(' or ')}: ${this.option.description}`;
    return this.needs(...needed);
  }

  conflicts(...flags: readonly string[]): this {
    this.option.conflicts(flags.map((flag) => new Option(flag).attributeName()));
    return this;
  }
}

type DeclareOption = {
  <F extends string>(flags: F, help: string): Declared<NameOf<F>, ValueOf<F> | undefined>;
  <F extends string, V>(
    flags: F,
    help: string,
    parse: (value: string, before: V | undefined) => V,
  ): Declared<NameOf<F>, V | undefined>;
};

/**
 * Declares an option once, by its flags, its help and a parser that throws `InvalidArgumentError`. `OptionsOf` has the type
 * of its value; an option without a placeholder is a flag.
 */
export const option = ((flags: string, help: string, parse?: (value: string, before: unknown) => unknown) => {
  const declared = new Option(flags, help);
  return new Declared(parse === undefined ? declared : declared.argParser(parse));
}) as DeclareOption;

/** The names of required options, or of the others; names that only the program knows are omitted. */
type NameWhere<D, Required> =
  D extends Declared<infer N, infer V>
    ? string extends N
      ? never
      : (undefined extends V ? false : true) extends Required
        ? N
        : never
    : never;
type Named<D, N> = D extends { readonly name: N; readonly value: infer V } ? V : never;

/** The values of a list of options. */
export type OptionsOf<L extends readonly Declared[]> = {
  readonly [N in NameWhere<L[number], true>]: Named<L[number], N>;
} & { readonly [N in NameWhere<L[number], false>]?: Exclude<Named<L[number], N>, undefined> };
