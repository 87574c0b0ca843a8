import type {
  BuiltController,
  ControllerDefinition,
  ControllerDependencies,
  ContentTrim,
} from '@rollkeeper/runtime';
import { dueObjects } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  Deployment,
  Pod,
  ReplicaSet,
  ResourceQuota,
} from '@rollkeeper/machinery/kubernetes';
import {
  PODS,
  REPLICA_SETS,
  RESOURCE_QUOTAS,
  ROLLKEEPER_DEPLOYMENTS,
  qualifiedResource,
} from '@rollkeeper/machinery/kubernetes';
import {
  ORPHAN_INDEX,
  SELECTOR_INDEX,
  TEMPLATE_INDEX,
  orphanIndex,
  selectorIndex,
  templateIndex,
  watchFreedQuotas,
  watchSelectorOverlaps,
} from '../shared/index.js';
import type {
  CompiledDeploymentControllerOptions,
  DeploymentControllerOptions,
} from './deployment.options.js';
import { compileDeploymentControllerOptions } from './deployment.options.js';
import type { DeploymentApi } from './deployment-api.js';
import { completeDeployment, deploymentTypeOf } from './deployment-api.js';
import { DeploymentEventHandlers, isDeploymentDue } from './event-handlers.js';
import { findCondition } from './conditions.js';
import { REPLICA_SET_CREATE_ERROR } from './reasons.js';
import { DeploymentReconciler } from './reconcile.js';

type Identity = Pick<ControllerDefinition, 'name' | 'aliases' | 'serviceAccount' | 'trims'>;

/** The queues and locks of two APIs are apart, and so are two objects of one name. */
const IDENTITIES: Readonly<Record<DeploymentApi, Identity>> = {
  'apps/v1': { name: 'deployment', aliases: ['deployment-controller'] },
  'rollkeeper.dev/v1': {
    name: 'rollkeeper-deployment',
    // Where it runs alone, that is what people mean.
    aliases: ['deployment', 'deployment-controller'],
    serviceAccount: 'deployment-controller',
    trims: new Map([
      [qualifiedResource(ROLLKEEPER_DEPLOYMENTS), completeDeployment as unknown as ContentTrim],
    ]),
  },
};

/** What the controller of an API's Deployments is called. */
export function deploymentControllerName(api: DeploymentApi): string {
  return IDENTITIES[api].name;
}

/** The Deployment controller as the registry knows it, with other than the default options. */
export function createDeploymentController(options: DeploymentControllerOptions = {}): ControllerDefinition {
  const compiled = compileDeploymentControllerOptions(options);
  return {
    ...IDENTITIES[compiled.api],
    type: deploymentTypeOf(compiled.api),
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
  const deployments = informers.informerFor<Deployment>(deploymentTypeOf(options.api));
  const replicaSets = informers.informerFor<ReplicaSet>(REPLICA_SETS);
  const pods = informers.informerFor<Pod>(PODS);
  // Sooner than the backoff; where it may not be read, the backoff remains.
  const quotas = informers.informerFor<ResourceQuota>(RESOURCE_QUOTAS, { optional: true });
  const neighbours = options.neighbours.map((api) =>
    informers.informerFor<Deployment>(deploymentTypeOf(api), { optional: true }),
  );
  for (const informer of [deployments, ...neighbours]) {
    informer.addIndex(SELECTOR_INDEX, selectorIndex);
    informer.addIndex(TEMPLATE_INDEX, templateIndex);
  }
  replicaSets.addIndex(ORPHAN_INDEX, orphanIndex);
  const caches = { deployments: deployments.lister, replicaSets: replicaSets.lister, pods: pods.lister };
  const handlers = new DeploymentEventHandlers({ deployments, replicaSets, pods }, options.waits);
  const reconciler = new DeploymentReconciler({ ...caches, events, clock, rules: options.rules });
  return {
    reconciler,
    watch: (enqueue) => {
      const removals = [
        handlers.watch(enqueue),
        watchFreedQuotas({ quotas, objects: deployments, waitsForRoom: lacksItsReplicaSet, enqueue }),
        watchSelectorOverlaps({
          informer: deployments,
          others: neighbours.map(({ lister }) => lister),
          events,
          concerns: (one, other) => !isHandedOver(one, other),
        }),
      ];
      return () => removals.forEach((remove) => remove());
    },
    needsSync: (key) => reconciler.needsSync(key),
    due: () => dueObjects<Deployment>(deployments.lister, isDeploymentDue),
  };
}

/** A quota may limit how many ReplicaSets there are. */
function lacksItsReplicaSet({ status }: DeepReadonly<Deployment>): boolean {
  return findCondition(status?.conditions, 'Progressing')?.reason === REPLICA_SET_CREATE_ERROR;
}

/** On its way from one API to the other, a Deployment is in both for a moment, and paused in both. */
function isHandedOver(one: DeepReadonly<Deployment>, other: DeepReadonly<Deployment>): boolean {
  return (
    one.apiVersion !== other.apiVersion &&
    one.metadata.name === other.metadata.name &&
    one.spec.paused === true &&
    other.spec.paused === true
  );
}
