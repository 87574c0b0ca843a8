// `npm run conformance -- FILE...`: runs recorded cases against the real reconcilers.
import { join } from 'node:path';
import { run } from './lib/run.mjs';
import { ROOT, ensureBuild, ensureDependencies, ensureNode } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
await ensureBuild(node);
process.exitCode = await run(node, [
  join(ROOT, 'src', 'testing', 'dist', 'conformance', 'main.js'),
  ...process.argv.slice(2),
]);
