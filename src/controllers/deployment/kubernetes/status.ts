import type { DeepReadonly, DeploymentStatus } from '@rollkeeper/machinery/kubernetes';
import { selectorText } from '@rollkeeper/machinery/kubernetes';
import { newCondition, withCondition } from './conditions.js';
import { isCustomDeployment } from './deployment-api.js';
import type { RolloutDraft, RolloutSets } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import { totalReplicas } from './replica-set-draft.js';
import { clampToInt32 } from './int32.js';
import { minAvailable } from './limits.js';
import { MINIMUM_REPLICAS_AVAILABLE, MINIMUM_REPLICAS_UNAVAILABLE } from './reasons.js';

type Status = DeepReadonly<DeploymentStatus>;

/**
 * Computes the Deployment's status from its ReplicaSets' status. Zero counts are omitted, as in the API. Unavailable
 * pods are counted against the requested sizes, so missing pods are unavailable too.
 *
 * For a custom Deployment, zero counts are kept for its printer columns, and the selector is added as text for its
 * scale subresource.
 */
export function calculateStatus(draft: RolloutDraft, sets: RolloutSets): Status {
  const { all, latest } = sets;
  const available = sum(all, 'availableReplicas');
  const { generation: observedGeneration = 0 } = draft.observed.metadata;
  const isCustom = isCustomDeployment(draft.observed);
  return {
    ...(observedGeneration === 0 ? {} : { observedGeneration }),
    ...(isCustom && { selector: selectorText(draft.spec.selector) }),
    ...counts(
      {
        replicas: sum(all, 'replicas'),
        updatedReplicas: latest?.status.replicas ?? 0,
        readyReplicas: sum(all, 'readyReplicas'),
        availableReplicas: available,
        unavailableReplicas: Math.max(0, totalReplicas(all) - available),
      },
      { keepZero: isCustom },
    ),
    ...terminating(all),
    ...(draft.status.collisionCount === undefined ? {} : { collisionCount: draft.status.collisionCount }),
    conditions: withCondition(draft.status.conditions, availability(draft, available)),
  };
}

/** Sets the status outside of a rollout: scaling, pause, deletion. Does not mention progress. */
export function setStatus(draft: RolloutDraft, sets: RolloutSets): void {
  draft.setStatus(calculateStatus(draft, sets));
}

function availability(draft: RolloutDraft, available: number): ReturnType<typeof newCondition> {
  const fields =
    available >= minAvailable(draft.spec)
      ? ({
          status: 'True',
          reason: MINIMUM_REPLICAS_AVAILABLE,
          message: 'Deployment has minimum availability.',
        } as const)
      : ({
          status: 'False',
          reason: MINIMUM_REPLICAS_UNAVAILABLE,
          message: 'Deployment does not have minimum availability.',
        } as const);
  return newCondition('Available', fields, draft.now);
}

/**
 * Omitted if one ReplicaSet does not report it, because the sum would be too small: a controller before Kubernetes 1.33
 * has written its status. A ReplicaSet without any status has no pods yet.
 */
function terminating(all: readonly ReplicaSetDraft[]): Status {
  const isSilent = ({ status }: ReplicaSetDraft): boolean =>
    status.terminatingReplicas === undefined && (status.observedGeneration ?? 0) > 0;
  return all.some(isSilent) ? {} : { terminatingReplicas: clampToInt32(sum(all, 'terminatingReplicas')) };
}

type Count = 'replicas' | 'readyReplicas' | 'availableReplicas' | 'terminatingReplicas';

function sum(replicaSets: readonly ReplicaSetDraft[], field: Count): number {
  return replicaSets.reduce((total, replicaSet) => total + (replicaSet.status[field] ?? 0), 0);
}

function counts(all: Readonly<Record<string, number>>, { keepZero }: { readonly keepZero: boolean }): Status {
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, count]) =>
      count === 0 && !keepZero ? [] : [[name, clampToInt32(count)]],
    ),
  );
}
