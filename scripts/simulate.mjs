// `npm run simulate -- --seed S`: runs three replicas through the faults of a seed, in one process on simulated time.
// `--count N`: so many seeds from there. `--nightly`: seeds until it is stopped, from where the last such run was.
// `--seconds N`: how long there are faults, simulated. `--steps N`: ends after so many steps.
// `--redis`: with the real ioredis, BullMQ and Lua scripts, on a simulated Redis.
// `--trace`: prints what happened as a Mermaid sequence diagram; with `--whole`, all of it.
// `--shrink`: prints a test of a seed that fails, with few faults and few users.
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { ROOT, ensureDependencies, ensureNode } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
const main = join(ROOT, 'test', 'simulation', 'main.ts');
const sources = '--conditions=rollkeeper:source';
process.exitCode = await run(node, [tsx, sources, main, ...process.argv.slice(2)], { cwd: ROOT });
