import { atOnce } from '@rollkeeper/machinery/clock';
import type { Pieces } from '@rollkeeper/machinery/clock';
import { compare } from './compare.js';
import type { Comparison } from './compare.js';
import { difference, equalSets, intersection, isEmptySet, union } from './field-set.js';
import type { FieldSet } from './field-set.js';
import { withoutOtherPart, withoutServerFields } from './ignored-fields.js';
import { managerKey, ownedFields, withOwner } from './managers.js';
import type { Manager, Owners, Ownership } from './managers.js';
import { typeOf } from './shape.js';
import type { Shape } from './shape.js';

/** An object before and after it, and its type. */
interface Update {
  readonly before: unknown;
  readonly after: unknown;
  readonly shape: Shape;
}

/**
 * The owners after an update: its author owns the changed fields. Source of the rules: `Updater.Update` of
 * structured-merge-diff.
 */
export function ownersAfterUpdate(owners: Owners, update: Update, manager: Manager, time: string): Owners {
  return atOnce(updateInPieces(owners, update, manager, time));
}

/** The same in pieces, since an object may be as long as a request. */
export function* updateInPieces(
  owners: Owners,
  { before, after, shape }: Update,
  manager: Manager,
  time: string,
): Pieces<Owners> {
  const found = compare(before, after, shape);
  yield;
  const others = takeAway(owners, found, manager);
  const old = ownedFields(owners, manager);
  const changed = union(found.added, found.modified);
  const fields = withoutOtherPart(
    withoutServerFields(union(difference(old, found.removed), changed)),
    manager.subresource,
    typeOf(shape),
  );
  const knownTime = owners.get(managerKey(manager))?.time;
  return withOwner(others, manager, fields, equalSets(old, fields) ? (knownTime ?? time) : time);
}

/** Returns the fields that each other owner loses by a change. */
export function conflictsOf(
  owners: Owners,
  found: Comparison,
  manager: Manager,
): { readonly manager: Manager; readonly fields: FieldSet }[] {
  const changed = union(found.added, found.modified);
  const conflicts = [];
  const own = managerKey(manager);
  for (const [key, owner] of owners) {
    if (key === own) continue;
    const fields = intersection(owner.fields, changed);
    if (!isEmptySet(fields)) conflicts.push({ manager: owner.manager, fields });
  }
  return conflicts;
}

/** The other owners without what was changed or taken away. */
export function takeAway(owners: Owners, found: Comparison, manager: Manager): Owners {
  const lost = union(union(found.added, found.modified), found.removed);
  if (isEmptySet(lost)) return owners;
  const own = managerKey(manager);
  const rest = new Map<string, Ownership>();
  for (const [key, owner] of owners) {
    const fields = key === own ? owner.fields : difference(owner.fields, lost);
    if (!isEmptySet(fields)) rest.set(key, fields === owner.fields ? owner : { ...owner, fields });
  }
  return rest;
}
