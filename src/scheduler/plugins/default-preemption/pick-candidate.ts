import { startTimeOf } from './importance.js';
import type { Candidate } from './select-victims.js';

/** Makes sums of priorities grow with the number of victims, though priorities may be negative. */
const OFFSET = 2 ** 31;

/** The larger its value, the better the candidate. Each one only counts among those that the ones before leave equal. */
const CRITERIA: readonly ((candidate: Candidate) => number)[] = [
  ({ violations }) => -violations,
  ({ victims }) => -(victims[0]?.priority ?? -Infinity),
  ({ victims }) => -victims.reduce((sum, { priority }) => sum + priority + OFFSET, 0),
  ({ victims }) => -victims.length,
  earliestStart,
];

/** The candidate that does the least harm; the first of equals. */
export function pickCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  let left = candidates;
  for (const valueOf of CRITERIA) {
    if (left.length <= 1) break;
    const values = left.map(valueOf);
    const best = Math.max(...values);
    left = left.filter((_candidate, index) => values[index] === best);
  }
  return left[0];
}

/** When the longest-running of the most important victims was started. */
function earliestStart({ victims }: Candidate): number {
  const highest = victims[0]?.priority;
  return Math.min(...victims.filter(({ priority }) => priority === highest).map(startTimeOf));
}
