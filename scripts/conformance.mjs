// `npm run conformance -- FILE...`: runs recorded cases against the real reconcilers.
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { ROOT, ensureDependencies, ensureNode } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
const main = join(ROOT, 'test', 'conformance', 'main.ts');
process.exitCode = await run(node, [tsx, '--conditions=rollkeeper:source', main, ...process.argv.slice(2)]);
