import type { ControllerDefinition } from '@rollkeeper/runtime';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { SigningAuthority } from './certificates/certificate-controllers.js';
import {
  certificateApprovingController,
  certificateCleanerController,
  certificateSigningController,
  createCertificateSigningController,
} from './certificates/certificate-controllers.js';
import {
  bootstrapSignerController,
  tokenCleanerController,
} from './bootstrap-tokens/bootstrap-token-controllers.js';
import { ttlController } from './ttl/ttl-controller.js';
import { attachDetachController } from './attach-detach/attach-detach.js';
import { cloudNodeLifecycleController, nodeRouteController } from './cloud-node/cloud-node.js';
import { deviceTaintEvictionController } from './device-taint-eviction/device-taint-eviction.js';
import { nodeIpamController } from './node-ipam/node-ipam.js';
import { persistentVolumeExpanderController } from './persistentvolume-expander/persistentvolume-expander.js';
import { resourceClaimController } from './resource-claim/resource-claim-controller.js';
import { serviceCidrController } from './service-cidr/service-cidr.js';
import { legacyTokenCleanerController } from './token-cleanup/legacy-tokens.js';
import { cronJobController } from './cronjob/cronjob-controller.js';
import { daemonSetController } from './daemonset/daemonset-controller.js';
import type { DeploymentApi, DeploymentControllerOptions } from './deployment/index.js';
import {
  createAdmissionDriftController,
  createDeploymentController,
  createDrainController,
  createEvictionResponder,
  createExperimentsController,
  createRecordController,
  createTurnsController,
  deploymentController,
  deploymentTypeOf,
} from './deployment/index.js';
import { EVICTION_REQUEST_CONTROLLERS } from './eviction-request/index.js';
import { disruptionController } from './disruption/disruption-controller.js';
import { garbageCollectorController } from './garbage-collector/garbage-collector-definition.js';
import { horizontalPodAutoscalerController } from './horizontal-pod-autoscaler/horizontal-pod-autoscaler-controller.js';
import { jobController } from './job/job-controller.js';
import { namespaceController } from './namespace/namespace-definition.js';
import { nodeLifecycleController } from './node-lifecycle/node-lifecycle-controller.js';
import { taintEvictionController } from './node-lifecycle/taint-eviction-controller.js';
import { podGarbageCollectorController } from './pod-garbage-collector/pod-garbage-collector.js';
import { createReplicaSetController, replicaSetController } from './replicaset/index.js';
import {
  createReplicationControllerController,
  replicationControllerController,
} from './replicationcontroller/replicationcontroller.js';
import { rootCaPublisherController, serviceAccountController } from './serviceaccount/namespace-furniture.js';
import { serviceAccountTokenController } from './serviceaccount/token-secrets.js';
import { endpointSliceController } from './service-endpoints/endpoint-slice-controller.js';
import { endpointSliceMirroringController } from './service-endpoints/mirroring-controller.js';
import { endpointsController } from './service-endpoints/endpoints-controller.js';
import { createDaemonSetRollouts, createStatefulSetRollouts } from './set-rollouts/index.js';
import { statefulSetController } from './statefulset/statefulset-controller.js';
import { ttlAfterFinishedController } from './ttl-after-finished/ttl-after-finished.js';
import { ephemeralVolumeController } from './ephemeral-volume/ephemeral-volume.js';
import { persistentVolumeBinderController } from './persistentvolume-binder/persistentvolume-binder.js';
import { serviceLoadBalancerController } from './service-lb/service-lb-controller.js';
import {
  attributesClassProtectionController,
  claimProtectionController,
  volumeProtectionController,
} from './storage-protection/storage-protection.js';
import { volumeProvisionerController } from './volume-provisioner/volume-provisioner.js';

/**
 * Controllers of kube-controller-manager 1.36 without a counterpart here, with their accepted older names: what they
 * manage is not part of a standalone cluster, is done by the embedded API server, or is left to the cluster's own
 * control plane. A `--controllers` list written for kube-controller-manager may contain them. Source:
 * cmd/kube-controller-manager/names and the descriptors in cmd/kube-controller-manager/app.
 */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'clusterrole-aggregation-controller': ['clusterrole-aggregation'],
  'kube-apiserver-serving-clustertrustbundle-publisher-controller': [],
  'podcertificaterequest-cleaner-controller': [],
  'resourcequota-controller': ['resourcequota'],
  'selinux-warning-controller': [],
  'storage-version-migrator-controller': [],
  'storageversion-garbage-collector-controller': ['storage-version-gc'],
  'validatingadmissionpolicy-status-controller': ['validatingadmissionpolicy-status'],
};

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(ELSEWHERE).flatMap(([name, aliases]) => [name, ...aliases].map((each) => [each, name])),
);

/** The canonical name of a genuine controller without a counterpart here, for any of its names. */
export function genuineControllerElsewhere(name: string): string | undefined {
  return NAMES.get(name);
}

/** The canonical names of all of them. */
export function genuineControllersElsewhere(): readonly string[] {
  return Object.keys(ELSEWHERE);
}

/** All controllers. */
export const CONTROLLERS: readonly ControllerDefinition[] = [
  deploymentController,
  replicaSetController,
  garbageCollectorController,
  namespaceController,
  serviceAccountController,
  serviceAccountTokenController,
  rootCaPublisherController,
  endpointsController,
  endpointSliceController,
  endpointSliceMirroringController,
  disruptionController,
  nodeLifecycleController,
  taintEvictionController,
  podGarbageCollectorController,
  replicationControllerController,
  jobController,
  cronJobController,
  statefulSetController,
  daemonSetController,
  ttlAfterFinishedController,
  horizontalPodAutoscalerController,
  persistentVolumeBinderController,
  claimProtectionController,
  volumeProtectionController,
  ephemeralVolumeController,
  volumeProvisionerController,
  serviceLoadBalancerController,
  certificateApprovingController,
  certificateSigningController,
  certificateCleanerController,
  ttlController,
  bootstrapSignerController,
  tokenCleanerController,
  resourceClaimController,
  deviceTaintEvictionController,
  attachDetachController,
  persistentVolumeExpanderController,
  attributesClassProtectionController,
  nodeIpamController,
  serviceCidrController,
  legacyTokenCleanerController,
  nodeRouteController,
  cloudNodeLifecycleController,
];

export interface SelectOptions {
  readonly standalone?: boolean;
  readonly all?: readonly ControllerDefinition[];
}

/** `selected`, with one Deployment controller per API if the Deployment controller is selected. */
export function forDeploymentApis(
  selected: readonly ControllerDefinition[],
  apis: readonly DeploymentApi[],
  options: Pick<
    DeploymentControllerOptions,
    | 'blueGreen'
    | 'checks'
    | 'drainSessions'
    | 'evictionRequests'
    | 'experimentServices'
    | 'maxRollouts'
    | 'pinConfig'
    | 'respectDisruptionBudgets'
    | 'restartOnConfig'
    | 'traffic'
    | 'watchAdmission'
    | 'zones'
  > & {
    /** Whether histories are kept for Deployments that ask for it. @default false */
    readonly lastingHistory?: boolean;
    /** Whether StatefulSets that ask for it are rolled out by policies. @default false */
    readonly statefulSets?: boolean;
    /** The same for DaemonSets. @default false */
    readonly daemonSets?: boolean;
  } = {},
): readonly ControllerDefinition[] {
  return selected.flatMap((definition) => {
    if (definition === deploymentController) {
      const {
        lastingHistory = false,
        statefulSets = false,
        daemonSets = false,
        ...deploymentOptions
      } = options;
      const { maxRollouts = 'off' } = deploymentOptions;
      const controllers = apis.map((api) =>
        createDeploymentController({
          ...deploymentOptions,
          api,
          neighbours: apis.filter((other) => other !== api),
        }),
      );
      if (deploymentOptions.watchAdmission)
        controllers.push(...apis.map((api) => createAdmissionDriftController(api)));
      if (deploymentOptions.drainSessions) controllers.push(createDrainController());
      if (deploymentOptions.evictionRequests) controllers.push(createEvictionResponder(apis));
      controllers.push(createExperimentsController({ checks: options.checks }));
      if (lastingHistory) controllers.push(...apis.map((api) => createRecordController(api)));
      if (daemonSets) controllers.push(createDaemonSetRollouts({ checks: deploymentOptions.checks }));
      if (statefulSets) controllers.push(createStatefulSetRollouts({ checks: deploymentOptions.checks }));
      if (maxRollouts === 'off') return controllers;
      return [...controllers, createTurnsController({ apis, clusterLimit: maxRollouts || undefined })];
    }
    if (definition === replicationControllerController)
      return createReplicationControllerController({ zones: options.zones });
    if (definition === replicaSetController)
      return createReplicaSetController({ zones: options.zones }, apis.map(deploymentTypeOf));
    return definition;
  });
}

/** `selected`, with a signing authority if that controller is selected. */
export function withSigningAuthority(
  selected: readonly ControllerDefinition[],
  authority: SigningAuthority | undefined,
): readonly ControllerDefinition[] {
  if (!authority) return selected;
  return selected.map((definition) =>
    definition === certificateSigningController ? createCertificateSigningController(authority) : definition,
  );
}

/**
 * `selected`, with the controllers of evictions by request: a cluster that has the feature has its own, so they come only
 * with a whole control plane.
 */
export function withEvictionRequests(
  selected: readonly ControllerDefinition[],
  options: { readonly 'eviction-requests': boolean; readonly standalone: boolean },
): readonly ControllerDefinition[] {
  const isAdded = options['eviction-requests'] && options.standalone;
  return isAdded ? [...selected, ...EVICTION_REQUEST_CONTROLLERS] : selected;
}

type Named = Pick<ControllerDefinition, 'name' | 'aliases'>;

/**
 * Selects controllers by kube-controller-manager's syntax: `name` includes one, `-name` excludes it, `*` includes all
 * that the list does not name. The first mention of a controller, under any of its names, decides; one that is not
 * mentioned, in a list without `*`, does not run. Names of kube-controller-manager's controllers without a counterpart
 * here are accepted and select nothing, see {@link controllersElsewhere}. Source: `IsControllerEnabled` in
 * k8s.io/controller-manager/app.
 * @param list comma-separated, for example `*,-namespace-controller`
 * @param options.standalone whether there is no kube-controller-manager, so that `*` means all of them
 * @throws InvalidOptionError for an unknown name, or if nothing is left
 */
export function selectControllers(
  list: string,
  { standalone = false, all = CONTROLLERS }: SelectOptions = {},
): readonly ControllerDefinition[] {
  const entries = entriesOf(list, all);
  const others = entries.some((entry) => entry.name === '*');
  const chosen = all.filter(({ byDefault, name }) => {
    const first = entries.find((entry) => entry.name === name);
    return first ? first.wanted : others && (standalone || byDefault !== 'standalone');
  });
  if (chosen.length === 0) throw new InvalidOptionError('controllers', `"${list}" leaves no controller`);
  return chosen;
}

/**
 * The controllers that a list includes (`name`, not `-name`) and that have no counterpart here, by their canonical
 * names, each once.
 */
export function controllersElsewhere(list: string): readonly string[] {
  const names = entriesOf(list, CONTROLLERS)
    .filter(({ wanted }) => wanted)
    .flatMap(({ name }) => genuineControllerElsewhere(name) ?? []);
  return [...new Set(names)].toSorted();
}

/** The controller with this name or alias. */
export function findController<T extends Named>(name: string, all: readonly T[]): T | undefined {
  return all.find((each) => each.name === name || each.aliases?.includes(name));
}

interface Entry {
  /** The controller's own name, or `*`. */
  readonly name: string;
  readonly wanted: boolean;
}

function entriesOf(list: string, all: readonly Named[]): readonly Entry[] {
  return list.split(',').map((part) => readEntry(part.trim(), all));
}

function readEntry(entry: string, all: readonly Named[]): Entry {
  if (entry === '*') return { name: '*', wanted: true };
  const wanted = !entry.startsWith('-');
  const asked = wanted ? entry : entry.slice(1);
  const name = findController(asked, all)?.name ?? genuineControllerElsewhere(asked);
  if (name !== undefined) return { name, wanted };
  throw new InvalidOptionError('controllers', `"${entry}" is no controller; docs/CONTROLLERS.md lists them`);
}
