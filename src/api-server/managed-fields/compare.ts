import type { FieldSet } from './field-set.js';
import { FieldSetBuilder } from './field-set.js';
import type { Shape } from './shape.js';
import { isNothing, isRecord, itemsByElement } from './shape.js';

/** What differs between two states of an object, as fields. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

interface Found {
  readonly added: FieldSetBuilder;
  readonly modified: FieldSetBuilder;
  readonly removed: FieldSetBuilder;
}

/** What Go always writes, be there something in it or not, and what therefore never comes or goes. */
const ALWAYS_THERE = new Set(['metadata', 'spec', 'status', 'strategy', 'template', 'containers']);

/** Source of the rules: `compareWalker` of structured-merge-diff. */
export function compare(before: unknown, after: unknown, shape: Shape): Comparison {
  const found: Found = {
    added: new FieldSetBuilder(),
    modified: new FieldSetBuilder(),
    removed: new FieldSetBuilder(),
  };
  walk(before, after, shape, found, true);
  return {
    added: found.added.build(),
    modified: found.modified.build(),
    removed: found.removed.build(),
  };
}

/** @param valued the value is there, whether something is in it or not */
function walk(before: unknown, after: unknown, shape: Shape, found: Found, valued: boolean): void {
  if (before === after || (isNothing(before) && isNothing(after))) return;
  const asOne = shape.kind === 'atomic' || (isHollow(before) && isHollow(after));
  if (asOne) {
    if (!valued || shape.kind === 'atomic') walkLeaf(before, after, found);
    return;
  }
  if (!valued) {
    if (isNothing(before)) found.added.insert();
    else if (isNothing(after)) found.removed.insert();
  }
  if (shape.kind === 'struct' || shape.kind === 'map') walkFields(before, after, shape, found, valued);
  else walkItems(before, after, shape, found);
}

function walkLeaf(before: unknown, after: unknown, found: Found): void {
  if (isNothing(before)) found.added.insert();
  else if (isNothing(after)) found.removed.insert();
  else if (!deepEqual(before, after)) found.modified.insert();
}

function walkFields(
  before: unknown,
  after: unknown,
  shape: Extract<Shape, { kind: 'struct' | 'map' }>,
  found: Found,
  valued: boolean,
): void {
  const old = isRecord(before) ? before : {};
  const now = isRecord(after) ? after : {};
  const visit = (name: string): void => {
    if (old[name] === now[name]) return;
    const field = shape.kind === 'map' ? shape.item : shape.field(name);
    if (!field) return;
    const isValue = valued && field.kind !== 'atomic' && ALWAYS_THERE.has(name);
    walk(old[name], now[name], field, below(found, `f:${name}`), isValue);
  };
  for (const name in now) visit(name);
  for (const name in old) if (!(name in now)) visit(name);
}

function walkItems(
  before: unknown,
  after: unknown,
  shape: Extract<Shape, { kind: 'list' | 'set' }>,
  found: Found,
): void {
  const old = itemsByElement(before, shape);
  const now = itemsByElement(after, shape);
  const itemShape: Shape = shape.kind === 'list' ? shape.item : { kind: 'atomic' };
  for (const [element, item] of now) {
    walk(old.get(element), item, itemShape, below(found, element), false);
  }
  for (const [element, item] of old) {
    if (!now.has(element)) walk(item, undefined, itemShape, below(found, element), false);
  }
}

function below(found: Found, element: string): Found {
  return {
    added: found.added.child(element),
    modified: found.modified.child(element),
    removed: found.removed.child(element),
  };
}

function isHollow(value: unknown): boolean {
  if (isNothing(value)) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  for (const key in a) if (!deepEqual(a[key], b[key])) return false;
  for (const key in b) if (b[key] !== undefined && a[key] === undefined) return false;
  return true;
}
