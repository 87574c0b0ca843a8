import type { ControllerDefinition } from '@rollkeeper/runtime/controller';
import { findController } from '@rollkeeper/controllers/registry';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';

interface PerControllerOptions {
  /** For messages, for example `workers`. */
  readonly option: string;
  /** Whether an entry may be a bare number, which applies to all. */
  readonly forAll: boolean;
  /** The minimum and maximum of a number. */
  readonly range: readonly [least: number, most: number];
  readonly defaultOf: (controller: ControllerDefinition) => number;
}

type EntryForm = Omit<PerControllerOptions, 'defaultOf'>;

/**
 * Applies an option to the defaults of the running controllers, for example `deployment=5,replicaset=10`, or
 * `60000,namespace=300000` where a bare number applies to all. A named entry, by any of its names, takes precedence,
 * wherever it is in the list.
 * @returns by the controllers' own names
 * @throws InvalidOptionError naming the option
 */
export function numbersPerController(
  list: string | undefined,
  running: readonly ControllerDefinition[],
  { defaultOf, forAll, option, range }: PerControllerOptions,
): ReadonlyMap<string, number> {
  const entries = (list ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => parseEntry(part, { forAll, option, range }));
  const everybodys = entries.findLast(({ name }) => name === undefined)?.value;
  const numbers = new Map(running.map((each) => [each.name, everybodys ?? defaultOf(each)]));
  for (const { name, value } of entries) {
    if (name === undefined) continue;
    const named = findController(name, running);
    if (!named) throw new InvalidOptionError(option, `no controller named "${name}" runs`);
    numbers.set(named.name, value);
  }
  return numbers;
}

function parseEntry(
  part: string,
  { forAll, option, range: [least, most] }: EntryForm,
): { name: string | undefined; value: number } {
  const [, name, number] = /^(?:([\w-]+)\s*=\s*)?(\d+)$/.exec(part) ?? [];
  if (number === undefined || (name === undefined && !forAll)) {
    const forms = forAll ? 'number, or controller=number' : 'controller=number';
    throw new InvalidOptionError(option, `"${part}" is not of the form ${forms}`);
  }
  const value = Number(number);
  if (value < least || value > most)
    throw new InvalidOptionError(option, `"${part}" must be from ${least} to ${most}`);
  return { name, value };
}
