export { cloneJson } from './clone-json.js';
export { ownField, setField } from './json-fields.js';
export type { JsonFields } from './json-fields.js';
export { exactInteger, parseInt64, toDouble, toInt64 } from './int64.js';
export type { Int64 } from './int64.js';
export { parseJson, stringifyJson, writeIntegers } from './json-text.js';
export { keyOf, parseKey } from './key.js';
export type { ObjectRef } from './key.js';
export { compileLabelSelector, isEmptySelector } from './label-selector.js';
export { LabelSelectorSyntaxError, parseLabelSelector } from './label-selector-text.js';
export type { LabelMatcher, LabelSelector } from './label-selector.js';
export type {
  DeepReadonly,
  Deployment,
  DeploymentCondition,
  DeploymentSpec,
  DeploymentStatus,
  KubernetesObject,
  Lease,
  LeaseCandidate,
  Namespace,
  Node,
  ObjectMeta,
  OwnerReference,
  Pod,
  PodSpec,
  PodStatus,
  PodTemplateSpec,
  ReplicaSet,
  ReplicaSetCondition,
  ReplicaSetSpec,
  ReplicaSetStatus,
  UnstructuredObject,
} from './objects.js';
export { controllerOf, isControlledBy, newControllerRef } from './owner-references.js';
export { QUANTITY_SYNTAX, canonicalQuantity, formatQuantity, parseQuantity } from './quantity.js';
export type { Quantity } from './quantity.js';
export {
  DEPLOYMENTS,
  EVENTS,
  LEASES,
  LEASE_CANDIDATES,
  NAMESPACES,
  NODES,
  PODS,
  REPLICA_SETS,
  SERVICE_ACCOUNTS,
  apiVersionOf,
  qualifiedResource,
} from './resource-type.js';
export type { ResourceType } from './resource-type.js';
export { sameJson } from './same-json.js';
export {
  compareResourceVersions,
  isComparableResourceVersion,
  isOnlyMetByList,
  newerResourceVersion,
} from './resource-version.js';
export { exactIntegerTags } from './yaml-integers.js';
