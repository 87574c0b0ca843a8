import type {
  InformerSource,
  Kind,
  PartialKind,
  ResourceEvent,
  WatchedKind,
  Lister,
} from '@rollkeeper/runtime';
import { NAMESPACE_INDEX, Service, partOf, watch, labelIndexValue } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  Deployment,
  KubernetesObject,
  Pod,
  ReplicaSet,
} from '@rollkeeper/machinery/kubernetes';
import {
  isJsonObject,
  semanticEqual,
  compileLabelSelector,
  controllerOf,
  isPodActive,
  keyOf,
} from '@rollkeeper/machinery/kubernetes';
import {
  POD_TEMPLATE_HASH,
  isShortText,
  isTime,
  readJson,
  TEMPLATE_INDEX,
  selectedFrom,
} from '../../../shared/index.js';
import type { Annotations } from '../../kubernetes/annotations.js';
import type { BlueGreen } from './settings.js';
import { MANAGED_BY, SWITCHED } from './settings.js';
import { OBJECT_NAME, annotationOf } from '../common/names.js';
import { maySteer, trafficServicesOf } from '../common/steered-services.js';

/** The selector of a Service, and what a policy has noted on it. */
export interface SelectingService extends KubernetesObject {
  readonly selector?: Readonly<Record<string, string>>;
  /** The ports, as far as another Service can have the same ones. @default none */
  readonly ports?: readonly ServedPort[];
}

/** A port of a Service, without what belongs to that Service alone. */
export type ServedPort = Pick<
  NonNullable<Service['spec']['ports']>[number],
  'appProtocol' | 'name' | 'port' | 'protocol' | 'targetPort'
>;

/** The last move of a Service's selector, as it is noted on the Service in the same write. */
export interface Switch {
  /** The pod-template-hash that it selects since. */
  readonly to: string;
  /** The one before. */
  readonly from?: string;
  /** RFC 3339. */
  readonly at: string;
  /** The name of the approver. */
  readonly by?: string;
}

/** The Services that the caches know. */
export interface Services {
  find(namespace: string, name: string): DeepReadonly<SelectingService> | undefined;
  /** All Services of a namespace. */
  inNamespace(namespace: string): readonly DeepReadonly<SelectingService>[];
  /** The Services whose selector rollouts of this Deployment have moved. */
  managedBy(namespace: string, deployment: string): readonly DeepReadonly<SelectingService>[];
  /** Services that a deleted Deployment has left behind. */
  leftBy(namespace: string, deployment: string): readonly DeepReadonly<SelectingService>[];
  /** Names a workload other than the Deployment whose pods these labels select. */
  otherWorkload(
    deployment: DeepReadonly<Deployment>,
    labels: Readonly<Record<string, string>>,
  ): string | undefined;
  /** Whether the other API has a Deployment of this name as well, which is not being moved from one to the other. */
  hasTwin(deployment: DeepReadonly<Deployment>): boolean;
  /** Whether the policy of a Deployment names a Service. */
  isUsedBy(namespace: string, deployment: string, service: string): boolean;
  /** `starting`: the first list is under way. `refused`: the server does not give it. */
  readonly availability: 'known' | 'starting' | 'refused';
}

/** `off`: the replica does not watch them. */
export type WatchedServices = Services | 'off';

const MANAGER_INDEX = 'manager';
/** Name of the index that finds Deployments by the Services that they name. */
const SERVICES_INDEX = 'services-of-policy';

export const SELECTING_SERVICES: PartialKind<SelectingService> = partOf(Service, 'selectors', keepSelector);

type DefaultsOf = (namespace: string) => Annotations | undefined;
/** The Services that the policy of a Deployment names, by its annotations and the defaults of its Namespace. */
type UsedServices = (
  deployment: DeepReadonly<Deployment>,
  defaults: Annotations | undefined,
) => readonly string[];

/** If Services may not be listed, no rollout that moves one begins, and the Deployments say so. */
export function selectingServices(
  informers: Pick<InformerSource, 'partialInformerFor'>,
  workloads: Workloads,
  defaultsOf: DefaultsOf,
  servicesUsedBy: UsedServices,
): Services {
  const { deployments } = workloads;
  const informer = informers.partialInformerFor<SelectingService>(SELECTING_SERVICES, { optional: true });
  informer.addIndex(MANAGER_INDEX, ({ metadata }) => {
    const manager = metadata.annotations?.[MANAGED_BY];
    return manager === undefined ? [] : [`${metadata.namespace}/${manager}`];
  });
  const managedBy: Services['managedBy'] = (namespace, deployment) =>
    informer.lister.byIndex(MANAGER_INDEX, `${namespace}/${deployment}`);
  return {
    find: (namespace, name) => informer.lister.get(`${namespace}/${name}`),
    inNamespace: (namespace) => informer.lister.byIndex(NAMESPACE_INDEX, namespace),
    managedBy,
    leftBy: (namespace, name) =>
      deployments.some((lister) => lister.get(`${namespace}/${name}`)) ? [] : managedBy(namespace, name),
    otherWorkload: (deployment, labels) => otherWorkload(workloads, deployment, labels),
    hasTwin: ({ metadata: { name, namespace, uid } }) =>
      deployments.some((lister) => {
        const twin = lister.get(`${namespace}/${name}`);
        return twin !== undefined && twin.metadata.uid !== uid && twin.spec.paused !== true;
      }),
    isUsedBy: (namespace, name, service) =>
      deployments.some((lister) => {
        const deployment = lister.get(`${namespace}/${name}`);
        return deployment && servicesUsedBy(deployment, defaultsOf(namespace)).includes(service);
      }),
    get availability() {
      if (informer.hasSynced) return 'known';
      return informer.trouble ? 'refused' : 'starting';
    },
  };
}

/** A Service that comes, goes, or selects otherwise brings those Deployments back that name it, or have moved it. */
export function watchSelectingServices(kind: Kind<Deployment>, defaultsOf: DefaultsOf): WatchedKind {
  const watched = watch(
    SELECTING_SERVICES,
    ({ metadata }, listerOf) => {
      const { annotations, name, namespace = '' } = metadata;
      const deployments = listerOf(kind);
      const isDefault = SERVICE_SETTINGS.some((setting) => defaultsOf(namespace)?.[setting] === name);
      const manager = annotations?.[MANAGED_BY] ?? '';
      const named = isDefault
        ? deployments.byIndex(NAMESPACE_INDEX, namespace)
        : deployments.byIndex(SERVICES_INDEX, `${namespace}/${name}`);
      // Also one that no longer exists, so that the Service is released.
      const managers = OBJECT_NAME.test(manager) ? [{ namespace, name: manager }] : [];
      return [...named.map((deployment) => deployment.metadata), ...managers];
    },
    hasChanged,
  );
  // At the start as well: of Deployments that were deleted while nothing ran, only the Service is left.
  return { ...watched, optional: true, initially: true, urgency: { onlyIfNeeded: true } };
}

const SERVICE_SETTINGS = ['active-service', 'preview-service', 'stable-service', 'canary-service'].map(
  annotationOf,
);

/** Files a Deployment under the Services that its annotations name. */
export const SERVICES_OF_POLICY = {
  name: SERVICES_INDEX,
  valuesOf: ({ metadata: { annotations, name, namespace } }: DeepReadonly<Deployment>): readonly string[] => {
    const { canary, stable } = trafficServicesOf({}, name);
    const made = maySteer(annotations, undefined) ? [stable, canary] : [];
    return [...SERVICE_SETTINGS.flatMap((setting) => annotations?.[setting] ?? []), ...made].map(
      (service) => `${namespace}/${service}`,
    );
  },
};

/** The Services that annotations name, regardless of what the rest of them says. */
export function servicesNamedBy(
  deployment: Annotations | undefined,
  defaults: Annotations | undefined,
): readonly string[] {
  return SERVICE_SETTINGS.flatMap((setting) => deployment?.[setting] ?? defaults?.[setting] ?? []);
}

/** As it is written, with the API's default. */
export function maxSurgeOf({ strategy }: DeepReadonly<Deployment['spec']>): string | number {
  return strategy?.rollingUpdate?.maxSurge ?? '25%';
}

export function servicesOf(blueGreen: BlueGreen | undefined): readonly string[] {
  if (!blueGreen) return [];
  const { activeService, previewService } = blueGreen;
  return previewService === undefined ? [activeService] : [activeService, previewService];
}

/** The pod-template-hash that a Service selects by. */
export function hashSelectedBy(service: DeepReadonly<SelectingService>): string | undefined {
  return service.selector?.[POD_TEMPLATE_HASH];
}

/** The selector of a Service itself, without the hash that a policy has put there. */
export function ownSelectorOf({ selector = {} }: DeepReadonly<SelectingService>): Record<string, string> {
  const { [POD_TEMPLATE_HASH]: _hash, ...own } = selector;
  return own;
}

/** The last move, if it led to what the Service selects now; another hand may have moved it since. */
export function switchOf(service: DeepReadonly<SelectingService>): Switch | undefined {
  const last = lastSwitchOf(service);
  return last?.to === hashSelectedBy(service) ? last : undefined;
}

/** The last move that a policy made. */
export function lastSwitchOf(service: DeepReadonly<SelectingService>): Switch | undefined {
  const read = readJson(service.metadata.annotations?.[SWITCHED]);
  if (!isJsonObject(read)) return undefined;
  const { at, by, from, to } = read;
  if (!isTime(at) || !isShortText(to)) return undefined;
  return {
    ...{ to, at },
    ...(isShortText(from) && { from }),
    ...(isShortText(by) && { by }),
  };
}

function hasChanged(event: ResourceEvent<SelectingService>): boolean {
  if (event.type !== 'modified') return true;
  const { object, old } = event;
  return (
    !semanticEqual(old.selector, object.selector) ||
    !semanticEqual(old.metadata.annotations, object.metadata.annotations)
  );
}

function keepSelector({ apiVersion, kind, metadata, spec }: Service): SelectingService {
  const {
    annotations = {},
    deletionTimestamp,
    name,
    namespace,
    ownerReferences,
    resourceVersion,
    uid,
  } = metadata;
  const kept = [MANAGED_BY, SWITCHED].flatMap((noted) =>
    annotations[noted] === undefined ? [] : [[noted, annotations[noted]] as const],
  );
  const noted = kept.length > 0 ? { annotations: Object.fromEntries(kept) } : {};
  const owned = {
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(ownerReferences && { ownerReferences }),
  };
  return {
    ...{ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, ...owned, ...noted } },
    ...(spec.selector && { selector: spec.selector, ports: spec.ports?.map(portOf) ?? [] }),
  };
}

function portOf({ appProtocol, name, port, protocol, targetPort }: ServedPort): ServedPort {
  return {
    ...{ port, protocol, targetPort },
    ...(name !== undefined && { name }),
    ...(appProtocol !== undefined && { appProtocol }),
  };
}

/** The caches that show whose pods a Service selects. */
interface Workloads {
  /** The Deployments of each API, with TEMPLATE_INDEX. */
  readonly deployments: readonly Lister<Deployment>[];
  readonly replicaSets: Lister<ReplicaSet>;
  /** With LABEL_INDEX. */
  readonly pods: Lister<Pod>;
}

/**
 * Names a workload other than the Deployment whose pods have these labels: by its template, also while it has no pods, and by
 * its pods. What is about to go with its owner does not count. Undefined: there is none.
 */
function otherWorkload(
  { deployments, pods, replicaSets }: Workloads,
  deployment: DeepReadonly<Deployment>,
  labels: Readonly<Record<string, string>>,
): string | undefined {
  const { namespace = '', uid } = deployment.metadata;
  const [first] = Object.entries(labels);
  if (!first) return undefined;
  const selector = { matchLabels: labels };
  const matches = compileLabelSelector(selector);
  const rival = deployments
    .flatMap((lister) => lister.byIndex(TEMPLATE_INDEX, labelIndexValue(namespace, ...first)))
    .filter(({ metadata }) => metadata.uid !== uid && metadata.deletionTimestamp === undefined)
    .find(({ spec }) => matches(spec.template.metadata?.labels));
  if (rival) return `Deployment "${rival.metadata.name}"`;
  for (const pod of selectedFrom(pods, namespace, selector)) {
    const owner = isPodActive(pod) ? otherOwner(pod) : undefined;
    if (owner !== undefined) return owner;
  }
  return undefined;

  function otherOwner(pod: DeepReadonly<Pod>): string | undefined {
    const controller = controllerOf(pod);
    if (!controller) return `pod "${pod.metadata.name}"`;
    if (controller.kind !== 'ReplicaSet') return `${controller.kind} "${controller.name}"`;
    const set = replicaSets.get(keyOf({ namespace, name: controller.name }));
    if (set?.metadata.uid !== controller.uid) return undefined;
    const of = controllerOf(set);
    if (!of) return isAdoptable(set) ? undefined : `ReplicaSet "${set.metadata.name}"`;
    if (of.uid === uid) return undefined;
    const isGone =
      of.kind === 'Deployment' &&
      deployments.every((lister) => lister.get(keyOf({ namespace, name: of.name }))?.metadata.uid !== of.uid);
    return isGone ? undefined : `${of.kind} "${of.name}"`;
  }

  /** The Deployment takes it over with this pass, or a later one. */
  function isAdoptable({ metadata }: DeepReadonly<ReplicaSet>): boolean {
    return compileLabelSelector(deployment.spec.selector)(metadata.labels);
  }
}
