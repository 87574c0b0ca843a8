import { isJsonObject, isList, setField } from '@rollkeeper/machinery/kubernetes';
import type { FieldSet } from './field-set.js';
import { difference, isEmptySet } from './field-set.js';
import type { Shape } from './shape.js';
import { elementOf } from './shape.js';

/**
 * Removes what a manager applied before, does not apply any longer, and no other manager owns.
 * @param owned what all managers own now, the applying one with its new configuration included
 */
export function pruneReleased(object: unknown, before: FieldSet, owned: FieldSet, shape: Shape): unknown {
  const released = difference(withNamedFields(before, shape), withNamedFields(owned, shape));
  return isEmptySet(released) ? object : removeFields(object, released, shape);
}

/**
 * Adds the struct fields that lead to the set's members: the owner of `spec.replicas` also owns `spec` when removing
 * fields. Entries of maps and items of lists are only owned themselves.
 */
function withNamedFields(set: FieldSet, shape: Shape): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of set.children) {
    const below = shapeBelow(shape, element);
    const deeper = below ? withNamedFields(child, below) : child;
    const member = deeper.member || (shape.kind === 'struct' && below !== undefined);
    children.set(element, { member, children: deeper.children });
  }
  return { member: set.member, children };
}

function shapeBelow(shape: Shape, element: string): Shape | undefined {
  if (shape.kind === 'struct') return shape.field(element.slice(2));
  return shape.kind === 'map' || shape.kind === 'list' ? shape.item : undefined;
}

/** @returns undefined when nothing is left */
function removeFields(value: unknown, remove: FieldSet, shape: Shape): unknown {
  if (shape.kind === 'list' || shape.kind === 'set') return removeItems(value, remove, shape);
  if ((shape.kind !== 'struct' && shape.kind !== 'map') || !isJsonObject(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const found = remove.children.get(`f:${name}`);
    if (found?.member) continue;
    const below = shapeBelow(shape, `f:${name}`);
    const rest = found && below ? removeFields(field, found, below) : field;
    if (rest !== undefined) setField(kept, name, rest);
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}

function removeItems(
  value: unknown,
  remove: FieldSet,
  shape: Extract<Shape, { kind: 'list' | 'set' }>,
): unknown {
  if (!isList(value)) return value;
  const kept: unknown[] = [];
  for (const item of value) {
    const found = remove.children.get(elementOf(item, shape));
    if (found?.member) continue;
    const rest = found && shape.kind === 'list' ? removeFields(item, found, shape.item) : item;
    if (rest !== undefined) kept.push(rest);
  }
  return kept.length > 0 ? kept : undefined;
}
