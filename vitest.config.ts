import { defineConfig } from 'vitest/config';

/**
 * What hangs is ended after this. How long the rest takes on a machine with more to do than processors says nothing of it: a
 * property that computes for ten seconds was seen to take sixty beside three other runs.
 */
const HANGS_MS = 180_000;

/**
 * Three kinds, weakest first: `unit` (no network), `integration` (a real Redis), `e2e` (real processes and a
 * real kubectl). The files of the first two share processes, and the modules loaded in them: to load these for each file
 * takes three times as long as the tests. So a file puts back what it changes for all (src/testing/replace-functions.ts).
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          isolate: false,
          setupFiles: ['test/support/shared-process.setup.ts'],
          include: ['src/**/*.spec.ts', 'test/unit/**/*.test.ts'],
          testTimeout: HANGS_MS,
          // It imports JSON as only bundlers do.
          server: { deps: { inline: ['@actions/workflow-parser'] } },
        },
      },
      {
        test: {
          name: 'integration',
          isolate: false,
          setupFiles: ['test/support/shared-process.setup.ts'],
          sequence: { groupOrder: 1 },
          include: ['test/integration/**/*.test.ts', 'examples/**/*.test.ts'],
          alias: { 'rollkeeper/testing': new URL('src/testing/index.ts', import.meta.url).pathname },
          globalSetup: ['test/integration/redis.global-setup.ts'],
          testTimeout: HANGS_MS,
          hookTimeout: HANGS_MS,
          // They wait most of the time, for Redis and for what has to be over: one alone leaves a processor idle.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 2 },
          include: ['test/{e2e,chaos,fuzz}/**/*.test.ts'],
          testTimeout: HANGS_MS,
          hookTimeout: HANGS_MS,
          // They wait for processes most of the time; more at once would starve each other.
          maxWorkers: 2,
        },
      },
    ],
  },
});
