// `npm run fuzz -- --seed S --requests N`: an API server of its own, attacked with what people have thought of, then with
// what chance makes. `--only TEXT`: of the first, those whose name contains it; `--easier N`: so many times smaller;
// `--minutes N`: no more than that of the second; `--patient`: nothing is judged by the clock.
// `npm run fuzz -- --bounded --seed S --requests N`: users with rights in one namespace each, who reach for others.
// `npm run fuzz -- --admin --seed S --requests N`: the admin port of a replica instead.
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { ROOT, ensureBuild, ensureDependencies, ensureNode, ensureRedis } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
ensureRedis();
await ensureBuild(node);
const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
const args = process.argv.slice(2);
const folders = ['admin', 'bounded'].filter((name) => args.includes(`--${name}`));
const main = join(ROOT, 'test', 'fuzz', ...folders, 'main.ts');
process.exitCode = await run(node, [tsx, main, ...args], { cwd: ROOT });
