import type { PlantedBug } from './planted-bug.js';

/** Names the modules that have a switch for each bug of a set; see {@link importWithSwitches}. */
export const SWITCHES = 'world-switches';

/**
 * The module with a switch for each bug of the world below it: one instance for all of them, which is compiled once.
 * @param path as an import from this folder
 */
export function importWithSwitches(path: string): Promise<unknown> {
  return importWith(path, { name: SWITCHES });
}

/**
 * The module with the bug planted below it: its own instance, see {@link plantedBugs}.
 * @param path as an import from this folder
 */
export function importWith(path: string, { name }: Pick<PlantedBug, 'name'>): Promise<unknown> {
  const specifier = `${path}?planted=${name}`;
  // In a variable: no bundler can list what it may name.
  return import(/* @vite-ignore */ specifier);
}
