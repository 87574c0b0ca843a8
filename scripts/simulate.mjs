// `npm run simulate -- --seed S`: runs three replicas through the faults of a seed, in one process on simulated time.
// test/simulation/options.ts has the options.
import { join } from 'node:path';
import { fail, run, say } from './lib/run.mjs';
import { ROOT, ensureDependencies, ensureNode } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
const { bundleSources } = await import('./lib/bundle-sources.mjs');
const main = join(ROOT, 'node_modules', '.cache', 'rollkeeper', 'simulation', 'main.mjs');
await bundleSources(join('test', 'simulation', 'main.ts'), main);
const args = process.argv.slice(2);
const other = await otherVersion();
try {
  process.exitCode = await run(node, [main, ...args], { cwd: ROOT });
} finally {
  await other?.remove();
}

/** Loads the revision of `--beside REF`, and puts the path of its module in the place of its name. */
async function otherVersion() {
  const at = args.findIndex((arg) => arg === '--beside' || arg.startsWith('--beside='));
  const ref = args[at]?.split('=')[1] ?? args[at + 1];
  if (at < 0 || ref === undefined) return undefined;
  const { loadableVersion } = await import('./lib/other-version.mjs');
  let loaded;
  try {
    loaded = await loadableVersion(ref);
  } catch (error) {
    fail(error.message);
  }
  const { commit, hasDoor, module, remove } = loaded;
  say(
    `beside ${commit.slice(0, 12)}${hasDoor ? '' : ', which has no door of its own and gets that of this version'}`,
  );
  args.splice(at, args[at].includes('=') ? 1 : 2, `--beside=${module}`);
  return { remove };
}
