import type { Command } from 'commander';
import type { GivenOptions, OptionTable, TableOption } from '@rollkeeper/machinery/options/option-table';
import { describeDefault } from '@rollkeeper/machinery/options/option-table';

/** Gives a command the flags of a table. What is not given stays undefined, so that the table's default applies. */
export function addOptions(command: Command, table: OptionTable): Command {
  for (const [name, option] of Object.entries(table)) command.option(flagsOf(name, option), helpOf(option));
  return command;
}

/** Flags as commander hands them over, `keyPrefix`, by the names in the table, `key-prefix`. */
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
