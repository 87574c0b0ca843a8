import type { DeepReadonly, Pod, ReplicaSet, Service } from '@rollkeeper/machinery/kubernetes';
import type { PodDisruptionBudget } from '@rollkeeper/runtime';
import type { RolloutDraft } from './kubernetes/draft.js';
import { netPlan, type RolloutPlan } from './kubernetes/plan.js';
import type { ConfigCopy } from './policies/common/config-copy.js';
import type { ExperimentWrite, PolicyWrites } from './policies/common/policy-writes.js';
import type { RouteWrite } from './policies/common/route-write.js';
import type { ServiceWrite } from './policies/common/service-write.js';

/** The result of a pass as writes. */
export interface DeploymentPlan extends RolloutPlan {
  /** Budgets from which pods are taken: first of all, and to their status. */
  readonly budgetWrites: readonly PodDisruptionBudget[];
  /** After those to ReplicaSets: the selectors of Services, which lead to ReplicaSets that are there. */
  readonly serviceWrites: readonly ServiceWrite[];
  /** Services that do not exist yet, before those writes. */
  readonly madeServices: readonly Service[];
  /** The weights of routes: before all writes to ReplicaSets if they take requests away, after all Services otherwise. */
  readonly routeWrites: readonly RouteWrite[];
  /** Before all writes to ReplicaSets, which name them: copies of ConfigMaps and Secrets. */
  readonly copies: readonly ConfigCopy[];
  /** Last of all: pods that are resized in place, in their new form. */
  readonly podResizes: readonly Pod[];
  /** Behind everything else, so that a quota that refuses them holds nothing up: ReplicaSets of experiments, and their Services. */
  readonly experimentWrites: readonly ExperimentWrite[];
}

/** The writes of a pass: those of the draft, and those of the policies to other objects. */
export function planPass(
  draft: RolloutDraft,
  released: readonly DeepReadonly<ReplicaSet>[],
  { copies, experiments, madeServices, pods, routes, services }: PolicyWrites,
): DeploymentPlan {
  return {
    ...netPlan(draft, released),
    budgetWrites: draft.limits.shrinkLimit?.writes ?? [],
    serviceWrites: services,
    madeServices,
    copies,
    routeWrites: routes,
    podResizes: pods,
    experimentWrites: experiments,
  };
}

/** Whether there is nothing to write and no event to record. */
export function isEmptyPlan(plan: DeploymentPlan): boolean {
  const { copies, deployment, experimentWrites, notes, podResizes, replicaSetWrites, status } = plan;
  const objects = replicaSetWrites.length + copies.length + podResizes.length + experimentWrites.length;
  const writes = objects + notes.length;
  return writes === 0 && requestWrites(plan) === 0 && !deployment && !status;
}

/** The number of writes that lead requests. */
export function requestWrites({ madeServices, routeWrites, serviceWrites }: DeploymentPlan): number {
  return madeServices.length + routeWrites.length + serviceWrites.length;
}
