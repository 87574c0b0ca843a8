// A reporter for vitest: what `npm test` says at the end is made of what this leaves in the file that ROLLKEEPER_TEST_REPORT names.
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

export default class TestReporter {
  #startedMs = new Map();
  #endedMs = new Map();

  onTestModuleQueued({ project }) {
    if (!this.#startedMs.has(project.name)) this.#startedMs.set(project.name, performance.now());
  }

  onTestModuleEnd({ project }) {
    this.#endedMs.set(project.name, performance.now());
  }

  onTestRunEnd(modules, unhandledErrors) {
    const report = {
      suites: [...this.#startedMs].map(([suite, startedMs]) => ({
        suite,
        wallMs: (this.#endedMs.get(suite) ?? performance.now()) - startedMs,
      })),
      files: modules.map(figuresOf),
      unhandledErrors: unhandledErrors.length,
    };
    const file = process.env.ROLLKEEPER_TEST_REPORT;
    if (file) writeFileSync(file, JSON.stringify(report));
  }
}

function figuresOf(module) {
  const tests = [...module.children.allTests()];
  const inState = (...states) => tests.filter((test) => states.includes(test.result().state));
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } =
    module.diagnostic();
  const failed = inState('failed').length;
  // A file fails without a failed test where it cannot be loaded, or a hook of it fails; its tests do not run then.
  const isBroken = module.state() === 'failed' && failed === 0;
  return {
    file: module.relativeModuleId,
    suite: module.project.name,
    ms: collectDuration + duration + environmentSetupDuration + prepareDuration + setupDuration,
    passed: inState('passed').length,
    failed: isBroken ? 1 : failed,
    skipped: isBroken ? [] : inState('skipped', 'pending').map(({ fullName }) => fullName),
  };
}
