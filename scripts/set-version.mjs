// `npm run set-version -- 1.2.3`: the version of the next release in every file that has it, and the changelog's section for it. The
// commit `chore: release 1.2.3` is what this leaves; see CONTRIBUTING.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, run, say } from './lib/run.mjs';
import { ROOT } from './lib/setup.mjs';

const [version, ...more] = process.argv.slice(2);
if (more.length > 0 || !/^\d+\.\d+\.\d+$/.test(version ?? ''))
  fail('set-version needs one version, as 1.2.3');

process.chdir(ROOT);
const product = JSON.parse(readFileSync('package.json', 'utf8'));
const former = product.version;
const folders = [...product.workspaces, '.', 'create-rollkeeper'];
const names = new Set(folders.map((folder) => readJson(join(folder, 'package.json')).name));

for (const folder of folders)
  changeJson(join(folder, 'package.json'), (manifest) => setVersion(manifest, manifest.name));
changeJson('package-lock.json', (lock) => {
  lock.version = version;
  for (const [path, entry] of Object.entries(lock.packages))
    setVersion(entry, path === '' ? product.name : (entry.name ?? path.replace(/^src\//, '@rollkeeper/')));
});
// The former version is replaced wherever it stands, such as the image's tag in the instructions and the man page's
// title, and nothing else.
for (const file of [
  'src/machinery/version.ts',
  'helm/rollkeeper/Chart.yaml',
  'docs/INSTALL.md',
  'man/rollkeeper.1',
])
  changeText(file, (text) => text.replaceAll(former, version));
const today = new Date().toISOString().slice(0, 10);
changeText('CHANGELOG.md', (text) => text.replace('## Unreleased\n', `## ${version} - ${today}\n`));
say(`${former} is now ${version}; read the diff, then commit it as "chore: release ${version}"`);
process.exitCode = await run('git', ['diff', '--stat'], { cwd: ROOT });

/** The version of a package of ours, and the versions in which it asks for others of ours. */
function setVersion(manifest, name) {
  if (names.has(name) && manifest.version !== undefined) manifest.version = version;
  for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies'])
    for (const [other, range] of Object.entries(manifest[kind] ?? {}))
      if (names.has(other)) manifest[kind][other] = range.replace(former, version);
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function changeJson(file, change) {
  const value = readJson(file);
  change(value);
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** @throws Error when there was nothing to change: the file has another form than this expects */
function changeText(file, change) {
  const text = readFileSync(file, 'utf8');
  const changed = change(text);
  if (changed === text) throw new Error(`${file} does not name ${former}`);
  writeFileSync(file, changed);
}
