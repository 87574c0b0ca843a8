import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../schema/index.js';
import { isSchema } from '../custom/structural-defaults.js';
import type { FieldError } from '../kind-definition.js';
import { required } from '../validation/field-errors.js';

/** A schema that describes values, and the one below a logical keyword that judges them. */
interface Pair {
  readonly described: StructuralSchema | undefined;
  readonly path: string;
  readonly judging: StructuralSchema;
  readonly judgingPath: string;
}

/**
 * What is judged below a logical keyword must be described outside of it.
 * Source: validateStructuralCompleteness in apiextensions-apiserver/pkg/apiserver/schema/complete.go.
 */
export function checkCompleteness(schema: StructuralSchema, path: string, errors: FieldError[]): void {
  checkJunctors({ described: schema, path, judging: schema, judgingPath: path }, errors);
}

function checkJunctors(pair: Pair, errors: FieldError[]): void {
  const { not, ...lists } = pair.judging;
  const below = (judging: StructuralSchema, step: string): void =>
    checkNested({ ...pair, judging, judgingPath: `${pair.judgingPath}.${step}` }, errors);
  if (not) below(not, 'not');
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const)
    lists[name]?.forEach((part, index) => below(part, `${name}[${index}]`));
}

function checkNested(pair: Pair, errors: FieldError[]): void {
  const { described, path, judging, judgingPath } = pair;
  if (!described) {
    errors.push(required(path, `because it is defined in ${judgingPath}`));
    return;
  }
  checkJunctors(pair, errors);
  const below = (part: StructuralSchema, inner: unknown, step: string): void =>
    checkNested(
      {
        described: isSchema(inner) ? inner : undefined,
        path: `${path}.${step}`,
        judging: part,
        judgingPath: `${judgingPath}.${step}`,
      },
      errors,
    );
  if (isSchema(judging.items)) below(judging.items, described.items, 'items');
  for (const [name, property] of Object.entries(judging.properties ?? {}))
    below(property, ownField(described.properties, name), `properties[${name}]`);
}
