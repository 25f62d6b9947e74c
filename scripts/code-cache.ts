import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The ends of the files with the code of a module and with its code cache. Both names have the hash of the code. */
const CODE = '.code';
const CACHE = '.cache';

/**
 * A module that runs the code in a file next to it with the code cache of the build. V8 refuses a cache of another version
 * or with other flags, and then compiles the code as usual.
 */
const LOADER = `const { existsSync, readFileSync } = require('node:fs');
const { Script } = require('node:vm');
const filename = __filename + '${CODE}';
const cache = __filename + '${CACHE}';
const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
new Script(readFileSync(filename, 'latin1'), { filename, cachedData }).runInThisContext()(exports, require, module, filename, __dirname);
`;

/** Writes a module in CommonJS as a loader, and a file with its code in a function of the parts of a module. */
export function writeApart(file: string, code: string): void {
  writeFileSync(file, LOADER);
  writeFileSync(file + CODE, `(function (exports, require, module, __filename, __dirname) {${code}\n})`);
}

/** Writes the code caches that V8 has after the program verified an export and decided on it. */
export function writeCodeCache(main: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'code-cache-'));
  try {
    writeEvidence(folder);
    const hook = join(folder, 'hook.cjs');
    writeFileSync(hook, HOOK);
    const args = ['export', '--trust', 'trust.json', '--as-of', '2026-01-01T00:00:00Z'];
    for (const command of [['verify'], ['gate', '--allow-past', '--policy', 'policy.yaml']])
      execFileSync(process.execPath, ['--require', hook, resolve(main), ...command, ...args], {
        cwd: folder,
      });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// A cache is only valid with the flags of V8 at that time, which must be those at the start.
const HOOK = `require('node:v8').setFlagsFromString = () => {};
const vm = require('node:vm');
vm.Script = class extends vm.Script {
  constructor(...args) {
    super(...args);
    const file = args[1].filename.replace(/${CODE}$/, '${CACHE}');
    if (args[1].cachedData === undefined)
      process.on('exit', () => require('node:fs').writeFileSync(file, this.createCachedData()));
  }
};
`;

const POLICY = `schemaVersion: 1
kind: policy
name: any
verdict:
  export: verified
`;

/** Writes the first export of the vectors, and its trust store. */
function writeEvidence(folder: string): void {
  const { cases } = JSON.parse(readFileSync('vectors/exports.json', 'utf8')) as {
    cases: [{ input: { trust: string; files: Readonly<Record<string, string>> } }];
  };
  const [{ input }] = cases;
  writeFileSync(join(folder, 'trust.json'), input.trust);
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  for (const [path, base64] of Object.entries(input.files)) {
    const file = join(folder, 'export', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, Buffer.from(base64, 'base64'));
  }
}
