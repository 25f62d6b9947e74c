/** Loads a package whose exports are its default export, because bundlers create no other. */
type Load<T> = () => Promise<{ readonly default: T }>;

let earlier: Promise<unknown> = Promise.resolve();

/**
 * Imports a package that was written for `require()`. In ECMAScript modules of a bundler, its `require('fs')` calls a
 * global function, which Node.js does not have. It exists while the package is loaded.
 */
export function importCommonJs<T>(load: Load<T>): Promise<T> {
  const loaded = earlier.then(() => loadWithRequire(load));
  earlier = loaded.catch(() => undefined); // one after the other, so that none removes the function of another
  return loaded;
}

async function loadWithRequire<T>(load: Load<T>): Promise<T> {
  if ('require' in globalThis) return (await load()).default;
  Object.assign(globalThis, { require: (name: string) => process.getBuiltinModule(name) });
  try {
    return (await load()).default;
  } finally {
    Reflect.deleteProperty(globalThis, 'require');
  }
}
