import { syncBuiltinESMExports } from 'node:module';

/**
 * Replaces functions of a Node built-in module, given as its default export, for every module of this process that
 * imports it by name or as a whole. Spec files share a process and its loaded modules, so a module cannot be mocked for
 * one of them.
 * @returns restores the originals
 */
export function replaceFunctions<M extends object>(builtin: M, replacements: Partial<M>): () => void {
  const names = Object.keys(replacements) as (keyof M)[];
  const originals = names.map((name) => [name, builtin[name]] as const);
  Object.assign(builtin, replacements);
  syncBuiltinESMExports();
  return () => {
    for (const [name, original] of originals) builtin[name] = original;
    syncBuiltinESMExports();
  };
}
