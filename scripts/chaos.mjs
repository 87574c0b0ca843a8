// `npm run chaos -- --seed S --minutes M`: a whole set of processes, faults from a seeded schedule, and checks.
// `npm run chaos -- --measure failover|follower-crash|crash-points`: one kind of fault many times, with figures.
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { ROOT, ensureBuild, ensureDependencies, ensureNode, ensureRedis } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
ensureRedis();
await ensureBuild(node);
const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
const args = process.argv.slice(2);
const file = args.some((arg) => arg.startsWith('--measure')) ? 'measure.ts' : 'main.ts';
process.exitCode = await run(node, [tsx, join(ROOT, 'test', 'chaos', file), ...args], { cwd: ROOT });
