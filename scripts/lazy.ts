import { transformSync } from 'esbuild';

/** A constant at the top of a bundled file that `markPure` has marked. */
const PURE = /^(?:var|let|const) (\w+) = \/\* @__PURE__ \*\/ \(\(\) => /gm;

const LAZY = `var __lazy = (make) => () => new Lazy(make);
class Lazy {
  constructor(make) {
    this.make = make;
  }
  get value() {
    return (this.made ??= this.make());
  }
}
`;

/**
 * A bundled file in CommonJS in which constants get their values when they are first used. Few commands need most of the
 * schemas and tables, and making them all takes longer than to verify a part.
 */
export function makeLazy(code: string): string {
  const define: Record<string, string> = {};
  const text = code.replaceAll(PURE, (_, name: string) => {
    define[name] = `${name}$.value`;
    return `var ${name}$ = __lazy(() => `;
  });
  if (text === code) return code;
  return transformSync(`${LAZY}${text}`, { define, target: 'node22' }).code;
}
