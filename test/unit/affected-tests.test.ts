import { describe, expect, it } from 'vitest';
import { affectedTests, packagesOfWorkspace } from '../../scripts/lib/affected-tests.mjs';
import { testFiles } from '../../scripts/lib/test-suites.mjs';

const { e2e, integration, unit } = testFiles() as Record<'e2e' | 'integration' | 'unit', string[]>;
const files = [...unit, ...integration, ...e2e];
const packages = packagesOfWorkspace();
const reachedBy = (...changed: string[]): readonly string[] => affectedTests({ changed, files, packages });
const inPackage = (name: string) => (file: string) => file.startsWith(`src/${name}/`);

describe('the tests that a change can reach', () => {
  it('are those of its package and of the packages that depend on it, and what runs the whole program', () => {
    const reached = reachedBy('src/simulator/pod-runner.ts');
    for (const name of ['simulator', 'testing', 'rollkeeper'])
      expect(reached.filter(inPackage(name))).toEqual(files.filter(inPackage(name)));
    for (const name of ['machinery', 'client', 'runtime', 'redis', 'tls'])
      expect(reached.filter(inPackage(name)).filter((file) => !/testing/.test(file)).length).toBeLessThan(
        Math.max(1, unit.filter(inPackage(name)).length),
      );
    expect(reached).toEqual(
      expect.arrayContaining(['test/e2e/up-running.test.ts', 'test/integration/simulated-cluster.test.ts']),
    );
  });

  it('are all that stand on a package, for one at the bottom', () => {
    const reached = reachedBy('src/machinery/clock/clock.ts');
    expect(unit.filter((file) => file.startsWith('src/') && !reached.includes(file))).toEqual([]);
  });

  it('are one file, for a change of that test', () => {
    const spec = 'src/client/informer/store.spec.ts';
    expect(reachedBy(spec)).toEqual([spec]);
  });

  it('are those that read a file of test code, or a document', () => {
    expect(reachedBy('test/support/moved-time.ts')).toContain('test/integration/work-queue.test.ts');
    expect(reachedBy('test/support/moved-time.ts')).not.toContain('test/e2e/up-running.test.ts');
    expect(reachedBy('docs/KIT.md')).toContain('test/e2e/package.test.ts');
    expect(reachedBy('docs/KIT.md')).not.toContain('test/e2e/up-running.test.ts');
  });

  it('are all, for a change of what all stand on', () => {
    expect(reachedBy('package-lock.json')).toEqual(files);
    expect(reachedBy('scripts/lib/setup.mjs')).toEqual(files);
  });

  it('are none, where nothing has changed', () => {
    expect(reachedBy()).toEqual([]);
  });
});
