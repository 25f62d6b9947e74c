import { transformSync } from 'esbuild';

/** A constant at the top of a bundled file that `markPure` has marked. */
const PURE = /^var (\w+) = \/\* @__PURE__ \*\/ \((\(\) => [^]*?)\)\(\);$(?=\n\w)/gm;
/** The exports of a bundled file, as esbuild writes them: a function for each name. */
const EXPORTS =
  /^__export\(stdin_exports, \{\n([^]*?)\n\}\);\nmodule\.exports = __toCommonJS\(stdin_exports\);$/m;

const LAZY = `class Lazy {
  constructor(make) {
    this.make = make;
  }
  get value() {
    return (this.made ??= this.make());
  }
}
`;

/**
 * Rewrites a bundled file in CommonJS so that constants get their values on first use. Most commands need few of the
 * schemas and tables, and creating all of them takes longer than verifying a part. The exports become one object at the end,
 * because exports never change, and defining members one by one takes as long as the rest.
 */
export function makeLazy(code: string): string {
  const define: Record<string, string> = {};
  const [, names] = EXPORTS.exec(code) ?? [];
  if (names === undefined) return code;
  const text = code.replace(EXPORTS, '').replaceAll(PURE, (_, name: string, make: string) => {
    define[name] = `${name}$.value`;
    return `var ${name}$ = new Lazy(${make});`;
  });
  const members = names.replaceAll(/^ {2}(\w+): \(\) => (\w+)/gm, (_, name: string, value: string) =>
    value in define ? `get ${name}() { return ${value}; }` : `${name}: ${value}`,
  );
  return transformSync(`${LAZY}${text}\nmodule.exports = { ${members} };`, { define, target: 'node22' }).code;
}
