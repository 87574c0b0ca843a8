// `npm run bench`: rolls Deployments out on a whole set of processes of its own and prints what it took.
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { ROOT, ensureBuild, ensureDependencies, ensureNode, ensureRedis } from './lib/setup.mjs';

ensureDependencies();
const node = ensureNode();
ensureRedis();
ensureBuild(node);
const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
process.exitCode = await run(node, [tsx, join(ROOT, 'bench', 'main.ts'), ...process.argv.slice(2)], {
  cwd: ROOT,
});
