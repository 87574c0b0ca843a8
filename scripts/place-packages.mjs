// A step of the build: the compiler writes all packages below `dist`, in one go. What it wrote of a workspace goes where the
// workspace's package.json has it, its own `dist`; the product's modules stay.
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DIST, ROOT, WORKSPACES } from './lib/workspaces.mjs';

for (const workspace of WORKSPACES) {
  const written = join(DIST, basename(workspace));
  // If it is not there, this is the second run after one build.
  if (!existsSync(written)) continue;
  const own = join(ROOT, workspace, 'dist');
  rmSync(own, { recursive: true, force: true });
  aimMapsAtSources(written, basename(workspace));
  renameSync(written, own);
}
if (!existsSync(join(DIST, 'rollkeeper'))) throw new Error('dist has no modules: run the compiler first');
// For tools that reach into single modules.
writeFileSync(join(DIST, 'main-modules.js'), "import './rollkeeper/main.js';\n");

/** The compiler's maps lead from `dist/NAME` to `src/NAME`; from `src/NAME/dist` the way is shorter. */
function aimMapsAtSources(folder, name) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.js.map')) continue;
    const file = join(entry.parentPath, entry.name);
    const map = readFileSync(file, 'utf8');
    writeFileSync(file, map.replaceAll(new RegExp(`"\\.\\./((?:\\.\\./)+)src/${name}/`, 'g'), '"$1'));
  }
}
