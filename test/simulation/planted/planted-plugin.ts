import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Plugin } from 'vitest/config';
import { packagesOfWorkspace } from '../../../scripts/lib/affected-tests.mjs';
import type { PlantedBug } from './planted-bug.js';
import { withPatch, withSwitches } from './planted-bug.js';

const QUERY = /[?&]planted=([\w-]+)$/;

/** Bugs that one instance of the product has, each behind a switch. */
export interface SwitchedBugs {
  /** As in the imports. */
  readonly name: string;
  readonly bugs: readonly PlantedBug[];
}

interface Planted extends SwitchedBugs {
  readonly patch: (text: string, here: readonly PlantedBug[]) => string;
}

/**
 * Lets a test import a module with a bug planted somewhere below it: `./lease.model.js?planted=NAME`. Every module that
 * the import reaches, and that can itself reach the patched file, is a new instance under the same query, so that no
 * other test meets the bug. Packages below the patched one are shared.
 */
export function plantedBugs(bugs: readonly PlantedBug[], root: string, switched: SwitchedBugs): Plugin {
  const named = new Map<string, Planted>(
    bugs.map((bug) => [bug.name, { name: bug.name, bugs: [bug], patch: (text) => withPatch(text, bug) }]),
  );
  named.set(switched.name, { ...switched, patch: withSwitches });
  const dependents = dependentsByPackage();
  const plantedOf = (id: string | undefined): Planted | undefined => {
    const name = id === undefined ? undefined : QUERY.exec(id)?.[1];
    if (name === undefined) return undefined;
    const planted = named.get(name);
    if (!planted) throw new Error(`no planted bug has the name "${name}"`);
    return planted;
  };
  return {
    name: 'planted-bugs',
    enforce: 'pre',
    async resolveId(source, importer) {
      const planted = plantedOf(source) ?? plantedOf(importer);
      if (!planted) return undefined;
      const found = await this.resolve(bare(source), importer && bare(importer), { skipSelf: true });
      const path = found && !found.external ? pathOf(found.id, root) : undefined;
      const isReached = planted.bugs.some((bug) => path !== undefined && mayReach(path, bug, dependents));
      return found && isReached ? { ...found, id: `${bare(found.id)}?planted=${planted.name}` } : found;
    },
    transform(code, id) {
      const planted = plantedOf(id);
      const here = planted?.bugs.filter(({ file }) => pathOf(id, root) === file) ?? [];
      return planted && here.length > 0 ? { code: planted.patch(code, here), map: null } : undefined;
    },
    configureVitest: ({ experimental_defineCacheKeyGenerator: define }) =>
      define(({ id }) => {
        const planted = plantedOf(id);
        return planted && JSON.stringify(planted.bugs.map(({ file, from, to }) => [file, from, to]));
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
