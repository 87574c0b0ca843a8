import { OWNER_UID_INDEX, type Lister } from '@rollkeeper/runtime';
import type { Clock } from '@rollkeeper/machinery/clock';
import { controllerOf, isInReach, readyConditionOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../../shared/index.js';
import type { Annotations } from '../kubernetes/annotations.js';
import { templateHashOf } from '../kubernetes/deployment-api.js';
import { replicasOf } from '../kubernetes/limits.js';
import type { ReplicaSetDraft } from '../kubernetes/replica-set-draft.js';
import { readFailures, type FailedTemplate } from '../policies/common/failed-templates.js';
import { FAILED } from '../policies/common/names.js';
import { completeSinceMs, isGood } from '../policies/common/revisions.js';
import { WAITING_FOR_ORDER } from '../policies/common/tell.js';
import type { OrderSource, OrderedRollout } from '../policies/order/order-source.js';
import { hasEnded, reasonOf } from './has-ended.js';
import { latestAmong } from './latest-replica-set.js';
import { rolloutState } from './rollout-state.js';
import type { RolloutState } from './rollout-view.js';
import { ORDER_INDEX, releaseKey } from './watch-order.js';

interface OrderParts {
  /** With the index {@link ORDER_INDEX}. */
  readonly deployments: Lister<Deployment>;
  readonly replicaSets: Lister<ReplicaSet>;
  readonly pods: Lister<Pod>;
  readonly clock: Clock;
  readonly defaultsOf: (namespace: string) => Annotations | undefined;
}

/** The other Deployments, as the caches show them. */
export function orderSource(parts: OrderParts): OrderSource {
  const { deployments } = parts;
  return {
    find: (namespace, name) => {
      const found = deployments.get(`${namespace}/${name}`);
      return found && orderedRollout(found, parts);
    },
    inRelease: function* (namespace, release) {
      for (const each of deployments.byIndex(ORDER_INDEX, releaseKey(namespace, release)))
        yield orderedRollout(each, parts);
    },
    failedIn: function* (namespace, release) {
      for (const each of deployments.byIndex(ORDER_INDEX, releaseKey(namespace, release))) {
        const failure = failureInForce(each);
        if (failure) yield { name: each.metadata.name, failure };
      }
    },
  };
}

function orderedRollout(
  deployment: DeepReadonly<Deployment>,
  { clock, defaultsOf, pods, replicaSets }: OrderParts,
): OrderedRollout {
  const { annotations = {}, name, namespace = '', uid = '' } = deployment.metadata;
  const nowMs = clock.now();
  const owned = replicaSets.byIndex(OWNER_UID_INDEX, uid).filter((each) => isInReach(each, deployment));
  const latest = latestAmong(deployment, owned);
  const own = pods
    .byIndex(OWNER_UID_INDEX, latest?.observed?.metadata.uid ?? '')
    .filter((pod) => isInReach(pod, deployment));
  const namespaceAnnotations = defaultsOf(namespace);
  const view = { deployment, replicaSets: owned, pods: own, namespaceAnnotations, nowMs };
  const told = rolloutState(view);
  const failure = failureInForce(deployment);
  const state = failure ? 'failed' : stateOf(deployment, told);
  const changesAtMs = 'lookAgainAfterMs' in told ? nowMs + told.lookAgainAfterMs : undefined;
  const sinceMs = state === 'rolling' ? undefined : sinceOf(deployment, latest, own);
  return {
    ...{ name, annotations, state },
    // Counts of pods change too often for a message of another Deployment.
    words: failure?.cause ?? (told.phase === 'progressing' ? '' : told.message),
    isOrdered: reasonOf(deployment) === WAITING_FOR_ORDER,
    isGood: replicasOf(deployment.spec) === 0 || (latest !== undefined && isGood(latest)),
    ...(sinceMs !== undefined && { completeSinceMs: sinceMs }),
    ...(changesAtMs !== undefined && { changesAtMs }),
    ...(failure && { failure }),
  };
}

/** The newest failure, where the Deployment asks for what failed, or for what it went back to. */
function failureInForce(deployment: DeepReadonly<Deployment>): FailedTemplate | undefined {
  const { annotations = {} } = deployment.metadata;
  const [newest] = annotations[FAILED] === undefined ? [] : readFailures(annotations);
  if (!newest) return undefined;
  const current = templateHashOf(deployment);
  return newest.template === current || newest.to?.template === current ? newest : undefined;
}

const FAILED_PHASES: ReadonlySet<RolloutState['phase']> = new Set(['failed', 'rolling-back', 'rolled-back']);
const BAKING_PHASES: ReadonlySet<RolloutState['phase']> = new Set(['baking', 'waiting-for-check']);

function stateOf(deployment: DeepReadonly<Deployment>, { phase }: RolloutState): OrderedRollout['state'] {
  if (FAILED_PHASES.has(phase)) return 'failed';
  if (!hasEnded(deployment)) return 'rolling';
  return BAKING_PHASES.has(phase) ? 'baking' : 'ended';
}

/** Since when it is complete; if nothing notes it, since when the last of its pods is ready. */
function sinceOf(
  { status = {} }: DeepReadonly<Deployment>,
  latest: ReplicaSetDraft | undefined,
  pods: readonly DeepReadonly<Pod>[],
): number | undefined {
  const noted = latest && completeSinceMs({ status }, latest);
  if (noted !== undefined) return noted;
  const times = pods
    .filter((pod) => controllerOf(pod)?.uid === latest?.observed?.metadata.uid)
    .flatMap((pod) => parseTimeMs(readyConditionOf(pod)?.lastTransitionTime) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}
