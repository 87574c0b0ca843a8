// `npm run simulate -- --seed S`: runs three replicas through the faults of a seed, in one process on simulated time.
// test/simulation/options.ts has the options.
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { ROOT, ensureDependencies, ensureNode } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
const { bundleSources } = await import('./lib/bundle-sources.mjs');
const main = join(ROOT, 'node_modules', '.cache', 'rollkeeper', 'simulation', 'main.mjs');
await bundleSources(join('test', 'simulation', 'main.ts'), main);
process.exitCode = await run(node, [main, ...process.argv.slice(2)], { cwd: ROOT });
