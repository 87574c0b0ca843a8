import type { Environment, RegisteredFunctionHandler } from '@marcbachmann/cel-js';
/** Declares functions by their signatures; none of them waits for anything. */
export function register(
  environment: Environment,
  functions: Readonly<Record<string, RegisteredFunctionHandler>>,
): void {
  for (const [signature, handler] of Object.entries(functions))
    environment.registerFunction(signature, handler, { async: false });
}

/** A name before the point, as in `sets.contains(a, b)`. */
export function registerNamespace(environment: Environment, name: string): string {
  const type = `${name}Namespace`;
  class Namespace {}
  environment.registerType(type, Namespace);
  environment.registerConstant(name, type, new Namespace());
  return type;
}
