import type { Clock } from '@rollkeeper/machinery/clock';
import type {
  Informer,
  InformerSource,
  ControllerDefinition,
  ControllerTraits,
  Kind,
} from '@rollkeeper/runtime';
import { Pod, ReplicaSet, defineController, indexBy, own, workOf } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { RollkeeperDeployment, findCondition, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import {
  LABEL_INDEX,
  ORPHAN_INDEX,
  nodeLabels,
  SELECTOR_INDEX,
  TEMPLATE_INDEX,
  labelIndex,
  orphanIndex,
  selectorIndex,
  templateIndex,
  watchFreedRoom,
  watchSelectorOverlaps,
} from '../shared/index.js';
import type {
  CompiledDeploymentControllerOptions,
  DeploymentControllerOptions,
} from './deployment.options.js';
import { compileDeploymentControllerOptions } from './deployment.options.js';
import type { DeploymentApi } from './kubernetes/deployment-api.js';
import { completeDeployment, deploymentTypeOf } from './kubernetes/deployment-api.js';
import {
  isDeploymentDue,
  replicaSetUrgency,
  urgencyOf,
  watchAbandonedExperiments,
  watchAskedEvictions,
  watchLastPods,
} from './event-handlers.js';
import type { Budgets } from './policies/budgets/budgets.js';
import { budgetSource, watchBudgets } from './policies/budgets/budgets.js';
import { CheckMeasuring } from './policies/checks/check-measuring.js';
import { RolloutCheckMeter } from './policies/checks/rollout-check-meter.js';
import type { Configuration } from './policies/config-restart/config-digests.js';
import {
  CONFIG_SOURCES,
  configContents,
  watchConfiguration,
} from './policies/config-restart/config-digests.js';
import {
  SERVICES_OF_POLICY,
  selectingServices,
  watchSelectingServices,
} from './policies/blue-green/selecting-services.js';
import { ROUTES_OF_POLICY, watchRoutes, weightedRoutes } from './policies/traffic/routes.js';
import { watchSideServices } from './policies/side-services/side-services.js';
import { servicesUsedBy } from './policies/services-used-by.js';
import { namespaceDefaults, watchNamespaceDefaults } from './state/namespace-defaults.js';
import { orderSource } from './state/rollout-order.js';
import { ORDER_INDEX, orderIndex, watchOrder } from './state/watch-order.js';
import type { Turns } from './policies/turns/turns.js';
import { TURN_INDEX, queuedIn, turnIndex } from './policies/turns/turns.js';
import { REPLICA_SET_CREATE_ERROR } from './kubernetes/reasons.js';
import type { PlannedPass, SeenDeployment } from './reconcile.js';
import { DeploymentReconciler } from './reconcile.js';

type Identity = Pick<ControllerTraits, 'name' | 'aliases' | 'serviceAccount' | 'trims'>;

/** The two APIs have separate queues and locks, and so do two objects with the same name. */
const IDENTITIES: Readonly<Record<DeploymentApi, Identity>> = {
  'apps/v1': { name: 'deployment', aliases: ['deployment-controller'] },
  'rollkeeper.dev/v1': {
    name: 'rollkeeper-deployment',
    // If it runs alone, these names mean this controller.
    aliases: ['deployment', 'deployment-controller'],
    serviceAccount: 'deployment-controller',
    trims: new Map([
      [qualifiedResource(RollkeeperDeployment), (object) => completeDeployment(object as Deployment)],
    ]),
  },
};

/** Name of the controller for an API's Deployments. */
export function deploymentControllerName(api: DeploymentApi): string {
  return IDENTITIES[api].name;
}

/** The Deployment controller with custom options. */
export function createDeploymentController(options: DeploymentControllerOptions = {}): ControllerDefinition {
  const compiled = compileDeploymentControllerOptions(options);
  const { api, rules, waits, workers } = compiled;
  const kind: Kind<Deployment> = deploymentTypeOf(api);
  return defineController<Deployment, SeenDeployment, PlannedPass>(
    { ...IDENTITIES[api], for: kind, workers, perNamespace: true },
    ({ clock, events, informers }) => {
      const deployments = informers.informerFor<Deployment>(kind);
      const others = neighboursIn(informers, compiled);
      const caches = {
        deployments: deployments.lister,
        replicaSets: informers.informerFor<ReplicaSet>(ReplicaSet).lister,
        pods: informers.informerFor<Pod>(Pod).lister,
      };
      const { pods, replicaSets } = caches;
      const sources = policySources(compiled, { informers, clock, deployments, others, pods, replicaSets });
      const kinds = [kind, ...compiled.neighbours.map(deploymentTypeOf)];
      const reconciler = new DeploymentReconciler({ ...caches, ...sources, clock, kinds, rules });
      return {
        ...workOf(reconciler),
        urgency: (event) => urgencyOf(event, waits),
        owns: [
          own<ReplicaSet, Deployment>(ReplicaSet, {
            adoptable: true,
            urgency: replicaSetUrgency(caches.replicaSets, waits),
          }),
        ],
        watches: watchesOf(kind, compiled, sources.defaultsOf),
        indexes: indexesOf(kind, compiled),
        whileLeading: () =>
          watchSelectorOverlaps({
            informer: deployments,
            others: others.map(({ lister }) => lister),
            events,
            concerns: (one, other) => !isHandedOver(one, other),
          }),
        needsSync: (key) => reconciler.needsSync(key),
        isDue: isDeploymentDue,
      };
    },
  );
}

/** The Deployments of the other APIs, which may want the same ReplicaSets. */
function neighboursIn(
  informers: InformerSource,
  { neighbours }: CompiledDeploymentControllerOptions,
): readonly Informer<Deployment>[] {
  const others = neighbours.map((other) =>
    informers.informerFor<Deployment>(deploymentTypeOf(other), { optional: true }),
  );
  for (const other of others) {
    other.addIndex(SELECTOR_INDEX, selectorIndex);
    other.addIndex(TEMPLATE_INDEX, templateIndex);
  }
  return others;
}

/**
 * The sources that the policies of rollouts read, each 'off' if it is not asked for, so that nothing is cached for it.
 */
function policySources(
  compiled: CompiledDeploymentControllerOptions,
  { clock, deployments, informers, others, pods, replicaSets }: SourceParts,
) {
  const {
    blueGreen,
    checks,
    drainSessions,
    evictionRequests,
    experimentServices,
    maxRollouts,
    pinConfig,
    respectDisruptionBudgets,
    restartOnConfig,
    traffic,
    watchAdmission,
    workers,
    zones,
  } = compiled;
  const all = [deployments, ...others];
  const defaultsOf = namespaceDefaults(informers);
  const listers = all.map(({ lister }) => lister);
  const configuration: Configuration = restartOnConfig ? configContents(informers, pinConfig) : 'off';
  const budgets: Budgets = respectDisruptionBudgets ? budgetSource(informers, pods) : 'off';
  const services =
    blueGreen || traffic || experimentServices
      ? selectingServices(informers, { deployments: listers, replicaSets, pods }, defaultsOf, servicesUsedBy)
      : ('off' as const);
  return {
    defaultsOf,
    surroundings: {
      ...{ configuration, budgets },
      services: blueGreen || traffic ? services : ('off' as const),
      experimentServices: experimentServices ? services : ('off' as const),
      routes: traffic ? weightedRoutes(informers, listers) : ('off' as const),
      turns: turnSource(maxRollouts, all),
      order: orderSource({ deployments: deployments.lister, replicaSets, pods, clock, defaultsOf }),
      nodes: zones ? nodeLabels(informers) : ('off' as const),
      drainsSessions: drainSessions,
      respondsToEvictions: evictionRequests,
      watchesAdmission: watchAdmission,
    },
    measuring: checks && new CheckMeasuring(new RolloutCheckMeter(clock, checks), workers),
    checkHosts: checks && (checks.hosts ?? []),
  };
}

interface SourceParts {
  readonly informers: InformerSource;
  readonly clock: Clock;
  readonly deployments: Informer<Deployment>;
  readonly others: readonly Informer<Deployment>[];
  readonly pods: Informer<Pod>['lister'];
  readonly replicaSets: Informer<ReplicaSet>['lister'];
}

function watchesOf(
  kind: Kind<Deployment>,
  {
    blueGreen,
    experimentServices,
    respectDisruptionBudgets,
    restartOnConfig,
    traffic,
    waits,
  }: CompiledDeploymentControllerOptions,
  defaultsOf: ReturnType<typeof namespaceDefaults>,
) {
  return [
    { ...watchLastPods(kind), urgency: { delayMs: waits.burstMs } },
    { ...watchAskedEvictions(kind), urgency: { onlyIfNeeded: true } },
    watchAbandonedExperiments(),
    watchNamespaceDefaults(kind),
    ...watchOrder(kind),
    ...(restartOnConfig ? watchConfiguration(kind, defaultsOf) : []),
    ...(respectDisruptionBudgets ? [watchBudgets(kind, defaultsOf)] : []),
    ...(blueGreen || traffic ? [watchSelectingServices(kind, defaultsOf)] : []),
    ...(experimentServices ? [watchSideServices(kind)] : []),
    ...(traffic ? watchRoutes(kind, defaultsOf) : []),
    // Sooner than the backoff; where quotas may not be read, the backoff remains.
    { ...watchFreedRoom(kind, lacksItsReplicaSet), optional: true, mustBeSeen: false },
  ];
}

function indexesOf(
  kind: Kind<Deployment>,
  { blueGreen, respectDisruptionBudgets, restartOnConfig, traffic }: CompiledDeploymentControllerOptions,
) {
  return [
    indexBy(kind, TEMPLATE_INDEX, templateIndex),
    indexBy(kind, ORDER_INDEX, orderIndex),
    ...(restartOnConfig ? [indexBy(kind, CONFIG_SOURCES.name, CONFIG_SOURCES.valuesOf)] : []),
    ...(respectDisruptionBudgets || blueGreen || traffic ? [indexBy<Pod>(Pod, LABEL_INDEX, labelIndex)] : []),
    ...(blueGreen || traffic ? [indexBy(kind, SERVICES_OF_POLICY.name, SERVICES_OF_POLICY.valuesOf)] : []),
    ...(traffic ? [indexBy(kind, ROUTES_OF_POLICY.name, ROUTES_OF_POLICY.valuesOf)] : []),
    indexBy<ReplicaSet>(ReplicaSet, ORPHAN_INDEX, orphanIndex),
  ];
}

/** The queue of rollouts, of all APIs. */
function turnSource(
  maxRollouts: number | 'off',
  informers: readonly Pick<Informer<Deployment>, 'addIndex' | 'lister'>[],
): Turns {
  if (maxRollouts === 'off') return 'off';
  for (const informer of informers) informer.addIndex(TURN_INDEX, turnIndex);
  return {
    ...(maxRollouts > 0 && { clusterLimit: maxRollouts }),
    queued: () => queuedIn(...informers.map(({ lister }) => lister)),
  };
}

/** The Deployment controller with its default options. */
export const deploymentController: ControllerDefinition = createDeploymentController();

/** A quota may limit the number of ReplicaSets. */
function lacksItsReplicaSet({ status }: DeepReadonly<Deployment>): boolean {
  return findCondition(status?.conditions, 'Progressing')?.reason === REPLICA_SET_CREATE_ERROR;
}

/** While being moved from one API to the other, a Deployment briefly exists in both, paused in both. */
function isHandedOver(one: DeepReadonly<Deployment>, other: DeepReadonly<Deployment>): boolean {
  return (
    one.apiVersion !== other.apiVersion &&
    one.metadata.name === other.metadata.name &&
    one.spec.paused === true &&
    other.spec.paused === true
  );
}
