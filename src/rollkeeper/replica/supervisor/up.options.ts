import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { readFeatureGates } from '@rollkeeper/machinery/options/feature-gates';
import { compileTable } from '@rollkeeper/machinery/options/compile-table';
import type { CompiledTable, GivenOptions } from '@rollkeeper/machinery/options/option-table';
import { UP_OPTIONS_TABLE } from './up-options.table.js';

/** Options of `rollkeeper up`, as values or as typed. */
export type UpOptions = GivenOptions<typeof UP_OPTIONS_TABLE> & {
  /** Further arguments of every controller process. @default none */
  readonly 'controller-args'?: readonly string[];
};

export type CompiledUpOptions = CompiledTable<typeof UP_OPTIONS_TABLE> & {
  readonly 'controller-args': readonly string[];
};

/** @throws InvalidOptionError */
export function compileUpOptions({
  'controller-args': controllerArgs = [],
  ...given
}: UpOptions): CompiledUpOptions {
  const compiled = compileTable(UP_OPTIONS_TABLE, given);
  const gates = readFeatureGates(compiled['feature-gates']);
  if ('problem' in gates) throw new InvalidOptionError('feature-gates', gates.problem);
  return Object.freeze({ ...compiled, 'controller-args': controllerArgs });
}
