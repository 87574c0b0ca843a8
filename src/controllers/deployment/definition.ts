import type { BuiltController, ControllerDefinition, ControllerDependencies } from '../../kit/index.js';
import { dueObjects } from '../../kit/index.js';
import type { Deployment, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { DEPLOYMENTS, PODS, REPLICA_SETS } from '../../base/kubernetes/index.js';
import {
  ORPHAN_INDEX,
  SELECTOR_INDEX,
  TEMPLATE_INDEX,
  orphanIndex,
  selectorIndex,
  templateIndex,
  watchSelectorOverlaps,
} from '../shared/index.js';
import type {
  CompiledDeploymentControllerOptions,
  DeploymentControllerOptions,
} from './deployment.options.js';
import { compileDeploymentControllerOptions } from './deployment.options.js';
import { DeploymentEventHandlers } from './event-handlers.js';
import { isDeploymentDue } from './is-due.js';
import { needsSync } from './needs-sync.js';
import { DeploymentReconciler } from './reconcile.js';

/** The Deployment controller as the registry knows it, with other than the default options. */
export function createDeploymentController(options: DeploymentControllerOptions = {}): ControllerDefinition {
  const compiled = compileDeploymentControllerOptions(options);
  return {
    name: 'deployment',
    aliases: ['deployment-controller'],
    type: DEPLOYMENTS,
    defaultWorkers: compiled.workers,
    build: (dependencies) => build(dependencies, compiled),
  };
}

/** The Deployment controller as the registry knows it. */
export const deploymentController: ControllerDefinition = createDeploymentController();

function build(
  { informers, events, clock }: ControllerDependencies,
  options: CompiledDeploymentControllerOptions,
): BuiltController {
  const deployments = informers.informerFor<Deployment>(DEPLOYMENTS);
  const replicaSets = informers.informerFor<ReplicaSet>(REPLICA_SETS);
  const pods = informers.informerFor<Pod>(PODS);
  deployments.addIndex(SELECTOR_INDEX, selectorIndex);
  deployments.addIndex(TEMPLATE_INDEX, templateIndex);
  replicaSets.addIndex(ORPHAN_INDEX, orphanIndex);
  const caches = { deployments: deployments.lister, replicaSets: replicaSets.lister, pods: pods.lister };
  const handlers = new DeploymentEventHandlers({ deployments, replicaSets, pods }, options);
  return {
    reconciler: new DeploymentReconciler({
      ...caches,
      events,
      clock,
      rules: options,
    }),
    watch: (enqueue) => {
      const removals = [handlers.watch(enqueue), watchSelectorOverlaps({ informer: deployments, events })];
      return () => removals.forEach((remove) => remove());
    },
    needsSync: (key) => needsSync(key, { ...caches, clock, rules: options }),
    due: () => dueObjects<Deployment>(deployments.lister, isDeploymentDue),
  };
}
