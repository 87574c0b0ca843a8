// The packages of this repository, as package.json names them. Plain Node 20, nothing from node_modules.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const DIST = join(ROOT, 'dist');
/** Their folders, from the root: `src/client`. */
export const WORKSPACES = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).workspaces;
/**
 * The folder of each package's modules after the build: `dist` for the product, and beside the sources for the
 * others.
 */
export const BUILT = new Map([
  ...WORKSPACES.map((folder) => [folder.replace('src/', ''), join(ROOT, folder, 'dist')]),
  ['rollkeeper', join(DIST, 'rollkeeper')],
]);
