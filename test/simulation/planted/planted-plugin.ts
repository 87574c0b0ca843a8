import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Plugin } from 'vitest/config';
import { packagesOfWorkspace } from '../../../scripts/lib/affected-tests.mjs';
import type { PlantedBug } from './planted-bug.js';
import { withPatch } from './planted-bug.js';

const QUERY = /[?&]planted=([\w-]+)$/;

/**
 * Lets a test import a module with a bug planted somewhere below it: `./lease.model.js?planted=NAME`. Every module that
 * the import reaches, and that can itself reach the patched file, is a new instance under the same query, so that no
 * other test meets the bug. Packages below the patched one are shared.
 */
export function plantedBugs(bugs: readonly PlantedBug[], root: string): Plugin {
  const named = new Map(bugs.map((bug) => [bug.name, bug]));
  const dependents = dependentsByPackage();
  const bugOf = (id: string | undefined): PlantedBug | undefined => {
    const name = id === undefined ? undefined : QUERY.exec(id)?.[1];
    if (name === undefined) return undefined;
    const bug = named.get(name);
    if (!bug) throw new Error(`no planted bug has the name "${name}"`);
    return bug;
  };
  return {
    name: 'planted-bugs',
    enforce: 'pre',
    async resolveId(source, importer) {
      const bug = bugOf(source) ?? bugOf(importer);
      if (!bug) return undefined;
      const found = await this.resolve(bare(source), importer && bare(importer), { skipSelf: true });
      const path = found && !found.external ? pathOf(found.id, root) : undefined;
      if (!found || path === undefined || !mayReach(path, bug, dependents)) return found;
      return { ...found, id: `${bare(found.id)}?planted=${bug.name}` };
    },
    transform(code, id) {
      const bug = bugOf(id);
      return bug && pathOf(id, root) === bug.file ? { code: withPatch(code, bug), map: null } : undefined;
    },
    configureVitest: ({ experimental_defineCacheKeyGenerator: define }) =>
      define(({ id }) => {
        const bug = bugOf(id);
        return bug && JSON.stringify([bug.file, bug.from, bug.to]);
      }),
  };
}

/** The file of a bug, as the product has it. */
export function textOf({ file }: PlantedBug, root: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function bare(id: string): string {
  return id.replace(QUERY, '');
}

/** From the root; undefined for what is not part of the repository's own code. */
function pathOf(id: string, root: string): string | undefined {
  const path = relative(root, bare(id)).split(sep).join('/');
  return /^(src|test)\//.test(path) && !path.includes('node_modules/') ? path : undefined;
}

function packageOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1];
}

/** Whether the module may import the patched file, directly or not. Tests may import everything. */
function mayReach(
  path: string,
  { file }: PlantedBug,
  dependents: (name: string) => ReadonlySet<string>,
): boolean {
  const [home, patched] = [packageOf(path), packageOf(file)];
  return home === undefined || patched === undefined || dependents(patched).has(home);
}

/** Each package with those that depend on it, itself included. */
function dependentsByPackage(): (name: string) => ReadonlySet<string> {
  const packages = packagesOfWorkspace();
  const known = new Map<string, ReadonlySet<string>>();
  return (name) => {
    const before = known.get(name);
    if (before) return before;
    const all = new Set([name]);
    for (const each of all)
      for (const [other, dependencies] of packages) if (dependencies.includes(each)) all.add(other);
    known.set(name, all);
    return all;
  };
}
