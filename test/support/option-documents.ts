import type { OptionTable, TableOption } from '../../src/machinery/options/option-table.js';
import { describeChoices, describeDefault } from '../../src/machinery/options/option-table.js';
import { APISERVER_OPTIONS_TABLE } from '../../src/rollkeeper/cli/apiserver-options.table.js';
import { NODE_OPTIONS_TABLE } from '../../src/rollkeeper/cli/node-options.table.js';
import { REDIS_CA_FILE_OPTION } from '../../src/rollkeeper/cli/shared-options.js';
import { REPLICA_OPTIONS_TABLE } from '../../src/rollkeeper/replica/replica-options.table.js';
import { SCHEDULER_OPTIONS_TABLE } from '../../src/rollkeeper/replica/scheduler-process/scheduler-options.table.js';
import { UP_OPTIONS_TABLE } from '../../src/rollkeeper/replica/supervisor/up-options.table.js';

/** This file makes docs/OPTIONS.md, and the limits in the chart's values.schema.json, from the tables of options. */

/** By command, in the order of the docs. */
export const TABLES: Readonly<Record<string, OptionTable>> = {
  up: { ...UP_OPTIONS_TABLE, ...REDIS_CA_FILE_OPTION },
  controller: { ...REPLICA_OPTIONS_TABLE, ...REDIS_CA_FILE_OPTION },
  apiserver: { ...APISERVER_OPTIONS_TABLE, ...REDIS_CA_FILE_OPTION },
  node: NODE_OPTIONS_TABLE,
  scheduler: SCHEDULER_OPTIONS_TABLE,
};

/** The Markdown tables of docs/OPTIONS.md. */
export function optionTables(): string {
  return Object.entries(TABLES)
    .map(([command, table]) => `## \`rollkeeper ${command}\`\n\n${optionTable(table)}`)
    .join('\n\n');
}

function optionTable(table: OptionTable): string {
  const rows = Object.entries(table).map(([name, option]) => {
    const { chart, env, help } = option;
    const elsewhere = [
      ...(chart ? [`chart: \`${chart.path}\``] : []),
      ...(env === undefined ? [] : [`variable: \`${env}\``]),
    ];
    const cells = [`\`--${name}\``, takes(option), describeDefault(option) ?? '', help, elsewhere.join(', ')];
    return `| ${cells.map(escaped).join(' | ')} |`;
  });
  return ['| option | takes | default | what it does | also set by |', '| - | - | - | - | - |', ...rows].join(
    '\n',
  );
}

function takes(option: TableOption): string {
  switch (option.kind) {
    case 'choice':
      return describeChoices(option.choices);
    case 'switch':
      return option.takesValue ? 'true or false' : 'nothing';
    case 'number': {
      const { isWhole, least, most, unit } = option;
      const range = most === undefined ? `${least} or more` : `${least} to ${most}`;
      return `${isWhole ? 'whole number' : 'number'}, ${range}${unit === 'ms' ? ', milliseconds' : ''}`;
    }
    case 'text':
      return option.value ?? 'text';
  }
}

/** Text as Markdown shows it in a cell. */
function escaped(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll(/^\*$/g, '`*`');
}

export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly [keyword: string]: unknown;
}

/** Keywords that the tables decide; the others (`examples`, for example) are the chart's. */
const DECIDED = ['type', 'items', 'enum', 'pattern', 'minLength', 'minimum', 'maximum'];

/** The chart's schema with the limits that the options of a replica have. */
export function withOptionLimits(schema: JsonSchema): JsonSchema {
  return Object.values<TableOption>(REPLICA_OPTIONS_TABLE).reduce(
    (whole, option) => (option.chart ? changedAt(whole, option.chart.path.split('.'), option) : whole),
    schema,
  );
}

function changedAt(schema: JsonSchema, [name, ...rest]: readonly string[], option: TableOption): JsonSchema {
  if (name === undefined) {
    const own = Object.entries(schema).filter(([keyword]) => !DECIDED.includes(keyword));
    return { ...schemaOf(option), ...Object.fromEntries(own) };
  }
  const inner = schema.properties?.[name];
  if (!inner) throw new Error(`the chart has no value ${name} for an option that names it`);
  return { ...schema, properties: { ...schema.properties, [name]: changedAt(inner, rest, option) } };
}

function schemaOf(option: TableOption): JsonSchema {
  return { ...formOf(option), ...option.chart?.schema };
}

function formOf(option: TableOption): JsonSchema {
  switch (option.kind) {
    case 'text':
      return { type: 'string' };
    case 'choice':
      return { type: 'string', enum: option.choices };
    case 'switch':
      return { type: 'boolean' };
    case 'number': {
      const { isWhole, least: minimum, most } = option;
      const maximum = most === undefined ? {} : { maximum: most };
      return { type: isWhole ? 'integer' : 'number', minimum, ...maximum };
    }
  }
}
