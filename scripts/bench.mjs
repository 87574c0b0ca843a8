// `npm run bench`: rolls Deployments out on a whole set of processes of its own and prints what it took.
// `npm run bench -- --scale-out`: how much faster three replicas are than one.
// `npm run bench -- --scheduler`: how many pods a second the scheduler decides, in memory.
// `npm run bench -- --scheduling`: how many pods a second the scheduler binds through the embedded API server.
// `npm run bench -- --slo`: how soon changes are answered, and what rollouts take beside their pods' own time.
// `npm run bench -- --replica-cost`: what three replicas cost beside one, in CPU, writes and commands.
// `npm run bench -- --cost`: what a sync and a write cost: commands, requests, bytes, timers.
// `npm run bench -- --delays`: what each wait before a sync is worth, in writes, syncs and time.
// `npm run bench -- --hopeless`: what Deployments that always fail cost the others, and themselves.
// `npm run bench -- --kinds 260`: what it costs to follow the metadata of very many kinds.
// `npm run bench -- --fair-share`: what 5000 changes of one namespace cost one of another.
// `npm run bench -- --shards`: what caches cost that share the objects of a server by shards of their namespaces.
// `npm run bench -- --slots 1,3,5,9`: what replicas keep and need that share namespaces by slots, and how soon a killed one is replaced.
// `npm run bench -- --large`: what replicas hold of a simulated cluster of 150 000 pods, and up to which rate of changes.
// `npm run bench -- --console`: how soon a browser shows thousands of Deployments and each change, and whether its memory stays flat.
// `npm run bench -- --memory`: what memory a replica, the API server and the simulated nodes have.
// `npm run bench -- --tracing`: how much CPU tracing costs.
// `npm run bench:api`: how fast the embedded API server is by itself, beside bare HTTPS and a plain Redis.
// `npm run bench:api -- --beside v0.2.0`: what its requests cost beside another version of the history, in turns.
// `npm run bench -- --definitions`: what large CustomResourceDefinitions cost, and those who read OpenAPI documents after them.
// `npm run bench -- --test-cluster`: how soon a test cluster is there, and what twenty of them take.
// `npm run bench -- --soak`: whether heap or Redis grow with the objects that ever existed. `npm run soak` is the same.
// `npm run bench -- --operator`: what memory and CPU the smallest operator of the kit takes.
// `npm run bench -- --json`: what it costs to keep integers that no double holds.
import { join } from 'node:path';
import { earlierBuild } from './lib/earlier-build.mjs';
import { fail, run } from './lib/run.mjs';
import { ROOT, ensureBuild, ensureDependencies, ensureNode, ensureRedis } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
ensureRedis();
await ensureBuild(node);
const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
const args = process.argv.slice(2);
const scripts = {
  '--api': 'api.ts',
  '--console': 'console.ts',
  '--cost': 'cost.ts',
  '--definitions': 'definitions.ts',
  '--fair-share': 'fair-share.ts',
  '--delays': 'delays.ts',
  '--hopeless': 'hopeless.ts',
  '--kinds': 'kinds.ts',
  '--json': 'json.ts',
  '--large': 'large-cluster.ts',
  '--mapped': 'mapped.ts',
  '--memory': 'memory.ts',
  '--operator': 'operator.ts',
  '--replica-cost': 'replica-cost.ts',
  '--scale-out': 'scale-out.ts',
  '--scheduler': 'scheduler.ts',
  '--scheduling': 'scheduling.ts',
  '--shards': 'shards.ts',
  '--slo': 'slo.ts',
  '--slots': 'slots.ts',
  '--soak': 'soak.ts',
  '--test-cluster': 'test-cluster.ts',
  '--tracing': 'tracing.ts',
};
// `--slots` is also an option of `--large`.
const chosen = args.includes('--large') ? '--large' : args.find((arg) => arg in scripts);
const besideAt = chosen === '--api' ? args.indexOf('--beside') : -1;
const script = besideAt >= 0 ? 'api-beside.ts' : chosen ? scripts[chosen] : 'main.ts';
// These are options of their scripts as well as names.
const options = chosen === '--kinds' || chosen === '--slots' ? args : args.filter((arg) => arg !== chosen);
if (besideAt >= 0) options.push('--main', mainOf(args[besideAt + 1]));
process.exitCode = await run(node, [tsx, join(ROOT, 'bench', script), ...options], { cwd: ROOT });

/** The program of another version. Ends the process where there is none. */
function mainOf(ref) {
  if (!ref || ref.startsWith('-')) fail('--beside takes a commit or a tag');
  try {
    return join(earlierBuild(ref, node).dist, 'main.js');
  } catch (error) {
    return fail(error.message);
  }
}
