// Imported first by each door of the package: an older Node fails here, before a dependency fails on it in words of its own.
import { OLDEST_NODE, nodeProblem } from './node-version.js';

const problem = nodeProblem(process.version, OLDEST_NODE);
if (problem) throw new Error(`rollkeeper: ${problem}`);
