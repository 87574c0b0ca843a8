import type {
  DaemonSetSpec,
  DaemonSetStatus,
  StatefulSetSpec,
  StatefulSetStatus,
} from '../generated/types/apps-v1.js';
import type { CronJobSpec, CronJobStatus, JobSpec, JobStatus } from '../generated/types/batch-v1.js';
import type { ServiceSpec, ServiceStatus } from '../generated/types/core-v1.js';
import type { IngressSpec, IngressStatus } from '../generated/types/networking-v1.js';
import type * as objects from './objects.js';
import type { KubernetesObject, OfKind } from './objects.js';
import type { Kind } from './resource-type.js';
import { kindOf } from './resource-type.js';
import type * as volumes from './volumes.js';

/**
 * The kinds of the API: each is a value and the type of its objects, under one name. Here are those whose types are
 * narrower than the generated ones, which are in `built-in-kinds.ts`. No other file declares a built-in kind.
 */
export * from './built-in-kinds.js';

/** Deployments, `apps/v1`. */
export type Deployment = objects.Deployment;
export const Deployment: Kind<Deployment> = kindOf('apps', 'v1', 'deployments', 'Deployment');
/** ReplicaSets, `apps/v1`. */
export type ReplicaSet = objects.ReplicaSet;
export const ReplicaSet: Kind<ReplicaSet> = kindOf('apps', 'v1', 'replicasets', 'ReplicaSet');
/** Pods, `v1`. */
export type Pod = objects.Pod;
export const Pod: Kind<Pod> = kindOf('', 'v1', 'pods', 'Pod');
/** Namespaces, `v1`. */
export type Namespace = objects.Namespace;
export const Namespace: Kind<Namespace> = kindOf('', 'v1', 'namespaces', 'Namespace', false);
/** Nodes, `v1`. */
export type Node = objects.Node;
export const Node: Kind<Node> = kindOf('', 'v1', 'nodes', 'Node', false);
/** Leases, `coordination.k8s.io/v1`. */
export type Lease = objects.Lease;
export const Lease: Kind<Lease> = kindOf('coordination.k8s.io', 'v1', 'leases', 'Lease');

/** Service accounts, `v1`. */
export interface ServiceAccount extends KubernetesObject, OfKind<'ServiceAccount'> {
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: { name?: string }[];
}
export const ServiceAccount: Kind<ServiceAccount> = kindOf('', 'v1', 'serviceaccounts', 'ServiceAccount');

/** ConfigMaps, `v1`. */
export interface ConfigMap extends KubernetesObject, OfKind<'ConfigMap'> {
  data?: Record<string, string>;
  /** Base64. */
  binaryData?: Record<string, string>;
  immutable?: boolean;
}
export const ConfigMap = kindOf<ConfigMap>('', 'v1', 'configmaps', 'ConfigMap');

/** Secrets, `v1`. */
export interface Secret extends KubernetesObject, OfKind<'Secret'> {
  /** Base64. */
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  type?: string;
  immutable?: boolean;
}
export const Secret = kindOf<Secret>('', 'v1', 'secrets', 'Secret');

/** Services, `v1`. */
export interface Service extends KubernetesObject, OfKind<'Service'> {
  spec: ServiceSpec;
  status?: ServiceStatus;
}
export const Service: Kind<Service> = kindOf('', 'v1', 'services', 'Service');

/** PersistentVolumeClaims, `v1`. */
export type PersistentVolumeClaim = volumes.PersistentVolumeClaim;
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim> = kindOf(
  '',
  'v1',
  'persistentvolumeclaims',
  'PersistentVolumeClaim',
);
/** PersistentVolumes, `v1`. */
export type PersistentVolume = volumes.PersistentVolume;
export const PersistentVolume: Kind<PersistentVolume> = kindOf(
  '',
  'v1',
  'persistentvolumes',
  'PersistentVolume',
  false,
);
/** StorageClasses, `storage.k8s.io/v1`. */
export type StorageClass = volumes.StorageClass;
export const StorageClass: Kind<StorageClass> = kindOf(
  'storage.k8s.io',
  'v1',
  'storageclasses',
  'StorageClass',
  false,
);

/** StatefulSets, `apps/v1`. */
export interface StatefulSet extends KubernetesObject, OfKind<'StatefulSet'> {
  spec: StatefulSetSpec;
  status?: StatefulSetStatus;
}
export const StatefulSet = kindOf<StatefulSet>('apps', 'v1', 'statefulsets', 'StatefulSet');

/** DaemonSets, `apps/v1`. */
export interface DaemonSet extends KubernetesObject, OfKind<'DaemonSet'> {
  spec: DaemonSetSpec;
  status?: DaemonSetStatus;
}
export const DaemonSet = kindOf<DaemonSet>('apps', 'v1', 'daemonsets', 'DaemonSet');

/** Jobs, `batch/v1`. */
export interface Job extends KubernetesObject, OfKind<'Job'> {
  spec: JobSpec;
  status?: JobStatus;
}
export const Job = kindOf<Job>('batch', 'v1', 'jobs', 'Job');

/** CronJobs, `batch/v1`. */
export interface CronJob extends KubernetesObject, OfKind<'CronJob'> {
  spec: CronJobSpec;
  status?: CronJobStatus;
}
export const CronJob = kindOf<CronJob>('batch', 'v1', 'cronjobs', 'CronJob');

/** Ingresses, `networking.k8s.io/v1`. */
export interface Ingress extends KubernetesObject, OfKind<'Ingress'> {
  spec: IngressSpec;
  status?: IngressStatus;
}
export const Ingress = kindOf<Ingress>('networking.k8s.io', 'v1', 'ingresses', 'Ingress');

/** Only served where coordinated leader election is enabled, since Kubernetes 1.33. */
export type LeaseCandidate = objects.LeaseCandidate;
export const LeaseCandidate: Kind<LeaseCandidate> = kindOf(
  'coordination.k8s.io',
  'v1beta1',
  'leasecandidates',
  'LeaseCandidate',
);

/** Deployments as a custom resource, for clusters whose own Deployment controller cannot be switched off. */
export const RollkeeperDeployment: Kind<Deployment> = kindOf(
  'rollkeeper.dev',
  'v1',
  'deployments',
  'Deployment',
);

/** Asks which user a token belongs to, `authentication.k8s.io/v1`. It is answered, not stored. */
export interface TokenReview extends KubernetesObject, OfKind<'TokenReview'> {
  spec: { token: string };
  status?: object;
}
export const TokenReview = kindOf<TokenReview>(
  'authentication.k8s.io',
  'v1',
  'tokenreviews',
  'TokenReview',
  false,
);

/** Asks whether a user may do something, `authorization.k8s.io/v1`. It is answered, not stored. */
export interface SubjectAccessReview extends KubernetesObject, OfKind<'SubjectAccessReview'> {
  spec: object;
  status?: { allowed?: boolean };
}
export const SubjectAccessReview = kindOf<SubjectAccessReview>(
  'authorization.k8s.io',
  'v1',
  'subjectaccessreviews',
  'SubjectAccessReview',
  false,
);

/** Asks what the requester may do, `authorization.k8s.io/v1`. It is answered, not stored. */
export interface SelfSubjectAccessReview extends KubernetesObject, OfKind<'SelfSubjectAccessReview'> {
  spec: object;
  status?: { allowed?: boolean };
}
export const SelfSubjectAccessReview = kindOf<SelfSubjectAccessReview>(
  'authorization.k8s.io',
  'v1',
  'selfsubjectaccessreviews',
  'SelfSubjectAccessReview',
  false,
);
