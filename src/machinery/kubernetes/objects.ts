import type * as appsV1 from '../generated/types/apps-v1.js';
import type { LeaseSpec } from '../generated/types/coordination-v1.js';
import type * as coreV1 from '../generated/types/core-v1.js';
import type { NamespaceSpec, NamespaceStatus, NodeSpec, NodeStatus } from '../generated/types/core-v1.js';
import type { Int64 } from './int64.js';

/** An entry of `metadata.ownerReferences`. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** `metav1.ObjectMeta`, with times as RFC 3339 text. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: Int64;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
}

/** Any object that the Kubernetes API stores. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** Never present at run time. */
declare const kindName: unique symbol;

/**
 * Sets the objects of a built-in kind apart, so that none is taken for one of another kind whose fields are all optional. Objects
 * that say nothing of it, from other libraries or written out, are taken as they are.
 */
export interface OfKind<Name extends string> {
  readonly [kindName]?: Name;
}

/** An object with untyped fields beyond the metadata. */
export interface UnstructuredObject extends KubernetesObject {
  [field: string]: unknown;
}

/**
 * An object as one of its kind. The compiler cannot know the kind: it follows from the resource under which the object is stored,
 * or from the schema by which it was decoded. Until an object has been validated, its type is `DecodedObject`.
 */
export function objectOfKind<T extends KubernetesObject>(object: KubernetesObject): T {
  return object as T;
}

/** JSON that should be an object. Whether it is one has still to be checked: a field may be missing, or hold anything. */
export function uncheckedObject(json: unknown): UnstructuredObject {
  return json as UnstructuredObject;
}

/** The same object with untyped fields: what any kind has beyond the metadata. */
export function unstructured(object: KubernetesObject): UnstructuredObject {
  return object as UnstructuredObject;
}

/** The models type every integer as `number`. These fields are int64 and are computed with. */
type WithInt64<T, Field extends keyof T> = Omit<T, Field> & { [Name in Field]?: Int64 };

export type PodTemplateSpec = coreV1.PodTemplateSpec;
export type DeploymentSpec = appsV1.DeploymentSpec;
export type DeploymentStatus = appsV1.DeploymentStatus;
export type DeploymentCondition = NonNullable<appsV1.DeploymentStatus['conditions']>[number];
export type ReplicaSetSpec = appsV1.ReplicaSetSpec;
export type ReplicaSetStatus = appsV1.ReplicaSetStatus;
export type ReplicaSetCondition = NonNullable<appsV1.ReplicaSetStatus['conditions']>[number];
export type PodSpec = WithInt64<coreV1.PodSpec, 'activeDeadlineSeconds' | 'terminationGracePeriodSeconds'>;
export type PodStatus = coreV1.PodStatus;

export interface Deployment extends KubernetesObject, OfKind<'Deployment'> {
  spec: DeploymentSpec;
  status?: DeploymentStatus;
}

export interface ReplicaSet extends KubernetesObject, OfKind<'ReplicaSet'> {
  spec: ReplicaSetSpec;
  status?: ReplicaSetStatus;
}

export interface Pod extends KubernetesObject, OfKind<'Pod'> {
  spec: PodSpec;
  status?: PodStatus;
}

export interface Namespace extends KubernetesObject, OfKind<'Namespace'> {
  spec?: NamespaceSpec;
  status?: NamespaceStatus;
}

export interface Node extends KubernetesObject, OfKind<'Node'> {
  spec?: NodeSpec;
  status?: NodeStatus;
}

export interface Lease extends KubernetesObject, OfKind<'Lease'> {
  spec?: LeaseSpec;
}

export interface LeaseCandidate extends KubernetesObject, OfKind<'LeaseCandidate'> {
  spec: {
    /** The Lease that the candidate competes for; immutable. */
    leaseName: string;
    /** Semver without `v`. */
    binaryVersion: string;
    emulationVersion?: string;
    strategy?: string;
    /** When the coordinator last pinged the candidate, and when the candidate last answered. */
    pingTime?: string;
    renewTime?: string;
  };
}

/** `T` with every property read-only at every depth: the type of cached objects. */
export type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;
