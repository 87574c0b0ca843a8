import { globSync, readFileSync } from 'node:fs';
import type { Plugin } from 'vitest/config';
import { defineConfig } from 'vitest/config';
import { includeOf } from './scripts/lib/test-suites.mjs';
import { PLANTED_BUGS, SWITCHED_BUGS } from './test/simulation/planted/planted-bugs.js';
import { plantedBugs } from './test/simulation/planted/planted-plugin.js';

/**
 * A test that hangs is ended after this. The time of a good test proves nothing on a machine with more to do than
 * processors: a property that computes for ten seconds was seen to take sixty beside three other runs.
 */
const HANGS_MS = 180_000;
/** Each starts processes of its own and waits for them: one alone leaves a processor idle, more would starve each other. */
const TWO_WORKERS = { maxWorkers: 2 };
/**
 * They wait for a Redis, a server or a set of processes: two leave a part of two processors idle. Beside other work, three also get
 * more of the processors than two, which is why tests that only compute have three as well.
 */
const THREE_WORKERS = { maxWorkers: 3 };
const SOURCES = ['rollkeeper:source', 'node', 'development|production'];
const LONG = { testTimeout: HANGS_MS, hookTimeout: HANGS_MS };
const setupFiles = ['test/support/properties.setup.ts'];
const sharedProcess = {
  isolate: false,
  setupFiles: ['test/support/shared-process.setup.ts', ...setupFiles],
};
const PACKAGES = globSync('src/*/package.json', { cwd: import.meta.dirname }).sort();
/** The compiler's options, and the files that the packages' subpaths lead to. */
const SETTINGS = ['tsconfig.json', ...PACKAGES]
  .map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
  .join('');
/** A compiled file names the files that its imports lead to. It is kept as long as these settings stay the same. */
const settingsInCacheKey: Plugin = {
  name: 'settings-in-cache-key',
  configureVitest: ({ experimental_defineCacheKeyGenerator: define }) => define(() => SETTINGS),
};
const withRedis = {
  globalSetup: ['test/integration/redis.global-setup.ts'],
};

/**
 * Four suites, whose files scripts/lib/test-suites.mjs names: `unit` (no socket), `integration` (a real Redis), `e2e` (real
 * processes and a real kubectl), and `nightly`, which takes too long for every change. The files of the first two share processes,
 * and the modules loaded in them: to load these for each file takes three times as long as the tests. So a file puts back what it
 * changes for all (src/testing/replace-functions.ts).
 */
export default defineConfig({
  // The packages' sources, not what was built of them.
  resolve: { conditions: SOURCES },
  ssr: { resolve: { conditions: SOURCES } },
  plugins: [settingsInCacheKey, plantedBugs(PLANTED_BUGS, import.meta.dirname, SWITCHED_BUGS)],
  test: {
    // Each source is compiled once, not again for every project and every run.
    experimental: { fsModuleCache: true },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          ...sharedProcess,
          setupFiles: ['test/support/no-sockets.setup.ts', ...sharedProcess.setupFiles],
          include: includeOf('unit'),
          testTimeout: HANGS_MS,
          ...THREE_WORKERS,
          // It imports JSON as only bundlers do.
          server: { deps: { inline: ['@actions/workflow-parser'] } },
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          ...sharedProcess,
          ...withRedis,
          ...LONG,
          ...THREE_WORKERS,
          sequence: { groupOrder: 1 },
          include: includeOf('integration'),
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          setupFiles,
          globalSetup: ['test/e2e/sets.global-setup.ts'],
          ...LONG,
          // A file may have to wait for a set of processes that another has.
          hookTimeout: 2 * HANGS_MS,
          ...THREE_WORKERS,
          sequence: { groupOrder: 2 },
          include: includeOf('e2e'),
        },
      },
      {
        extends: true,
        test: {
          name: 'nightly',
          setupFiles,
          globalSetup: [...withRedis.globalSetup, 'test/e2e/sets.global-setup.ts'],
          ...LONG,
          hookTimeout: 2 * HANGS_MS,
          ...TWO_WORKERS,
          sequence: { groupOrder: 3 },
          include: includeOf('nightly'),
        },
      },
    ],
  },
});
