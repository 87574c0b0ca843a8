export { findProblemsBeside } from './problems-beside.js';
export type { BesideSources } from './problems-beside.js';
