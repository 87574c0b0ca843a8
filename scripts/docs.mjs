// `npm run docs`: the documentation as a site in docs/site/dist, with a search of its own. `--preview` serves what was built.
// `--without-reference` leaves the kit's exports out, which take most of the time.
import { cpSync, existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makePages, PAGES } from '../docs/site/make-pages.mjs';
import { fail, run } from './lib/run.mjs';
import { ROOT, ensureDependencies, ensureNode } from './lib/setup.mjs';

const SITE = join(ROOT, 'docs', 'site');
const args = process.argv.slice(2);

await ensureDependencies();
const node = ensureNode();
const env = { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` };
/** Ends the program where the command fails. */
async function must(command, commandArgs, options = {}) {
  const code = await run(command, commandArgs, { cwd: SITE, env, ...options });
  if (code !== 0) fail(`${commandArgs.join(' ')} failed`);
}

if (!existsSync(join(SITE, 'node_modules', 'vitepress')))
  await must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
const vitepress = join(SITE, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
if (args.includes('--preview')) await must(node, [vitepress, 'preview', '.', '--port', '4173']);
else {
  rmSync(join(SITE, 'dist'), { recursive: true, force: true });
  const adrs = makePages();
  if (!args.includes('--without-reference')) {
    const typedoc = join(ROOT, 'node_modules', 'typedoc', 'bin', 'typedoc');
    await must(node, [typedoc, '--logLevel', 'Warn'], { cwd: ROOT });
    cpSync(join(ROOT, 'docs', 'api'), join(PAGES, 'public', 'api'), { recursive: true });
  }
  await must(node, [vitepress, 'build', '.'], { env: { ...env, DOCS_PAGES: JSON.stringify({ adrs }) } });
}
