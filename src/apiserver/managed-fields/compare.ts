import { ownField, sameJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { FieldSet } from './field-set.js';
import { FieldSetBuilder } from './field-set.js';
import type { Shape } from './shape.js';
import { isNothing, itemsByElement, shapeOfValue } from './shape.js';

/** What differs between two states of an object, as fields. */
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

/** The same where Go knows no type. */
const ALWAYS_THERE = new Set(['metadata', 'spec', 'status', 'strategy', 'template', 'containers']);

/** Source of the rules: `compareWalker` of structured-merge-diff. */
export function compare(before: unknown, after: unknown, shape: Shape): Comparison {
  const found = new Recorder();
  walk(before, after, shape, found, true);
  return {
    added: found.added.build(),
    modified: found.modified.build(),
    removed: found.removed.build(),
  };
}

/** @param valued the value is there, whether something is in it or not */
function walk(before: unknown, after: unknown, declared: Shape, found: Recorder, valued: boolean): void {
  if (before === after || (isNothing(before) && isNothing(after))) return;
  const shape = shapeOfValue(declared, before, after);
  const asOne = shape.kind === 'atomic' || (isHollow(before) && isHollow(after));
  if (asOne) {
    if (!valued || shape.kind === 'atomic') walkLeaf(before, after, found);
    return;
  }
  if (!valued) {
    if (isNothing(before)) found.note('added');
    else if (isNothing(after)) found.note('removed');
  }
  if (shape.kind === 'struct' || shape.kind === 'map') walkFields(before, after, shape, found, valued);
  else walkItems(before, after, shape, found);
}

function isAlwaysThere(shape: Shape, name: string): boolean {
  const always = shape.kind === 'struct' ? shape.always : undefined;
  return always ? Object.hasOwn(always, name) : ALWAYS_THERE.has(name);
}

/** Whether Go writes the same for both: `{}` for an empty struct, `""` for a text that is not there. */
function isWrittenAlike(shape: Shape, name: string, before: unknown, after: unknown): boolean {
  const empty = shape.kind === 'struct' ? ownField(shape.always, name) : undefined;
  if (isJsonObject(empty) && isHollow(before) && isHollow(after)) return true;
  return empty === '' && (before ?? '') === (after ?? '');
}

function walkLeaf(before: unknown, after: unknown, found: Recorder): void {
  if (isNothing(before)) found.note('added');
  else if (isNothing(after)) found.note('removed');
  else if (!sameJson(before, after)) found.note('modified');
}

function walkFields(
  before: unknown,
  after: unknown,
  shape: Extract<Shape, { kind: 'struct' | 'map' }>,
  found: Recorder,
  valued: boolean,
): void {
  const old = isJsonObject(before) ? before : {};
  const now = isJsonObject(after) ? after : {};
  const visit = (name: string): void => {
    const [was, is] = [ownField(old, name), ownField(now, name)];
    if (was === is) return;
    const field = shape.kind === 'map' ? shape.item : shape.field(name);
    if (!field) return;
    // What is always written never comes or goes.
    const isAlways = valued && isAlwaysThere(shape, name);
    if (isAlways && field.kind === 'atomic' && isWrittenAlike(shape, name, was, is)) return;
    walkBelow(`f:${name}`, was, is, field, found, isAlways && field.kind !== 'atomic');
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
    walkBelow(element, old.get(element), item, itemShape, found, false);
  }
  for (const [element, item] of old) {
    if (!now.has(element)) walkBelow(element, item, undefined, itemShape, found, false);
  }
}

function walkBelow(
  element: string,
  before: unknown,
  after: unknown,
  shape: Shape,
  found: Recorder,
  valued: boolean,
): void {
  found.path.push(element);
  walk(before, after, shape, found, valued);
  found.path.pop();
}

function isHollow(value: unknown): boolean {
  if (isNothing(value)) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
