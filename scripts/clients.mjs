// `npm run clients` runs clients that were not written for this server, on a cluster with nodes and controllers:
// @kubernetes/client-node, kubernetes-fluent-client, Python's kubernetes where there is one, and Helm. `--only TEXT`
// chooses those whose name contains it, and `--memory` does without Redis.
import { join } from 'node:path';
import { run, runQuietly, say } from './lib/run.mjs';
import { ROOT, ensureDependencies, ensureHelm, ensureNode, ensureRedis } from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
ensureRedis();
const helm = ensureHelm();
say('installing kubernetes-fluent-client');
const fluent = join(ROOT, 'test', 'clients', 'fluent');
runQuietly('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], { cwd: fluent });
const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
const main = join(ROOT, 'test', 'clients', 'main.ts');
const env = {
  ...process.env,
  PATH: `${join(node, '..')}:${process.env.PATH}`,
  ...(helm && { ROLLKEEPER_HELM: helm }),
};
process.exitCode = await run(node, [tsx, main, ...process.argv.slice(2)], { cwd: ROOT, env });
