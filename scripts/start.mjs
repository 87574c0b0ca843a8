// `npm start`: sets up what is missing, then brings everything up on this machine.
import { ensureBuild, ensureDependencies, ensureNode, ensureRedis, runProgram } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
ensureRedis();
await ensureBuild(node);
process.exitCode = await runProgram(node, ['up', ...process.argv.slice(2)]);
