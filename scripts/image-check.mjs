// `npm run image-check`: carries out the Dockerfile in clean folders, without a container engine, and starts what comes of it
// as docker-compose.yml does. `--twice`: makes it again, and compares every file. `--keep`: the folders stay.
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { ROOT, ensureDependencies, ensureNode, ensureRedis } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
ensureRedis();
const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
const args = [tsx, join(ROOT, 'test', 'image', 'main.ts'), ...process.argv.slice(2)];
process.exitCode = await run(node, args, { cwd: ROOT });
