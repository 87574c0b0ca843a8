import { ownField, sameJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { FieldSet } from './field-set.js';
import { FieldSetBuilder } from './field-set.js';
import type { Shape } from './shape.js';
import { isHollow, itemsByElement, shapeOfValue } from './shape.js';

/** The differences between two states of an object, as fields. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Collects differences. The current position is kept as a path, so that equal values allocate nothing. */
class Recorder {
  readonly path: string[] = [];
  readonly added = new FieldSetBuilder();
  readonly modified = new FieldSetBuilder();
  readonly removed = new FieldSetBuilder();

  note(what: keyof Comparison): void {
    let at = this[what];
    for (const element of this.path) at = at.child(element);
    at.insert();
  }
}

/**
 * An absent value (`undefined`), null and an empty value are three: a configuration with `[]` differs from an object without
 * the list. Source of the rules: `compareWalker` of structured-merge-diff.
 * @param before complete, as are all stored objects: with the empty fields that Go always writes
 */
export function compare(before: unknown, after: unknown, shape: Shape): Comparison {
  const found = new Recorder();
  walk(before, after, shape, found);
  return {
    added: found.added.build(),
    modified: found.modified.build(),
    removed: found.removed.build(),
  };
}

function walk(before: unknown, after: unknown, declared: Shape, found: Recorder): void {
  if (before === after) return;
  const was = shapeOfValue(declared, before);
  const is = shapeOfValue(declared, after);
  let isLeaf: boolean;
  if (after === undefined) isLeaf = walkAs(was, before, after, found);
  else {
    if (before !== undefined && was.kind !== is.kind) walkAs(was, before, after, found);
    isLeaf = walkAs(is, before, after, found);
  }
  if (isLeaf) return;
  if (before === undefined) found.note('added');
  else if (after === undefined) found.note('removed');
}

/** @returns whether the value counts as a whole */
function walkAs(shape: Shape, before: unknown, after: unknown, found: Recorder): boolean {
  const isLeaf = shape.kind === 'atomic' || (isHollow(before, shape) && isHollow(after, shape));
  if (isLeaf) walkLeaf(before, after, found);
  else if (shape.kind === 'struct' || shape.kind === 'map') walkFields(before, after, shape, found);
  else walkItems(before, after, shape, found);
  return isLeaf;
}

function walkLeaf(before: unknown, after: unknown, found: Recorder): void {
  if (before === undefined) found.note('added');
  else if (after === undefined) found.note('removed');
  else if (!sameJson(before, after)) found.note('modified');
}

function walkFields(
  before: unknown,
  after: unknown,
  shape: Extract<Shape, { kind: 'struct' | 'map' }>,
  found: Recorder,
): void {
  const old = isJsonObject(before) ? before : {};
  const now = isJsonObject(after) ? after : {};
  const visit = (name: string): void => {
    const [was, is] = [ownField(old, name), ownField(now, name)];
    if (was === is) return;
    const field = shape.kind === 'map' ? shape.item : shape.field(name);
    if (field) walkBelow(`f:${name}`, was, is, field, found);
  };
  for (const name in now) visit(name);
  for (const name in old) if (!Object.hasOwn(now, name)) visit(name);
}

function walkItems(
  before: unknown,
  after: unknown,
  shape: Extract<Shape, { kind: 'list' | 'set' }>,
  found: Recorder,
): void {
  const old = itemsByElement(before, shape);
  const now = itemsByElement(after, shape);
  const itemShape: Shape = shape.kind === 'list' ? shape.item : { kind: 'atomic' };
  for (const [element, item] of now) {
    walkBelow(element, old.get(element), item, itemShape, found);
  }
  for (const [element, item] of old) {
    if (!now.has(element)) walkBelow(element, item, undefined, itemShape, found);
  }
}

function walkBelow(element: string, before: unknown, after: unknown, shape: Shape, found: Recorder): void {
  found.path.push(element);
  walk(before, after, shape, found);
  found.path.pop();
}
