export type { ProblemCount } from './decide-problem-changes.js';
export { lookForProblems, readReportedProblems } from './look-for-problems.js';
export { PROBLEM_COMPONENT, reasonOf } from './problem-events.js';
export { ProblemWatch } from './problem-watch.js';
export type { LookResult } from './problem-watch.js';
