import { UnsupportedError } from '@rollkeeper/machinery/errors';

/**
 * Bun answers an import of `undici` with a module of its own that has only a part of it.
 * @throws UnsupportedError
 */
export function requireUndici(Agent: { readonly prototype: object }): void {
  if ('compose' in Agent.prototype) return;
  throw new UnsupportedError(
    'this runtime puts a module of its own in the place of the package undici, as Bun does, and commands and ports of pods need the ' +
      'package: run the operator on Node or Deno, or bundle it first (docs/KIT.md#runtimes)',
  );
}
