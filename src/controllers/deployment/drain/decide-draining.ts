import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished } from '@rollkeeper/machinery/kubernetes';
import { readDraining, renderDrainCondition } from '../../shared/index.js';
import type { DrainingPod } from '../../shared/index.js';
import { renderDuration } from '@rollkeeper/machinery/clock';

type ReadablePod = DeepReadonly<Pod>;

/** The result of a probe: a number, or why there is none. */
export type Reading = { readonly value: number } | { readonly unknown: string };

/** The next act on a pod that drains. */
export type DrainDecision =
  | {
      readonly act: 'delete';
      /** It is not said to be empty. */
      readonly isForced: boolean;
      readonly why: string;
    }
  /** Its probe says whether it is empty. */
  | { readonly act: 'probe'; readonly leftMs: number }
  /** It is not empty; the time that is left, milliseconds. */
  | { readonly act: 'wait'; readonly leftMs: number };

/**
 * Decides by all that is known without a request.
 * @param others the pods of its Deployment that drain, with or without itself
 */
export function decideDraining(
  pod: ReadablePod,
  draining: DrainingPod,
  others: readonly ReadablePod[],
  nowMs: number,
): DrainDecision {
  const { rule, sinceMs } = draining;
  const leftMs = sinceMs + rule.atMostMs - nowMs;
  if (!hasRunningContainer(pod))
    return { act: 'delete', isForced: false, why: 'it has no session, because none of its containers runs' };
  if (leftMs <= 0)
    return {
      act: 'delete',
      isForced: true,
      why: `it drained for ${renderDuration(rule.atMostMs)}, the longest time, without ${renderDrainCondition(rule.until)}`,
    };
  if (!keptVersions([pod, ...others], rule.versions).has(draining.version))
    return {
      act: 'delete',
      isForced: true,
      why: `its version is older than the ${rule.versions} that may drain at once`,
    };
  if (rule.until.kind !== 'annotation') return { act: 'probe', leftMs };
  const { equals, key } = rule.until;
  if (pod.metadata.annotations?.[key] === equals) return isEmpty(draining);
  return { act: 'wait', leftMs };
}

/** Decides by what the probe found. */
export function decideProbed(draining: DrainingPod, reading: Reading, leftMs: number): DrainDecision {
  const { until } = draining.rule;
  const isMet = 'value' in reading && reading.value === until.equals;
  return isMet ? isEmpty(draining) : { act: 'wait', leftMs };
}

function isEmpty({ rule }: DrainingPod): DrainDecision {
  return { act: 'delete', isForced: false, why: renderDrainCondition(rule.until) };
}

function hasRunningContainer(pod: ReadablePod): boolean {
  if (isPodFinished(pod)) return false;
  const { containerStatuses = [] } = pod.status ?? {};
  return (
    containerStatuses.length === 0 ||
    containerStatuses.some(({ ready, state }) => ready || state?.running !== undefined)
  );
}

/** The versions whose pods left last: those may stay. */
function keptVersions(pods: readonly ReadablePod[], most: number): ReadonlySet<string> {
  const left = new Map<string, number>();
  for (const pod of pods) {
    const draining = pod.metadata.deletionTimestamp === undefined ? readDraining(pod) : undefined;
    if (draining) left.set(draining.version, Math.max(left.get(draining.version) ?? 0, draining.sinceMs));
  }
  const newest = [...left].toSorted(([a, aMs], [b, bMs]) => bMs - aMs || (a < b ? -1 : 1));
  return new Set(newest.slice(0, most).map(([version]) => version));
}
