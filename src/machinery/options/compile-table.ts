import type { ZodType } from 'zod';
import * as z from 'zod';
import { compileOptions } from './compile-options.js';
import type {
  ChoiceOption,
  CompiledTable,
  GivenOptions,
  NumberOption,
  OptionTable,
  SwitchOption,
  TableOption,
  TextOption,
} from './option-table.js';
import { describeChoices } from './option-table.js';

/**
 * Checks options against their table, with defaults filled in. What the table does not name is left out.
 * @throws InvalidOptionError naming the first option that is wrong
 */
export function compileTable<Table extends OptionTable>(
  table: Table,
  given: GivenOptions<Table>,
): CompiledTable<Table> {
  const shape = Object.entries(table).map(([name, option]) => [name, schemaOf(option)] as const);
  return compileOptions(z.object(Object.fromEntries(shape)), given) as CompiledTable<Table>;
}

function schemaOf(option: TableOption): ZodType {
  switch (option.kind) {
    case 'text':
      return textSchema(option);
    case 'number':
      return numberSchema(option);
    case 'choice':
      return choiceSchema(option);
    case 'switch':
      return switchSchema(option);
  }
}

function textSchema({
  default: fallback,
  maxLength,
  notEmpty,
  pattern,
  required,
}: Omit<TextOption, 'kind'>): ZodType {
  let schema = required === undefined ? z.string() : z.string(required);
  if (notEmpty !== undefined) schema = schema.min(1, notEmpty);
  if (maxLength !== undefined) schema = schema.max(maxLength);
  if (pattern) schema = schema.regex(pattern.matches, pattern.says);
  if (fallback !== undefined) return schema.default(fallback);
  return required === undefined ? schema.optional() : schema;
}

function numberSchema({ default: fallback, isWhole, least, most }: NumberOption): ZodType {
  let schema = z.coerce.number('is not a number').min(least, `must be at least ${least}`);
  if (isWhole) schema = schema.int('is not a whole number');
  if (most !== undefined) schema = schema.max(most, `must be at most ${most}`);
  return fallback === undefined ? schema.optional() : schema.default(fallback);
}

function choiceSchema({ choices, default: fallback }: ChoiceOption): ZodType {
  const schema = z.enum(choices, `must be ${describeChoices(choices)}`);
  return fallback === undefined ? schema.optional() : schema.default(fallback);
}

function switchSchema({ default: fallback, takesValue }: SwitchOption): ZodType {
  if (!takesValue) return z.boolean().default(fallback);
  const typed = z.stringbool({ truthy: ['true'], falsy: ['false'] });
  return z.union([z.boolean(), typed], 'must be true or false').default(fallback);
}
