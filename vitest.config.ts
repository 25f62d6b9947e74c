import { defineConfig } from 'vitest/config';

const source = 'drillproof:source';

export default defineConfig({
  ssr: { resolve: { conditions: [source, 'node'] } },
  test: {
    include: ['test/**/*.test.ts'],
    execArgv: [`--conditions=${source}`],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
