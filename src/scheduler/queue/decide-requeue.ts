import type { ClusterEventWithHint } from '../framework/cluster-event.js';
import type { ReadablePod } from '../framework/node-info.js';
import type { ClusterChange } from './cluster-change.js';
import { concerns, isAnyChange } from './cluster-change.js';

/**
 * The effect of a change on a pod that waits. `skip`: it cannot help. `after-backoff`: the pod is retried when its
 * backoff is over. `at-once`: a plug-in that waited for something under way has got it.
 */
export type Requeue = 'skip' | 'after-backoff' | 'at-once';

/** Why a pod waits. */
export interface Refusal {
  /** The plug-ins that refused it; none if the attempt failed by an error. */
  readonly refusedBy: ReadonlySet<string>;
  /** The plug-ins that wait for something that is under way. */
  readonly pendingOn: ReadonlySet<string>;
}

/**
 * The events that help the pods that a plug-in has refused, by the plug-in's name; of one that is not here, any change
 * does.
 */
export type HintsByPlugin = ReadonlyMap<string, readonly ClusterEventWithHint[]>;

/**
 * Whether the change may make the pod schedulable. A hint that throws counts as yes: an attempt without success costs little, one
 * that sleeps costs minutes. Source: `isPodWorthRequeuing` in k/k pkg/scheduler/backend/queue/scheduling_queue.go.
 */
export function decideRequeue(
  pod: ReadablePod,
  { pendingOn, refusedBy }: Refusal,
  change: ClusterChange,
  hints: HintsByPlugin,
): Requeue {
  const waitingFor = new Set([...refusedBy, ...pendingOn]);
  // An error that no plug-in answers for: everything may help.
  if (waitingFor.size === 0) return 'after-backoff';
  if (isAnyChange(change)) return pendingOn.size > 0 ? 'at-once' : 'after-backoff';
  let found: Requeue = 'skip';
  for (const plugin of waitingFor) {
    if (!helps(pod, change, hints.get(plugin))) continue;
    if (pendingOn.has(plugin)) return 'at-once';
    found = 'after-backoff';
  }
  return found;
}

function helps(
  pod: ReadablePod,
  change: ClusterChange,
  registered: readonly ClusterEventWithHint[] | undefined,
): boolean {
  if (!registered) return true;
  return registered.some(({ event, hint }) => concerns(event, change) && isHelpful(pod, change, hint));
}

function isHelpful(
  pod: ReadablePod,
  { after, before }: ClusterChange,
  hint: ClusterEventWithHint['hint'],
): boolean {
  if (!hint) return true;
  try {
    return hint(pod, before, after) === 'Queue';
  } catch {
    return true;
  }
}
