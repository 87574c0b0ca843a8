import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Suite } from '../../scripts/lib/test-suites.mjs';
import { GATE, SUITES, needsOf, selectTests, testFiles } from '../../scripts/lib/test-suites.mjs';
import type { TestReport } from '../../scripts/lib/test-summary.mjs';
import { summaryOf } from '../../scripts/lib/test-summary.mjs';
import { ROOT } from '../image/dockerfile.js';

const all = testFiles();
const needs = (...paths: string[]): string[] => [...needsOf(selectTests({ paths }).files)].sort();

describe('the suites', () => {
  it('have every test file of the repository, each once', () => {
    const inFolders = ['src', 'test', 'examples'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.(spec|test)\.ts$/.test(file) && !file.includes('node_modules'))
        .map((file) => join(folder, file)),
    );
    expect(Object.values(all).flat().sort()).toEqual(inFolders.sort());
  });

  it('are all described where contributors look', () => {
    const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    for (const suite of Object.keys(SUITES)) expect(text).toContain(`\`npm run test:${suite}\``);
  });

  it('are the gate together, but for what takes too long for every change', () => {
    expect(GATE).toEqual(['unit', 'integration', 'e2e']);
    expect(selectTests({ paths: [] }).files).toEqual([...all.unit, ...all.integration, ...all.e2e]);
  });
});

describe('the test files with a word in their path', () => {
  it('are of the gate', () => {
    const { files, suites } = selectTests({ paths: ['test-suites'] });
    expect({ files, suites }).toEqual({ files: ['test/unit/test-suites.test.ts'], suites: ['unit'] });
  });

  it('are of the nightly suite where the gate has none', () => {
    const { files, suites } = selectTests({ paths: ['test/chaos/hopeless'] });
    expect({ files, suites }).toEqual({
      files: ['test/chaos/hopeless.test.ts'],
      suites: ['nightly'],
    });
  });

  it('must be there', () => {
    expect(() => selectTests({ paths: ['test/unit/nothing'] })).toThrow(
      'has "test/unit/nothing" in its path',
    );
    expect(() => selectTests({ paths: ['hopeless'], suites: ['unit'] })).toThrow('of the suites unit has');
  });
});

describe('the requirements of a machine', () => {
  it.each([
    { path: 'src/controllers/deployment/reconcile.spec.ts', needed: [] },
    { path: 'test/unit/image.test.ts', needed: [] },
    { path: 'test/unit/helm/chart.test.ts', needed: ['helm'] },
    { path: 'test/integration/redis-storage.test.ts', needed: ['redis'] },
    { path: 'test/integration/kubectl-words.test.ts', needed: ['kubectl', 'redis'] },
    { path: 'test/e2e/failover.test.ts', needed: ['build', 'redis'] },
    { path: 'test/nightly/console.test.ts', needed: ['build', 'chromium', 'redis'] },
    { path: 'test/nightly/console-views.test.ts', needed: ['build', 'chromium', 'redis'] },
  ])('is what $path, and what it imports, makes use of', ({ needed, path }) => {
    expect(needs(path)).toEqual(needed);
  });

  it('is no browser for the gate', () => {
    expect(needsOf(selectTests({ paths: [] }).files)).not.toContain('chromium');
  });
});

describe('the end of a run', () => {
  const file = (name: string, suite: Suite, ms: number, more: Partial<TestReport['files'][number]> = {}) => ({
    ...{ file: name, suite, ms, passed: 2, failed: 0, skipped: [] },
    ...more,
  });
  const report: TestReport = {
    suites: [
      { suite: 'unit', wallMs: 95_000 },
      { suite: 'e2e', wallMs: 20_000 },
    ],
    files: [
      file('a.spec.ts', 'unit', 6000, { failed: 1 }),
      file('b.spec.ts', 'unit', 1000, { skipped: ['needs helm'] }),
      file('c.test.ts', 'e2e', 7000),
    ],
    unhandledErrors: 0,
  };

  it('names the time of each suite, the slowest files, what is over its budget, what was skipped, and counts', () => {
    expect(summaryOf(report).lines).toEqual([
      'unit          95.0 s  5 tests in 2 files, OVER its budget of 80 s',
      'e2e           20.0 s  2 tests in 1 files',
      'the slowest files:',
      '     7.0 s  c.test.ts',
      '     6.0 s  a.spec.ts, OVER its budget of 5 s',
      '     1.0 s  b.spec.ts',
      'skipped, because something they need is not on this machine:',
      '  needs helm',
      '6 passed, 1 failed, 1 skipped',
    ]);
  });

  it('counts an error outside of any test, and a run without an end, as failed', () => {
    expect(summaryOf({ ...report, unhandledErrors: 2 }).failed).toBe(3);
    expect(summaryOf(undefined).lines.at(-1)).toBe('0 passed, 1 failed');
  });
});
