import { errorMessage } from '@rollkeeper/machinery/errors';
import type { ConformanceFormat } from './conformance-format.js';
import type { ConformanceTotals, FoundDifference } from './run-conformance.js';
import { runConformance } from './run-conformance.js';

/** Further differences of one case are only counted. */
const SHOWN_DIFFERENCES = 6;

interface ConformanceOutput {
  out(line: string): void;
  err(line: string): void;
}

/**
 * `npm run conformance -- FILE...`: prints the differences of each case that fails, in what the cases agree where that
 * is counted, and finally how many passed and failed. Resolves with the exit code: 0 if all passed.
 */
export async function runConformanceCli(
  files: readonly string[],
  formats: readonly ConformanceFormat[],
  output: ConformanceOutput,
): Promise<number> {
  if (files.length === 0) {
    output.err('usage: npm run conformance -- FILE...   (recorded cases as JSON lines, gzipped or not)');
    return 1;
  }
  let totals: ConformanceTotals = { passed: 0, failed: 0, deliberate: 0, sections: [] };
  try {
    for (const file of files) {
      totals = add(totals, await runConformance(file, formats, (found) => report(found, output)));
    }
  } catch (error) {
    output.err(`conformance: ${errorMessage(error)}`);
    return 1;
  }
  const { agreed = [], deliberate, failed, passed, sections } = totals;
  for (const one of sections) output.out(`${one.section}: ${one.passed} of ${one.cases}`);
  for (const line of agreed) output.out(line);
  const more = deliberate === 0 ? '' : `, ${deliberate} differ on purpose (docs/CONTROLLERS.md)`;
  output.out(`${passed} passed, ${failed} failed${more}`);
  return failed === 0 ? 0 : 1;
}

function report({ differences, id, rules }: FoundDifference, output: ConformanceOutput): void {
  output.out(rules.length === 0 ? `FAIL ${id}` : `DIFFERS ${id}, by ${rules.join(', ')}`);
  for (const difference of differences.slice(0, SHOWN_DIFFERENCES)) output.out(`  ${difference}`);
  const more = differences.length - SHOWN_DIFFERENCES;
  if (more > 0) output.out(`  and ${more} more`);
}

function add(a: ConformanceTotals, b: ConformanceTotals): ConformanceTotals {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    deliberate: a.deliberate + b.deliberate,
    sections: [...a.sections, ...b.sections],
    agreed: [...(a.agreed ?? []), ...(b.agreed ?? [])],
  };
}
