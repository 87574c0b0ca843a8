import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { FieldSet } from './field-set.js';
import { FieldSetBuilder } from './field-set.js';
import type { Shape } from './shape.js';
import { itemsByElement, shapeOfValue } from './shape.js';

/**
 * The fields that a configuration speaks of: its leaves, its list items and the entries of its maps.
 * Source of the rules: `toFieldSetWalker` of structured-merge-diff.
 */
export function fieldsOf(value: unknown, shape: Shape): FieldSet {
  const builder = new FieldSetBuilder();
  collect(value, shape, builder);
  return builder.build();
}

function collect(value: unknown, declared: Shape, into: FieldSetBuilder): void {
  const shape = shapeOfValue(declared, value);
  switch (shape.kind) {
    case 'atomic':
      into.insert();
      return;
    case 'struct':
      collectStruct(value, shape, into);
      return;
    case 'map':
      if (isJsonObject(value)) {
        for (const [name, item] of Object.entries(value)) {
          const child = into.child(`f:${name}`);
          child.insert();
          collect(item, shape.item, child);
        }
      }
      return;
    case 'set':
      for (const element of itemsByElement(value, shape).keys()) into.child(element).insert();
      return;
    case 'list':
      for (const [element, item] of itemsByElement(value, shape)) {
        const child = into.child(element);
        child.insert();
        collect(item, shape.item, child);
      }
  }
}

function collectStruct(
  value: unknown,
  shape: Extract<Shape, { kind: 'struct' }>,
  into: FieldSetBuilder,
): void {
  if (!isJsonObject(value)) return;
  for (const [name, item] of Object.entries(value)) {
    const field = shape.field(name);
    if (!field || item === undefined) continue;
    const child = into.child(`f:${name}`);
    collect(item, field, child);
    if (item === null || (isJsonObject(item) && Object.keys(item).length === 0)) child.insert();
  }
}
