import { defineConfig } from 'vitest/config';

/** Real servers on a busy machine may be late once; what fails twice is broken. The report names what was retried. */
const ONCE_MORE = 1;

/**
 * Three kinds, weakest first: `unit` (no network), `integration` (a real Redis), `e2e` (real processes and a
 * real kubectl).
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: { name: 'unit', include: ['src/**/*.spec.ts', 'test/unit/**/*.test.ts'], testTimeout: 20_000 },
      },
      {
        test: {
          name: 'integration',
          sequence: { groupOrder: 1 },
          retry: ONCE_MORE,
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/integration/redis.global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 2 },
          retry: ONCE_MORE,
          include: ['test/e2e/**/*.test.ts', 'test/chaos/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
