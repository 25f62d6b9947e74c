import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const source = 'drillproof:source';
const testFiles = (pattern: RegExp): string[] =>
  globSync('test/**/*.test.ts').filter((path) => pattern.test(readFileSync(path, 'utf8')));

const { exclude } = configDefaults;
const deepOnly = 'test/**/*.deep.test.ts';
/** Test files that try more, or use real servers too, in the deep run. */
const scaled = testFiles(/support\/deep\.ts|eachTestOnStore/);
/** Test files that replace modules, which must not reach other files, or whose timeouts need a process of their own. */
const mocking = testFiles(/vi\.(mock|resetModules)\(|failing-disk\.ts|stallTimeoutMs: 1_000/);

/** Files that share a process: loading src for each of them would take most of the time. */
const together = {
  exclude: [...exclude, ...mocking],
  isolate: false,
  experimental: { viteModuleRunner: false }, // Node.js strips types faster, but hoists no mocks
};

/** The test files that take longest, longest first: they begin first, so that none of them runs alone at the end. */
const LONGEST = `
  verifiers web/page package/installed package/entries web/traps faults/mirror ci/action cli/shared/queue web/vectors cli/mirror/s3 cli/serve
  node/s3/mirror server/durability package/confinement server/blobs/s3 server/store/postgres scripts single
  node/swapped-files package/selftest node/queue node/volume/kill cli/selftest server/slow-and-large cli/gate/sources
  cli/verify/findings evidence/bundle zip/read/in-memory bench
  zip/other-tools verify/flips node/s3 faults ci cli/shared/bad-input package/bundles node/scrub/repair vectors
`.match(/\S+/g)!;
const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex((path) => moduleId.includes(`/test/${path}`));
  return rank < 0 ? LONGEST.length : rank;
};

class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = files.toSorted((a, b) => a.project.name.localeCompare(b.project.name));
    return Promise.resolve(byProject.toSorted((a, b) => rankOf(a) - rankOf(b)));
  }
}

// Commands and threads that tests start load the sources again; this halves the time of their start.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

export default defineConfig({
  ssr: { resolve: { conditions: [source, 'node'] } },
  test: {
    execArgv: [`--conditions=${source}`],
    maxWorkers: availableParallelism() + 2, // tests often wait, for a timer or another process
    sequence: { sequencer: LongestFirst },
    slowTestThreshold: 5_000,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } }, // a machine with other work is not a fault
    projects: [
      {
        extends: true,
        test: {
          ...together,
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...together.exclude, deepOnly],
        },
      },
      {
        extends: true,
        test: { name: 'quick mocks', include: mocking, exclude: [...exclude, deepOnly] },
      },
      {
        extends: true,
        test: {
          ...together,
          name: 'deep',
          include: [deepOnly, ...scaled],
          exclude: together.exclude,
          provide: { deep: true },
        },
      },
      {
        extends: true,
        test: {
          name: 'deep mocks',
          include: mocking.filter((path) => path.endsWith('.deep.test.ts') || scaled.includes(path)),
          provide: { deep: true },
        },
      },
    ],
  },
});
