import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodActive, isPodTerminating, newerResourceVersion } from '@rollkeeper/machinery/kubernetes';
import type { DoomedPod } from '../shared/index.js';
import type { ClaimedPods } from './claim-pods.js';
import type { Situation } from './decide-pods.js';
import type { IntentsDecision, PodIntents } from './pod-intents.js';

type ReadablePod = DeepReadonly<Pod>;

/** The API server's answers about intents of which the cache does not show what became of them. */
interface LookedUp {
  /** By the index in `probeCreates`; undefined: no pod of the ReplicaSet has the name. */
  readonly created: readonly (ReadablePod | undefined)[];
  /** By the index in `probeDeletes`. */
  readonly doomed: readonly (ReadablePod | undefined)[];
}

/** The combined view of cache, intents and the API server's answers; pure. */
export function situationOf(
  { active, controlled, terminating }: Pick<ClaimedPods, 'active' | 'controlled' | 'terminating'>,
  intents: PodIntents,
  decision: IntentsDecision,
  { created, doomed }: LookedUp,
): Situation {
  const { probeCreates, probeDeletes } = decision;
  const isSpared = (pod: ReadablePod | undefined, index: number): boolean =>
    pod !== undefined && pod.metadata.uid === probeDeletes[index]?.uid && isPodActive(pod);
  const spared = new Set(doomed.filter(isSpared).map(uidOf));
  const existing = created.filter((pod) => pod !== undefined);
  return {
    controlled,
    terminating: [...terminating, ...existing.filter((pod) => isPodTerminating(pod))],
    intents,
    active: [
      ...decision.active,
      ...existing.filter((pod) => isPodActive(pod)),
      ...active.filter((pod) => spared.has(uidOf(pod))),
    ],
    // A completed deletion stays pending until the cache shows it, or its pod would be counted again.
    pendingDeletes: decision.pendingDeletes.filter(({ uid }) => !spared.has(uid)),
    freeNames: probeCreates.filter((_, index) => created[index] === undefined),
    corrected: probeCreates.length + probeDeletes.length > 0,
  };
}

/**
 * The version that a cache must have to show these pods; the next sync must have seen as much.
 * @param gone the version by which the absence of others is shown, if that settled an intent
 */
export function shownAt(pods: readonly (ReadablePod | undefined)[], gone?: string): string | undefined {
  return pods.map((pod) => pod?.metadata.resourceVersion).reduce(newerResourceVersion, gone);
}

/** The answers to the writes of a plan. */
interface ActedOn {
  /** Names whose creation has no answer. */
  readonly unanswered: readonly string[];
  /** Deletions that the server refused. */
  readonly refused: readonly DoomedPod[];
}

/** The intents that stay open once a plan was executed: all others were answered, or had no effect. */
export function openIntents(stored: PodIntents, { refused, unanswered }: ActedOn): PodIntents {
  const uids = new Set(refused.map(({ uid }) => uid));
  return { ...stored, creates: unanswered, deletes: stored.deletes.filter(({ uid }) => !uids.has(uid)) };
}

function uidOf(pod: ReadablePod | undefined): string {
  return pod?.metadata.uid ?? '';
}
