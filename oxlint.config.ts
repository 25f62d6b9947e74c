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
  ['node'],
  ['selftest'],
  ['server'],
  ['cli'],
  ['single'],
];
const mayUseNode = ['node', 'selftest', 'server', 'cli', 'single'];

type Pattern = { regex: string; message: string };
const restrict = (patterns: Pattern[]): { 'no-restricted-imports': ['error', { patterns: Pattern[] }] } => ({
  'no-restricted-imports': ['error', { patterns }],
});
const noNode: Pattern = { regex: '^node:', message: 'this room is portable: no node: modules' };

const rooms = order.flatMap((level, depth) =>
  level.map((room) => {
    const below = order
      .slice(depth)
      .flat()
      .filter((other) => other !== room);
    const patterns: Pattern[] = [
      {
        regex: `^(\\.\\./)+(${[...below, '(index|contract|client|node|server)\\.ts'].join('|')})(/|$)`,
        message: `src/${room} may not import a room below it (docs/architecture.md)`,
      },
    ];
    if (!mayUseNode.includes(room)) patterns.push(noNode);
    return { files: [`src/${room}/**`], rules: restrict(patterns) };
  }),
);

export default defineConfig({
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import'],
  options: { typeAware: true, denyWarnings: true },
  categories: { correctness: 'error', suspicious: 'error' },
  ignorePatterns: ['dist/**'],
  rules: {
    'import/no-cycle': ['error', { ignoreTypes: true }],
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'unicorn/prefer-node-protocol': 'error',
    'unicorn/require-post-message-target-origin': 'off', // for windows; ours are worker ports
    'typescript/no-unsafe-type-assertion': 'off',
    'no-await-in-loop': 'off',
  },
  overrides: [
    ...rooms,
    {
      files: ['src/index.ts', 'src/contract.ts', 'src/client.ts'],
      rules: restrict([
        noNode,
        { regex: '^\\./(mirror|scrub|node|server|cli)/', message: 'a portable entry' },
      ]),
    },
    {
      files: ['src/errors.ts'],
      rules: restrict([{ regex: '^(?!\\./codes/)', message: 'errors.ts knows only the catalogue of codes' }]),
    },
  ],
});
