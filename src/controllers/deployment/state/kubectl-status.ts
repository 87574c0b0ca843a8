import { findCondition } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { PROGRESS_DEADLINE_EXCEEDED } from '../kubernetes/reasons.js';
import { workloadOf } from '../kubernetes/workload.js';

/** The output of `kubectl rollout status`. */
interface KubectlStatus {
  /** `failed`: its progress deadline has passed. */
  readonly state: 'waiting' | 'complete' | 'failed';
  readonly message: string;
}

/** Source: `DeploymentStatusViewer` in k8s.io/kubectl/pkg/polymorphichelpers/rollout_status.go. */
export function kubectlStatus(deployment: DeepReadonly<Deployment>): KubectlStatus {
  const { metadata, spec, status = {} } = deployment;
  const {
    availableReplicas = 0,
    conditions,
    observedGeneration = 0,
    replicas = 0,
    updatedReplicas = 0,
  } = status;
  const { resource } = workloadOf(deployment);
  const name = `${resource} "${metadata.name}"`;
  const waits = (what: string): KubectlStatus => ({
    state: 'waiting',
    message: `Waiting for ${name} rollout to finish: ${what}...`,
  });
  if (observedGeneration < (metadata.generation ?? 0))
    return { state: 'waiting', message: `Waiting for ${resource} spec update to be observed...` };
  if (findCondition(conditions, 'Progressing')?.reason === PROGRESS_DEADLINE_EXCEEDED)
    return { state: 'failed', message: `${name} exceeded its progress deadline` };
  const wanted = spec.replicas ?? 1;
  if (updatedReplicas < wanted)
    return waits(`${updatedReplicas} out of ${wanted} new replicas have been updated`);
  if (replicas > updatedReplicas)
    return waits(`${replicas - updatedReplicas} old replicas are pending termination`);
  if (availableReplicas < updatedReplicas)
    return waits(`${availableReplicas} of ${updatedReplicas} updated replicas are available`);
  return { state: 'complete', message: `${name} successfully rolled out` };
}
