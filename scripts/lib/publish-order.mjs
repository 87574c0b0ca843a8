// In which order the packages are published: each after those that it depends on, so that none can be installed too early.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './setup.mjs';

/**
 * The packages of a release, in order: those of the workspace, the product, and the one for `npm create`.
 * @returns name and file of each, as `npm pack` names it
 */
export function publishOrder() {
  const { workspaces } = readManifest('.');
  const manifests = [...workspaces, '.', 'create-rollkeeper'].map(readManifest);
  const names = manifests.map(({ name }) => name);
  const ordered = new Set();
  const add = (name) => {
    const { dependencies } = manifests[names.indexOf(name)];
    Object.keys(dependencies ?? {})
      .filter((each) => names.includes(each))
      .forEach(add);
    ordered.add(name);
  };
  names.forEach(add);
  return [...ordered].map((name) => ({ name, file: fileOf(manifests[names.indexOf(name)]) }));
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
}

/** `rollkeeper-client-0.1.0.tgz` of `@rollkeeper/client`. */
function fileOf({ name, version }) {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
}
