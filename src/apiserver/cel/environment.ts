import { Environment, Optional } from '@marcbachmann/cel-js';
import { registerAddresses } from './library/addresses.js';
import { registerAuthority } from './library/authority.js';
import { registerFormats } from './library/formats.js';
import { registerLists } from './library/lists.js';
import { registerMacros } from './library/macros.js';
import { registerQuantities } from './library/quantities.js';
import { register } from './library/register.js';
import { registerSemvers } from './library/semvers.js';
import { registerTexts } from './library/texts.js';

let base: Environment | undefined;

/** An environment of one expression, with the functions that Kubernetes gives to all of them. */
export function kubernetesEnvironment(): Environment {
  base ??= createBase();
  return base.clone();
}

function createBase(): Environment {
  const environment = new Environment({
    enableOptionalTypes: true,
    // The values of `format` may differ in their types.
    homogeneousAggregateLiterals: false,
    // How deeply expressions are nested is judged before; what the parts of one may be, by the number of all.
    limits: { maxAstNodes: 20_000, maxDepth: 1_000, maxListElements: 20_000, maxMapEntries: 20_000 },
  });
  registerMacros(environment);
  registerTexts(environment);
  registerLists(environment);
  registerQuantities(environment);
  registerSemvers(environment);
  registerAddresses(environment);
  registerFormats(environment);
  registerAuthority(environment);
  // Optionals, times and durations may be held against null, and are never it.
  for (const type of ['optional', 'google.protobuf.Timestamp', 'google.protobuf.Duration'])
    environment.registerOperator(`${type} == null`, () => false);
  register(environment, {
    // A value that is one already stays as it is, as in the standard.
    'timestamp(google.protobuf.Timestamp): google.protobuf.Timestamp': (time: unknown) => time,
    'duration(google.protobuf.Duration): google.protobuf.Duration': (duration: unknown) => duration,
    'OptionalNamespace.ofNonZeroValue(A): optional<A>': (_optional, value: unknown) =>
      isZero(value) ? Optional.none() : Optional.of(value),
  });
  return environment;
}

function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (value instanceof Map || value instanceof Set) return value.size === 0;
  return value === '' || value === 0 || value === 0n || value === false || value === null;
}
