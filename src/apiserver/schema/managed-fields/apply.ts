import { atOnce } from '@rollkeeper/machinery/clock';
import type { Pieces } from '@rollkeeper/machinery/clock';
import { compare } from './compare.js';
import type { Comparison } from './compare.js';
import { isEmptySet, union } from './field-set.js';
import type { FieldSet } from './field-set.js';
import { fieldsOf } from './fields-of.js';
import { withoutOtherPart, withoutServerFields } from './ignored-fields.js';
import { allOwned, managerKey, ownedFields, withOwner } from './managers.js';
import type { Manager, Owners } from './managers.js';
import { mergeConfig } from './merge.js';
import { pruneReleased } from './prune.js';
import { typeOf } from './shape.js';
import type { Shape } from './shape.js';
import { conflictsOf, takeAway } from './update.js';

export interface AppliedConfig {
  /** The object as it is, complete; when the configuration creates it, an object with nothing in it. */
  readonly live: unknown;
  /** As it is written. */
  readonly config: unknown;
  readonly owners: Owners;
  readonly shape: Shape;
  readonly manager: Manager;
  /** RFC 3339. */
  readonly time: string;
}

export interface ApplyOutcome {
  /** Shares parts with `live` and `config`. */
  readonly object: unknown;
  readonly owners: Owners;
  /** The fields that others own and this configuration wants otherwise. `owners` has it taken from them. */
  readonly conflicts: readonly { readonly manager: Manager; readonly fields: FieldSet }[];
}

/**
 * Applies a manager's whole configuration to an object: its fields are set and owned; fields that it no longer has and
 * no other manager owns are removed. The caller decides whether to refuse conflicts. Source of the rules:
 * `Updater.Apply` of structured-merge-diff.
 */
export function applyConfig(applied: AppliedConfig): ApplyOutcome {
  return atOnce(applyInPieces(applied));
}

/** The same in pieces, since a configuration may be as long as a request. */
export function* applyInPieces(applied: AppliedConfig): Pieces<ApplyOutcome> {
  const { live, config, owners, shape, manager, time } = applied;
  const merged = mergeConfig(live, config, shape);
  yield;
  const before = ownedFields(owners, manager);
  const said = withoutOtherPart(fieldsOf(config, shape), manager.subresource, typeOf(shape));
  const fields = withoutServerFields(said);
  yield;
  const known = owners.get(managerKey(manager))?.time;
  const renewed = withOwner(owners, manager, fields, known);
  // A configuration always names its object: that alone keeps `metadata` when its last label is released.
  const object = isEmptySet(before)
    ? merged
    : (pruneReleased(merged, before, union(allOwned(renewed), said), shape) ?? {});
  yield;
  const found = ofPart(compare(live, object, shape), manager.subresource, shape);
  yield;
  // A write that changes no value changes no time: a manager that comes to own what is there already has none.
  const changed = isUnchanged(found) ? renewed : withOwner(renewed, manager, fields, time);
  return {
    object,
    owners: takeAway(changed, found, manager),
    conflicts: conflictsOf(renewed, found, manager),
  };
}

/** A field without effect is no change, and so no conflict. */
function ofPart({ added, modified, removed }: Comparison, subresource: string, shape: Shape): Comparison {
  const type = typeOf(shape);
  return {
    added: withoutOtherPart(added, subresource, type),
    modified: withoutOtherPart(modified, subresource, type),
    removed: withoutOtherPart(removed, subresource, type),
  };
}

function isUnchanged({ added, modified, removed }: Comparison): boolean {
  return [added, modified, removed].every(isEmptySet);
}
