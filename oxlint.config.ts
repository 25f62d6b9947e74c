import { readdirSync } from 'node:fs';
import { defineConfig } from 'oxlint';

// The rooms, from the top of the house down: a room may import itself and every room above it.
const order = [
  ['codes'],
  ['bytes'],
  ['zip'],
  ['contract'],
  ['trust'],
  ['evidence'],
  ['verify'],
  ['policy'],
  ['report'],
  ['client'],
  ['mirror'],
  ['scrub'],
  ['web'],
  ['node'],
  ['selftest'],
  ['server'],
  ['cli'],
  ['single'],
];
const allRooms = order.flat();
const mayUseNode = ['node', 'selftest', 'server', 'cli', 'single'];

type Pattern = { regex: string; message: string };
const restrict = (patterns: Pattern[]): { 'no-restricted-imports': ['error', { patterns: Pattern[] }] } => ({
  'no-restricted-imports': ['error', { patterns }],
});
const noNode: Pattern = { regex: '^node:', message: 'this room is portable: no node: modules' };

const commands = readdirSync(new URL('src/cli', import.meta.url)).filter((name) =>
  /^(?!shared)[^.]+$/.test(name),
);
/** What a file that is `folders` deep in src/cli may not import: a command, unless it is its own. */
const noCommand = (folders: number): Pattern => ({
  regex: `^${'\\.\\./'.repeat(folders)}(${commands.join('|')})/`,
  message: 'a command imports no other command: what two need is in cli/shared',
});

// The folders of a room have an order too: a folder imports itself and those before it.
const folderOrder: Readonly<Record<string, readonly string[]>> = {
  bytes: ['text', 'json'],
  zip: ['write', 'read'],
  contract: ['resources', 'operations', 'openapi'],
  evidence: ['bundle', 'export'],
  verify: ['signature', 'part', 'export', 'challenge', 'receipts'],
  policy: ['document', 'rules', 'vsa'],
  report: ['text', 'decision', 'many', 'signed', 'html'],
  web: ['worker', 'page'],
  node: ['evidence', 'volume', 's3', 'second-opinion', 'keys', 'time', 'queue'],
  server: ['store', 'blobs', 'model', 'http', 'telemetry', 'builds', 'services', 'jobs', 'admin'],
  'server/store': ['sqlite', 'postgres'],
  'server/jobs': ['run', 'export'],
  'cli/shared': ['options', 'output', 'input'],
};
/** In these rooms, no folder imports a file next to the folders. */
const filesLast = new Set(['server']);

/** What a file that is `depth` folders below `parent/folder` may not import. */
const noLater = (parent: string, folder: string, depth: number): Pattern[] => {
  const names = folderOrder[parent] ?? [];
  const later = names.slice(names.indexOf(folder) + 1).map((name) => `${name}/`);
  const files = filesLast.has(parent) ? ['[^/]+\\.ts$'] : [];
  if (later.length + files.length === 0) return [];
  const regex = `^${'\\.\\./'.repeat(depth)}(${[...later, ...files].join('|')})`;
  return [{ regex, message: `src/${parent}/${folder} may not import a folder below it (oxlint.config.ts)` }];
};

const rooms = order.flatMap((level, depth) =>
  level.flatMap((room) => {
    const below = order
      .slice(depth)
      .flat()
      .filter((other) => other !== room);
    // One row for each depth of folders: how many `../` lead out of the room.
    return ['*', '*/*', '*/*/*'].flatMap((files, folders) => {
      const out = '\\.\\./'.repeat(folders + 1);
      const patterns: Pattern[] = [
        {
          regex: `^${out}(${[...below, '(index|contract|client|node|server|web)\\.ts'].join('|')})(/|$)`,
          message: `src/${room} may not import a room below it (docs/contribute/architecture.md)`,
        },
      ];
      if (!mayUseNode.includes(room)) patterns.push(noNode);
      if (room === 'cli' && folders > 0) patterns.push(noCommand(folders));
      const all = { files: [`src/${room}/${files}`], rules: restrict(patterns) };
      // The path below the room: a folder of it, or a folder of that. The last row that matches a file counts alone.
      const parents = Object.keys(folderOrder).filter((parent) => parent.split('/')[0] === room);
      const inFolders = parents.flatMap((parent) => {
        const [, inner] = parent.split('/');
        const steps = inner === undefined ? 0 : 1;
        const outer = inner === undefined ? [] : noLater(room, inner, folders);
        return (folders > steps ? (folderOrder[parent] ?? []) : []).map((folder) => ({
          files: [`src/${parent}/${folder}/${files.slice(2 * (steps + 1))}`],
          rules: restrict([...patterns, ...outer, ...noLater(parent, folder, folders - steps)]),
        }));
      });
      return [all, ...inFolders];
    });
  }),
);

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import'],
  options: { typeAware: true, denyWarnings: true },
  categories: { correctness: 'error', suspicious: 'error' },
  ignorePatterns: ['dist/**'],
  rules: {
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'unicorn/prefer-node-protocol': 'error',
    'unicorn/require-post-message-target-origin': 'off', // for windows; ours are worker ports
    'typescript/no-unsafe-type-assertion': 'off',
    'no-await-in-loop': 'off',
    'no-underscore-dangle': ['error', { allow: ['_default'] }], // of zod/mini
  },
  overrides: [
    ...rooms,
    { files: ['src/**', 'bench/**', 'docs/**', 'scripts/**'], rules: { 'max-params': ['error', 4] } },
    // The compiler and bundlers leave an address that is computed as it is. Only the runner of a user has one.
    { files: ['src/**'], rules: { 'import/no-dynamic-require': ['error', { esmodule: true }] } },
    { files: ['src/server/jobs/run/load.ts'], rules: { 'import/no-dynamic-require': 'off' } },
    {
      files: ['src/index.ts', 'src/contract.ts', 'src/client.ts', 'src/web.ts'],
      rules: restrict([
        noNode,
        { regex: '^\\./(mirror|scrub|node|server|cli)/', message: 'a portable entry' },
      ]),
    },
    {
      files: ['src/errors.ts'],
      rules: restrict([
        {
          regex: `^\\./(${allRooms.filter((room) => room !== 'codes').join('|')})/`,
          message: 'errors.ts knows only the catalogue of codes',
        },
      ]),
    },
  ],
});
