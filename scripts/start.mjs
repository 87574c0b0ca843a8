// `npm start`: sets up what is missing, then brings everything up on this machine.
import { ensureBuild, ensureDependencies, ensureNode, ensureRedis, runProgram } from './lib/setup.mjs';

ensureDependencies();
const node = ensureNode();
ensureRedis();
ensureBuild(node);
process.exitCode = await runProgram(node, ['up', ...process.argv.slice(2)]);
