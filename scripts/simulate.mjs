// `npm run simulate -- --seed S`: runs three replicas through the faults of a seed, in one process on simulated time.
// `--count N`: so many seeds from there. `--nightly`: seeds until it is stopped, from where the last such run was.
// `--seconds N`: how long there are faults, simulated. `--steps N`: ends after so many steps.
// `--redis`: with the real ioredis, BullMQ and Lua scripts, on a simulated Redis.
// `--dense`: a small world where most messages are late, doubled or lost.
// `--faults N`: dense seeds on as many processes as there are cores (`--workers N`), each seed twice (`--once`), until they have
// made so many faults.
// `--trace`: prints what happened as a Mermaid sequence diagram; with `--whole`, all of it.
// `--shrink`: writes a test of a seed that fails, with few faults and few users, to test/simulation/seed-S.test.ts.
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { ROOT, ensureDependencies, ensureNode } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
const { bundleSources } = await import('./lib/bundle-sources.mjs');
const main = join(ROOT, 'node_modules', '.cache', 'rollkeeper', 'simulation', 'main.mjs');
await bundleSources(join('test', 'simulation', 'main.ts'), main);
process.exitCode = await run(node, [main, ...process.argv.slice(2)], { cwd: ROOT });
