import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { isTime, readJson } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { WEIGHT } from './settings.js';

/** The share of a version, as it is noted on its ReplicaSet. */
export interface WeightNote {
  /** The share that was asked of the routes last. */
  readonly percent: number;
  /** The one before; absent once the routes have the new one. */
  readonly from?: number;
  /** Since when all routes serve it, RFC 3339; absent before. */
  readonly since?: string;
}

/** The note of a version; `undefined` if it has none, or none that can be read: then it had no share. */
export function weightNoteOf({ annotations }: ReplicaSetDraft): WeightNote | undefined {
  const read = readJson(annotations[WEIGHT]);
  if (!isJsonObject(read)) return undefined;
  const { from, percent, since } = read;
  if (!isPercent(percent)) return undefined;
  return { percent, ...(isPercent(from) && { from }), ...(isTime(since) && { since }) };
}

/** @param note undefined: it is taken away */
export function noteWeight(draft: RolloutDraft, set: ReplicaSetDraft, note: WeightNote | undefined): void {
  const { [WEIGHT]: _before, ...others } = set.annotations;
  draft.annotate(set, note ? { ...others, [WEIGHT]: stringifyJson(note) } : others);
}

function isPercent(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 100;
}
