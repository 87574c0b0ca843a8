import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import {
  EVICTION_ASKED,
  evictionAskedForMs,
  isPodActive,
  isPodReady,
} from '@rollkeeper/machinery/kubernetes';
import {
  FIRST_TO_GO,
  RESPONDER_OF_OWNER,
  RESPONDS,
  firstToGo,
  isPodAvailable,
  renderFirstToGo,
} from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { activeOf, isObserved, lastingAvailable } from '../../kubernetes/replica-set-draft.js';
import type { SizeRequest } from '../../kubernetes/requested-size.js';
import { maxSurge } from '../../kubernetes/limits.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { EvictionFields } from './settings.js';
import type { Pass, Policy, PolicyDecision } from '../common/pass.js';
import { normal, tellEvent } from '../common/tell.js';

type ReadablePod = DeepReadonly<Pod>;

export interface EvictionSurroundings {
  /** Whether a controller responds to evictions by request. @default not known */
  readonly respondsToEvictions?: boolean;
}

type EvictionPass = Pass<EvictionFields> & EvictionSurroundings;

/** A pod that is evicted is replaced before it goes. */
export const EVICTIONS: Policy<EvictionPass> = {
  decide: surgeForEvictions,
  conclude: ({ draft, isDeleted, policy, respondsToEvictions }) => {
    if (!isDeleted && respondsToEvictions !== undefined)
      noteResponder(draft, respondsToEvictions && policy.surgesOnEviction);
  },
};

/** Notes on the ReplicaSets whether their new pods name the responder. */
function noteResponder(draft: RolloutDraft, isWanted: boolean): void {
  for (const set of draft.living) {
    const { [RESPONDER_OF_OWNER]: noted, ...others } = set.annotations;
    if ((noted === RESPONDS) === isWanted) continue;
    draft.annotate(set, isWanted ? { ...others, [RESPONDER_OF_OWNER]: RESPONDS } : others);
  }
}

/** Caches of pods and ReplicaSets agree soon. */
const DISAGREEMENT_MS = 1000;

/**
 * Makes room for the pods whose eviction was requested, when the steps have been played. The ReplicaSet has one more pod for each,
 * within `maxSurge`, and gives up these pods, by name, as others become available in their place. So no eviction makes fewer
 * pods available than there were, and the ReplicaSet is never smaller than `replicas`. In a rollout new pods come in any case:
 * the pods wait for its end.
 */
function surgeForEvictions(pass: EvictionPass): PolicyDecision | undefined {
  const { draft, policy } = pass;
  const { spec } = draft;
  if (!policy.surgesOnEviction || spec.paused) return undefined;
  const asked = draft.living.flatMap((set) => askedOf(pass, set));
  const surge = Math.min(askedOf(pass, latestOf(draft, draft.living)).length, maxSurge(spec));
  return { limits: { surge }, afterwards: () => replace(pass, asked, surge) };
}

function replace(pass: EvictionPass, asked: readonly ReadablePod[], surge: number): SizeRequest | undefined {
  const { draft, outcome } = pass;
  if (asked.length === 0) return undefined;
  const lapseMs = Math.min(...asked.map((pod) => evictionAskedForMs(pod, draft.nowMs) ?? 0));
  if (lapseMs < Infinity) lookAgainAfter(outcome, lapseMs);
  const latest = latestOf(draft, draft.living);
  const isAlone = latest !== undefined && activeOf(draft.living).every((set) => set === latest);
  const mayResize = isAlone && latest.replicas >= draft.replicas && draft.replicas > 0;
  const request = mayResize ? makeRoom(pass, latest, surge) : undefined;
  tellWait(pass, asked, isAlone);
  return request;
}

/** The pods whose eviction was requested: first those that are not ready, then by name. */
function askedOf({ draft, podsOf }: EvictionPass, set: ReplicaSetDraft | undefined): readonly ReadablePod[] {
  if (!set) return [];
  return podsOf(set)
    .filter((pod) => isPodActive(pod) && evictionAskedForMs(pod, draft.nowMs) !== undefined)
    .toSorted(
      (a, b) => Number(isPodReady(a)) - Number(isPodReady(b)) || (a.metadata.name < b.metadata.name ? -1 : 1),
    );
}

function makeRoom(pass: EvictionPass, latest: ReplicaSetDraft, surge: number): SizeRequest | undefined {
  const { draft, outcome } = pass;
  const asked = askedOf(pass, latest);
  const most = draft.replicas + surge;
  const view = viewOf(pass, latest);
  if (!view.isSettled) {
    lookAgainAfter(outcome, DISAGREEMENT_MS);
    return undefined;
  }
  const spare = lastingAvailable(latest, OWN_RULES) - draft.replicas + view.unavailable(asked);
  const going = Math.max(0, Math.min(latest.replicas - draft.replicas, asked.length, spare));
  if (going > 0) return letGo(pass, latest, asked.slice(0, going));
  if (latest.replicas >= most) return undefined;
  const added = most - latest.replicas;
  const message = `${capitalised(named(asked))} to be evicted: starting ${added === 1 ? 'a pod' : `${added} pods`} first`;
  tellEvent(draft, outcome, normal('EvictionSurge', message));
  outcome.isWaiting = true;
  return { replicaSet: latest, size: most };
}

/** The names go to the ReplicaSet with its size, so that no other pods go in their place. */
function letGo(
  { draft, outcome }: EvictionPass,
  latest: ReplicaSetDraft,
  victims: readonly ReadablePod[],
): SizeRequest {
  const size = latest.replicas - victims.length;
  const first = renderFirstToGo(firstToGo(size, victims, { beforeUnready: true }));
  const names = victims.map(({ metadata }) => metadata.name).join(', ');
  const message = `Evicting ${names}: as many pods are available in ${victims.length === 1 ? 'its' : 'their'} place`;
  tellEvent(draft, outcome, normal('EvictionReplaced', message));
  return { replicaSet: latest, size, annotations: { [FIRST_TO_GO]: first } };
}

interface View {
  /** The ReplicaSet's controller has acted on its size, and the cache shows these pods. */
  readonly isSettled: boolean;
  /** How many of these count for nothing; none unless the caches agree on what is available. */
  readonly unavailable: (pods: readonly ReadablePod[]) => number;
}

/** ReplicaSets and pods have separate watches: what only one of them says is not acted upon. */
function viewOf({ draft, podsOf }: EvictionPass, set: ReplicaSetDraft): View {
  const active = podsOf(set).filter(isPodActive);
  const isAvailable = (pod: ReadablePod): boolean => isPodAvailable(pod, set.minReadySeconds, draft.nowMs);
  const { availableReplicas = 0, replicas = 0 } = set.status;
  const agrees = active.filter(isAvailable).length === availableReplicas;
  return {
    isSettled: isObserved(set) && replicas === set.replicas && active.length === set.replicas,
    unavailable: (pods) => (agrees ? pods.filter((pod) => !isAvailable(pod)).length : 0),
  };
}

function tellWait({ draft, outcome }: EvictionPass, asked: readonly ReadablePod[], isAlone: boolean): void {
  const { length } = asked;
  if (isAlone) outcome.isWaiting = true;
  const when = isAlone
    ? `${length === 1 ? 'goes when a pod is' : 'go as pods are'} available in ${length === 1 ? 'its' : 'their'} place`
    : `${length === 1 ? 'goes' : 'go'} with the rollout`;
  outcome.standing ??= {
    code: 'waits-for-replacement',
    sentence: `${named(asked)} to be evicted, and ${when}`,
    unblockedBy: isAlone
      ? [
          'a pod that becomes available on another node: kubectl get pods -o wide shows where it is',
          `removing ${EVICTION_ASKED} from the pod, if it is to stay`,
        ]
      : [`the end of the rollout of ${draft.name}`],
    endsByItself: true,
  };
}

/** Limit of the names in a message; the other pods are only counted. */
const MOST_NAMED = 3;

function named(pods: readonly ReadablePod[]): string {
  const names = pods.map(({ metadata }) => metadata.name);
  if (names.length === 1) return `pod ${names[0]} is`;
  const told = names.slice(0, MOST_NAMED).join(', ');
  return `pods ${told}${names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''} are`;
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
