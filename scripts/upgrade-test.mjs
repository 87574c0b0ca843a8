// `npm run upgrade-test`: the last release and what stands here work together on one Redis, under load, while one takes the other's
// place, and back again. `--from REF`: another version than the last release. The rest goes to test/chaos/upgrade.ts: `--seed S`,
// `--deployments N`, `--side-by-side-seconds N`, `--patience N`.
import { join } from 'node:path';
import { earlierBuild, lastRelease } from './lib/earlier-build.mjs';
import { run, say } from './lib/run.mjs';
import { ROOT, ensureBuild, ensureDependencies, ensureNode, ensureRedis } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
ensureRedis();
await ensureBuild(node);
const args = process.argv.slice(2);
const at = args.indexOf('--from');
const [, from = lastRelease()] = at < 0 ? [] : args.splice(at, 2);
const old = earlierBuild(from, node);
say(`${old.version} (${old.commit.slice(0, 12)}) and what stands here`);
const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
const main = join(ROOT, 'test', 'chaos', 'upgrade.ts');
const versions = ['--old', old.dist, '--new', join(ROOT, 'dist')];
process.exitCode = await run(node, [tsx, main, ...versions, ...args], { cwd: ROOT });
