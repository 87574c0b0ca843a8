// Imported first by each entry point: an older Node fails here with a clear message, before it fails in a dependency.
import { OLDEST_NODE, nodeProblem } from './node-version.js';

const problem = nodeProblem(process.version, OLDEST_NODE);
if (problem) throw new Error(`rollkeeper: ${problem}`);
