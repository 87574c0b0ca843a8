import type {
  DaemonSetSpec,
  DaemonSetStatus,
  StatefulSetSpec,
  StatefulSetStatus,
} from '@rollkeeper/machinery/types/apps-v1';
import type { CronJobSpec, CronJobStatus, JobSpec, JobStatus } from '@rollkeeper/machinery/types/batch-v1';
import type { ServiceSpec, ServiceStatus } from '@rollkeeper/machinery/types/core-v1';
import type { IngressSpec, IngressStatus } from '@rollkeeper/machinery/types/networking-v1';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type * as objects from '@rollkeeper/machinery/kubernetes';
import {
  DEPLOYMENTS,
  LEASES,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUMES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  REPLICA_SETS,
  SERVICES,
  SERVICE_ACCOUNTS,
  STORAGE_CLASSES,
  apiVersionOf,
} from '@rollkeeper/machinery/kubernetes';

import type { ObjectPart } from '@rollkeeper/client/informer';

type KubernetesObject = objects.KubernetesObject;
type OfKind<Name extends string> = objects.OfKind<Name>;
type TypedResource<T> = objects.TypedResource<T>;

/**
 * A kind of object: its resource in the API, and its type. Built-in kinds are exported under the name of their type, as
 * in `import { Deployment } from 'rollkeeper'`; {@link defineKind} makes others.
 */
export interface Kind<T extends KubernetesObject = KubernetesObject> extends TypedResource<T> {
  readonly part?: undefined;
}

/**
 * A part of each object of a kind, made by {@link partOf}: a controller that names it has a separate cache of these
 * parts.
 */
export interface PartialKind<T extends KubernetesObject = KubernetesObject> extends TypedResource<T> {
  readonly part: ObjectPart;
}

/** What a controller can have a cache of. */
export type CachedKind<T extends KubernetesObject = KubernetesObject> = Kind<T> | PartialKind<T>;

/**
 * A part of each object of a kind, to save the memory of fields that are never read. Its cache is separate from that of
 * the kind itself. Never write a trimmed object back: patch.
 * @param name distinguishes it from other parts of the kind
 * @param keep may change and return the given object
 */
export function partOf<T extends KubernetesObject, Kept extends KubernetesObject>(
  kind: Kind<T>,
  name: string,
  keep: (object: T) => Kept,
): PartialKind<Kept> {
  const part = { name, keep: (object: KubernetesObject) => keep(object as T) };
  const { group, kind: word, namespaced, resource, version } = kind;
  return Object.freeze({ group, version, resource, kind: word, namespaced, part });
}

/** The objects of a kind: `ObjectOf<typeof Website>`. */
export type ObjectOf<K extends Kind> = K extends Kind<infer T> ? T : never;

/** Of {@link defineKind}: the place of a kind in the API. */
export interface KindOptions {
  /** API group, `example.com`; empty for the core group. */
  readonly group: string;
  /** `v1`, `v1alpha1`. */
  readonly version: string;
  /** `Website`. */
  readonly kind: string;
  /** The plural in the path. @default the kind in lower case with an s, es or ies, as kubebuilder guesses it */
  readonly resource?: string;
  /** @default true */
  readonly namespaced?: boolean;
}

/**
 * Defines a custom kind, or one that is not among the built-in ones.
 * @example const Website = defineKind<Website>({ group: 'example.com', version: 'v1', kind: 'Website' });
 * @throws InvalidOptionError naming the field
 */
export function defineKind<T extends KubernetesObject>(options: KindOptions): Kind<T> {
  const { group, kind, namespaced = true, resource = pluralOf(kind), version } = options;
  const mustMatch = (field: keyof KindOptions, value: string, pattern: RegExp, what: string): void => {
    if (!pattern.test(value)) throw new InvalidOptionError(`kind.${field}`, `"${value}" is not ${what}`);
  };
  mustMatch('group', group, /^([a-z0-9-]+(\.[a-z0-9-]+)*)?$/, 'an API group, such as example.com');
  mustMatch('version', version, /^v\d+((alpha|beta)\d+)?$/, 'a version, such as v1 or v1beta1');
  mustMatch('kind', kind, /^[A-Z][A-Za-z0-9]*$/, 'an UpperCamelCase name');
  mustMatch('resource', resource, /^[a-z][a-z0-9-]*$/, 'a lower-case plural');
  return Object.freeze({ group, version, resource, kind, namespaced });
}

/**
 * A kind's place in the API without the type of its objects, for subresources that speak of another: the TokenRequest of a
 * ServiceAccount, say.
 */
export function untyped(kind: Kind): objects.ResourceType {
  return kind;
}

/** The start of a new object of a kind: `{ apiVersion, kind }`. */
export function typeMeta(kind: Kind): Pick<KubernetesObject, 'apiVersion' | 'kind'> {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind };
}

/** Like `meta.UnsafeGuessKindToResource` in apimachinery. */
function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(s|x|ch|sh)$/.test(singular)) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

/** Deployments, `apps/v1`. */
export type Deployment = objects.Deployment;
export const Deployment: Kind<Deployment> = DEPLOYMENTS;
/** ReplicaSets, `apps/v1`. */
export type ReplicaSet = objects.ReplicaSet;
export const ReplicaSet: Kind<ReplicaSet> = REPLICA_SETS;
/** Pods, `v1`. */
export type Pod = objects.Pod;
export const Pod: Kind<Pod> = PODS;
/** Namespaces, `v1`. */
export type Namespace = objects.Namespace;
export const Namespace: Kind<Namespace> = NAMESPACES;
/** Nodes, `v1`. */
export type Node = objects.Node;
export const Node: Kind<Node> = NODES;
/** Leases, `coordination.k8s.io/v1`. */
export type Lease = objects.Lease;
export const Lease: Kind<Lease> = LEASES;

/** Service accounts, `v1`. */
export interface ServiceAccount extends KubernetesObject, OfKind<'ServiceAccount'> {
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: { name?: string }[];
}
export const ServiceAccount: Kind<ServiceAccount> = SERVICE_ACCOUNTS;

/** ConfigMaps, `v1`. */
export interface ConfigMap extends KubernetesObject, OfKind<'ConfigMap'> {
  data?: Record<string, string>;
  /** Base64. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
}
export const ConfigMap = core<ConfigMap>('ConfigMap');

/** Secrets, `v1`. */
export interface Secret extends KubernetesObject, OfKind<'Secret'> {
  /** Base64. */
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  type?: string;
  immutable?: boolean;
}
export const Secret = core<Secret>('Secret');

/** Services, `v1`. */
export interface Service extends KubernetesObject, OfKind<'Service'> {
  spec: ServiceSpec;
  status?: ServiceStatus;
}
export const Service: Kind<Service> = SERVICES;

/** PersistentVolumeClaims, `v1`. */
export type PersistentVolumeClaim = objects.PersistentVolumeClaim;
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim> = PERSISTENT_VOLUME_CLAIMS;
/** PersistentVolumes, `v1`. */
export type PersistentVolume = objects.PersistentVolume;
export const PersistentVolume: Kind<PersistentVolume> = PERSISTENT_VOLUMES;
/** StorageClasses, `storage.k8s.io/v1`. */
export type StorageClass = objects.StorageClass;
export const StorageClass: Kind<StorageClass> = STORAGE_CLASSES;

/** StatefulSets, `apps/v1`. */
export interface StatefulSet extends KubernetesObject, OfKind<'StatefulSet'> {
  spec: StatefulSetSpec;
  status?: StatefulSetStatus;
}
export const StatefulSet = defineKind<StatefulSet>({ group: 'apps', version: 'v1', kind: 'StatefulSet' });

/** DaemonSets, `apps/v1`. */
export interface DaemonSet extends KubernetesObject, OfKind<'DaemonSet'> {
  spec: DaemonSetSpec;
  status?: DaemonSetStatus;
}
export const DaemonSet = defineKind<DaemonSet>({ group: 'apps', version: 'v1', kind: 'DaemonSet' });

/** Jobs, `batch/v1`. */
export interface Job extends KubernetesObject, OfKind<'Job'> {
  spec: JobSpec;
  status?: JobStatus;
}
export const Job = defineKind<Job>({ group: 'batch', version: 'v1', kind: 'Job' });

/** CronJobs, `batch/v1`. */
export interface CronJob extends KubernetesObject, OfKind<'CronJob'> {
  spec: CronJobSpec;
  status?: CronJobStatus;
}
export const CronJob = defineKind<CronJob>({ group: 'batch', version: 'v1', kind: 'CronJob' });

/** Ingresses, `networking.k8s.io/v1`. */
export interface Ingress extends KubernetesObject, OfKind<'Ingress'> {
  spec: IngressSpec;
  status?: IngressStatus;
}
export const Ingress = defineKind<Ingress>({ group: 'networking.k8s.io', version: 'v1', kind: 'Ingress' });

function core<T extends KubernetesObject>(kind: string): Kind<T> {
  return defineKind<T>({ group: '', version: 'v1', kind });
}
