// `npm start`: sets up what is missing, then brings everything up on this machine.
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { ROOT, ensureBuild, ensureDependencies, ensureNode, ensureRedis } from './lib/setup.mjs';

ensureDependencies();
const node = ensureNode();
ensureRedis();
ensureBuild(node);
process.exitCode = await run(node, [join(ROOT, 'dist', 'main.js'), 'up', ...process.argv.slice(2)]);
