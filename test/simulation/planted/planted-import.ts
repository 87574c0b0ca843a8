import type { PlantedBug } from './planted-bug.js';

/**
 * The module with the bug planted below it: its own instance, see {@link plantedBugs}.
 * @param path as an import from this folder
 */
export function importWith(path: string, { name }: PlantedBug): Promise<unknown> {
  const specifier = `${path}?planted=${name}`;
  // In a variable: no bundler can list what it may name.
  return import(/* @vite-ignore */ specifier);
}
