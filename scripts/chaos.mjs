// `npm run chaos -- --seed S --minutes M`: a whole set of processes, faults from a seeded schedule, and checks.
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { ROOT, ensureBuild, ensureDependencies, ensureNode, ensureRedis } from './lib/setup.mjs';

ensureDependencies();
const node = ensureNode();
ensureRedis();
ensureBuild(node);
const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
process.exitCode = await run(node, [tsx, join(ROOT, 'test', 'chaos', 'main.ts'), ...process.argv.slice(2)], {
  cwd: ROOT,
});
