// Prints the summary after the tests: how long each suite took, the slowest files, which were over their budget, and
// how many passed.
import { SUITES } from './test-suites.mjs';

const SLOWEST = 10;

/**
 * The lines at the end of a run; the last one counts.
 * @param report what test-reporter.mjs has left, or undefined where the tests came to no end
 * @param options `namesSkipped`: whether to list what was skipped; who runs tests by their names knows that the others are
 */
export function summaryOf(report, { namesSkipped = true } = {}) {
  if (!report) return { lines: ['the tests came to no end', countLine(0, 1, 0)], passed: 0, failed: 1 };
  const sum = (read) => report.files.reduce((total, file) => total + read(file), 0);
  const passed = sum((file) => file.passed);
  const failed = sum((file) => file.failed) + report.unhandledErrors;
  const skipped = report.files.flatMap((file) => file.skipped);
  return {
    passed,
    failed,
    lines: [
      ...suiteLines(report),
      ...slowestLines(report),
      ...(namesSkipped ? skippedLines(skipped) : []),
      countLine(passed, failed, skipped.length),
    ],
  };
}

function suiteLines({ files, suites }) {
  return suites.map(({ suite, wallMs }) => {
    const ofSuite = files.filter((file) => file.suite === suite);
    const count = ofSuite.reduce((total, file) => total + file.passed + file.failed, 0);
    const { budgetSeconds } = SUITES[suite];
    const over = wallMs > budgetSeconds * 1000 ? `, OVER its budget of ${budgetSeconds} s` : '';
    return `${suite.padEnd(12)}${seconds(wallMs)}  ${count} tests in ${ofSuite.length} files${over}`;
  });
}

function slowestLines({ files }) {
  const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  if (files.length < 2) return [];
  return [
    'the slowest files:',
    ...slowest.map(({ file, ms, suite }) => {
      const { fileBudgetSeconds } = SUITES[suite];
      const over = ms > fileBudgetSeconds * 1000 ? `, OVER its budget of ${fileBudgetSeconds} s` : '';
      return `  ${seconds(ms)}  ${file}${over}`;
    }),
  ];
}

function skippedLines(skipped) {
  if (skipped.length === 0) return [];
  return [
    'skipped, because something they need is not on this machine:',
    ...skipped.map((name) => `  ${name}`),
  ];
}

function countLine(passed, failed, skipped) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`.padStart(8);
}
