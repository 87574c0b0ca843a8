import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import { readJson } from '../shared/index.js';
import type { StrategyChange } from './apply-set.js';
import { isHeldHere, ownerOfField } from './partition-owner.js';
import type { SetKind } from './set-kind.js';
import type { SetObject } from './set-view.js';

type ReadableSet = DeepReadonly<SetObject>;

/**
 * The strategy to give back to a set that asks for no policy and has no note of one: both may have gone in one write. A field that was
 * applied here, and was not written by others since, gets the default of the API: with the note, the value that it had is lost. Undefined:
 * the field belongs to another hand.
 * @param live the set as the API has it, with its managedFields
 */
export function leftUnnoted(
  of: SetKind,
  set: ReadableSet,
  live: ReadableSet | undefined,
): StrategyChange | undefined {
  if (!live || !isHeldHere(live, of.heldBy) || ownerOfField(live, of.heldBy) !== undefined) return undefined;
  return of.giveBack(set, readJson(of.usual));
}

/** The sets whose strategy another hand has set: each form of a set is read once for this, and not at each event. */
export class StrategiesOfOthers {
  private readonly known = new Map<string, string>();

  /** Whether a set may have a strategy that was applied here: it differs from the default, and was not looked at in this form. */
  mayBeLeft(set: ReadableSet, { original, usual }: Pick<SetKind, 'original' | 'usual'>): boolean {
    return original(set) !== usual && this.known.get(keyOf(set.metadata)) !== formOf(set);
  }

  /** The strategy in this form of the set belongs to another hand. */
  note(set: ReadableSet): void {
    this.known.set(keyOf(set.metadata), formOf(set));
  }

  /** The set exists no more, or asks for policies. */
  forget(key: string): void {
    this.known.delete(key);
  }
}

/** A write of the strategy makes another generation. */
function formOf({ metadata: { generation = 0, uid = '' } }: ReadableSet): string {
  return `${uid}/${generation}`;
}
