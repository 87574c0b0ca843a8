import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { POD_TEMPLATE_HASH, parseTimeMs } from '../../../shared/index.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { activeOf, isObserved, lastingAvailable } from '../../kubernetes/replica-set-draft.js';
import type { BlueGreen } from './settings.js';
import { isGood } from '../common/revisions.js';
import type { SelectingService } from './selecting-services.js';
import { hashSelectedBy, lastSwitchOf, switchOf } from './selecting-services.js';

/**
 * The state in which the active Service leaves the rollout. Only the Service's selector decides: if a process dies
 * after any of its writes, the next one continues from what the API says.
 *
 * - `open`: the Service selects no version alone, and one rollout at most is under way: pods are replaced in the usual way.
 * - `settle`: it selects no version alone while several serve: the steadiest runs alone first.
 * - `claim`: it must select `at` before anything else is done.
 * - `beside`: it selects a version other than the wanted one, which comes up whole beside it.
 * - `moved`: it selects the wanted version; `kept` is what it selected before, until the delay is over.
 */
export type BlueGreenPlan =
  | { readonly kind: 'open' }
  | { readonly kind: 'settle'; readonly on: ReplicaSetDraft }
  | { readonly kind: 'claim'; readonly at: ReplicaSetDraft; readonly from?: ReplicaSetDraft }
  | { readonly kind: 'beside'; readonly active: ReplicaSetDraft }
  | { readonly kind: 'moved'; readonly kept?: ReplicaSetDraft; readonly untilMs: number };

/** @param latest the ReplicaSet of the template to roll out */
export function planBlueGreen(
  draft: RolloutDraft,
  { scaleDownDelayMs }: BlueGreen,
  service: DeepReadonly<SelectingService>,
  latest: ReplicaSetDraft | undefined,
): BlueGreenPlan {
  const selected = hashSelectedBy(service);
  const withPods = activeOf(draft.living).filter(({ observed }) => observed !== undefined);
  const active = withPods.find((set) => hashOfSet(set) === selected);
  const old = withPods.filter((set) => set !== latest);
  if (!active) {
    const noted = withPods.find((set) => hashOfSet(set) === lastSwitchOf(service)?.to);
    if (selected === undefined && noted && serves(noted)) return { kind: 'claim', at: noted };
    return planUnclaimed(draft, old, latest, selected);
  }
  if (active !== latest) return { kind: 'beside', active };
  const moved = switchOf(service);
  // Another hand has moved it: the delay begins with what is seen now.
  if (!moved) return { kind: 'claim', at: active, from: steadiest(old) };
  const untilMs = (parseTimeMs(moved.at) ?? 0) + scaleDownDelayMs;
  const before = old.find((set) => hashOfSet(set) === moved.from);
  const isKept = before && draft.nowMs < untilMs && draft.limits.mayNotGrow?.has(before) !== true;
  return { kind: 'moved', kept: isKept ? before : undefined, untilMs };
}

/** The Service selects all versions, or one that has no pods any more. */
function planUnclaimed(
  draft: RolloutDraft,
  old: readonly ReplicaSetDraft[],
  latest: ReplicaSetDraft | undefined,
  selected: string | undefined,
): BlueGreenPlan {
  const serving = old.filter(serves);
  const best = steadiest(serving);
  if (!best) return latest?.observed && serves(latest) ? { kind: 'claim', at: latest } : { kind: 'open' };
  const isAlone = serving.length === 1 && !hasPods(latest);
  // If another writer released the Service in the middle of a rollout, it must not send requests to an unapproved version.
  const isWhole = lastingAvailable(best, OWN_RULES) >= draft.replicas && !(latest && isGood(latest));
  if (selected !== undefined || isAlone || isWhole) return { kind: 'claim', at: best };
  return hasPods(latest) ? { kind: 'open' } : { kind: 'settle', on: best };
}

/** Whether the Service may move from the one to the other: never to fewer pods than are asked for, or are there now. */
export function isReadyToServe(
  draft: RolloutDraft,
  latest: ReplicaSetDraft | undefined,
  active: ReplicaSetDraft,
): latest is ReplicaSetDraft {
  if (!latest?.observed || !isObserved(latest)) return false;
  const there = lastingAvailable(latest, OWN_RULES);
  if (there >= draft.replicas && latest.replicas >= draft.replicas) return true;
  // The way back to a good version does not wait for more pods than serve now.
  return isGood(latest) && there >= 1 && there >= lastingAvailable(active, OWN_RULES);
}

export function hashOfSet({ labels }: ReplicaSetDraft): string | undefined {
  return labels[POD_TEMPLATE_HASH];
}

function hasPods(set: ReplicaSetDraft | undefined): boolean {
  return set !== undefined && set.replicas > 0;
}

function serves(set: ReplicaSetDraft): boolean {
  return lastingAvailable(set, OWN_RULES) > 0;
}

/** The newest of the good, or else the one with the most available pods. */
export function steadiest(oldestFirst: readonly ReplicaSetDraft[]): ReplicaSetDraft | undefined {
  const [most] = oldestFirst.toSorted(
    (a, b) => lastingAvailable(b, OWN_RULES) - lastingAvailable(a, OWN_RULES),
  );
  return oldestFirst.findLast(isGood) ?? most;
}
