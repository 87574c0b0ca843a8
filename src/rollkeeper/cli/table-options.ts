import type { Command } from 'commander';
import type { GivenOptions, OptionTable, TableOption } from '@rollkeeper/machinery/options/option-table';
import { describeDefault } from '@rollkeeper/machinery/options/option-table';
import { choices } from './output.js';

/**
 * Adds the flags of a table to a command. Flags that are not given stay undefined, so that the table's default applies.
 */
export function addOptions(command: Command, table: OptionTable): Command {
  for (const [name, option] of Object.entries(table)) {
    command.option(flagsOf(name, option), helpOf(option));
    if (option.kind === 'choice') choices(command.options.at(-1), option.choices);
  }
  return command;
}

/** Maps flags in commander's form, `keyPrefix`, to the names in the table, `key-prefix`. */
export function byTableName<Table extends OptionTable>(
  flags: Readonly<Record<string, unknown>>,
): GivenOptions<Table> {
  const entries = Object.entries(flags).map(([name, value]) => [hyphenated(name), value]);
  return Object.fromEntries(entries) as GivenOptions<Table>;
}

function flagsOf(name: string, option: TableOption): string {
  if (option.kind !== 'switch') return `--${name} <${option.value ?? 'value'}>`;
  return option.takesValue ? `--${name} [${option.value ?? 'bool'}]` : `--${name}`;
}

function helpOf(option: TableOption): string {
  const { env, help } = option;
  const shown = describeDefault(option);
  return [
    help,
    ...(env === undefined ? [] : [`(also ${env})`]),
    ...(shown === undefined ? [] : [`(default: ${shown})`]),
  ].join(' ');
}

function hyphenated(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
