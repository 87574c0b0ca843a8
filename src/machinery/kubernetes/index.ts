export { NAMES_VERIFIED } from './names-verified.js';
export type { NameTrust } from './names-verified.js';
export { NO_USAGE, containerUsages, saysUsageOfNode, totalUsage, usagesOfNode } from './container-usage.js';
export type { ContainerUsage, Usage } from './container-usage.js';
export { isSidecar, mostAtOnce, requestsAllocated, resizedResources, totalOfPod } from './pod-requests.js';
export type { AmountArithmetic } from './pod-requests.js';
export { cloneJson, isList, isJsonObject, isOneOf, ownField, sameJson, setField } from './json-values.js';
export {
  MIRROR_POD,
  containerAnnotation,
  isMirrorPod,
  isPodActive,
  isPodFinished,
  isPodReady,
  isPodTerminating,
  readyConditionOf,
} from './pods.js';
export type { JsonFields } from './json-values.js';
export { findCondition, isConditionTrue, removeCondition, setCondition } from './conditions.js';
export type { Condition } from './conditions.js';
export { canonicalJson } from './canonical-json.js';
export { exactInteger, parseInt64, toDouble, toInt64, exactIntegerTags } from './int64.js';
export type { Int64 } from './int64.js';
export { compileJsonPath } from './json-path.js';
export { parseJson, parseJsonWithFractions, stringifyJson, writeIntegers } from './json-text.js';
export type { WrittenFractions } from './json-text.js';
export { keyOf, parseKey, apiVersionOf, qualifiedResource, untyped } from './resource-type.js';
export {
  compileNodeSelection,
  compileNodeTerm,
  compileNodeTerms,
  isNodeSelected,
  isSelectedByTerms,
  nodeNamedByAffinity,
  tolerates,
} from './node-fit.js';
export type { NodeMatcher, NodeTerm, Taint, Toleration } from './node-fit.js';
export * from './kinds.js';
export type { Kind, ObjectRef, ResourceType, TypedResource } from './resource-type.js';
export { compileLabelSelector, isEmptySelector, tryCompileLabelSelector } from './label-selector.js';
export {
  addAmounts,
  containerAmounts,
  greaterAmounts,
  isPodLevelResource,
  pickAmounts,
  subtractAmounts,
  sumOfCommon,
} from './amounts.js';
export { goJsonEscapes, goQuote, goQuoteChar, goSyntax, goTypeOf, goValue, isPrintable } from './go-text.js';
export { LabelSelectorSyntaxError, parseLabelSelector, selectorText } from './label-selector-text.js';
export type { LabelMatcher, LabelSelector } from './label-selector.js';
export type { Decoded, DecodedObject } from './decoded.js';
export { objectOfKind, uncheckedObject, unstructured } from './objects.js';
export type {
  DeepReadonly,
  DeploymentCondition,
  DeploymentSpec,
  DeploymentStatus,
  KubernetesObject,
  ObjectMeta,
  OwnerReference,
  PodSpec,
  PodStatus,
  PodTemplateSpec,
  ReplicaSetCondition,
  ReplicaSetSpec,
  ReplicaSetStatus,
  OfKind,
  UnstructuredObject,
} from './objects.js';
export { controllerOf, isControlledBy, isInReach, newControllerRef, ownerUids } from './owner-references.js';
export {
  EVICTION_ASKED,
  ON_EVICTION,
  SURGE,
  evictionAskedForMs,
  isEvictionToBeNoted,
} from './asked-eviction.js';
export {
  DEPLOYMENT_RESPONDER,
  EVICTION_FAILED,
  Eviction,
  EvictionRequest,
  HEARTBEAT_DEADLINE_MS,
  IMPERATIVE_EVICTOR,
  LIFECYCLE_GROUP,
  RESPONDER_STATES,
  TARGET_EVICTED,
  compareResponders,
  hasEvictionEnded,
  responderStatusOf,
} from './evictions.js';
export type {
  EvictionIntent,
  EvictionPodReference,
  EvictionResponder,
  ResponderState,
  ResponderStatus,
  TargetResponder,
  WithEvictionResponders,
} from './evictions.js';
export type { Replacement } from './decide-replacement.js';
export { decideReplacement } from './decide-replacement.js';
export { REPLACES_PODS_OF, renderReplacedOwners, replacedOwners } from './replaced-pods.js';
export { POD_DELETION_COST, parseDeletionCost } from './pod-deletion-cost.js';
export {
  NANOS,
  QUANTITY_SYNTAX,
  canonicalQuantity,
  formatQuantity,
  nanosOf,
  parseQuantity,
  roundedUp,
} from './quantity.js';
export type { Amount, Amounts, Quantity } from './quantity.js';
export {
  DNS_1035_LABEL,
  DNS_1123_LABEL,
  MAX_LABEL_LENGTH,
  SAFE_ALPHABET,
  applyGeneratedName,
  generatedName,
  isDnsLabel,
} from './names.js';
export {
  NON_NEGATIVE,
  FIELD_IMMUTABLE,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkDns1035Label,
  checkWildcardSubdomain,
  checkFullyQualifiedName,
  checkConfigMapKey,
  checkPathSegment,
  checkLabelValue,
  checkQualifiedName,
  checkSubdomainWithUnderscores,
  checkEnvName,
  checkPercent,
  checkPortNumber,
  checkPortName,
  outOfRange,
} from './syntax.js';
export { mergePatch } from './merge-patch.js';
export { isTerminating, transitionTime } from './object-state.js';
export { asSent, readOnly, writableCopy } from './read-only.js';
export { sameMeaning, semanticEqual } from './semantic-equal.js';
export {
  compareResourceVersions,
  isComparableResourceVersion,
  isOnlyMetByList,
  newerResourceVersion,
  newestOfEach,
} from './resource-version.js';
export type { ResourceVersions } from './resource-version.js';
export {
  BETA_DEFAULT_STORAGE_CLASS,
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  CLAIM_PROTECTION,
  DEFAULT_STORAGE_CLASS,
  NO_PROVISIONER,
  PROVISIONED_BY,
  SELECTED_NODE,
  SIMULATED_CSI_DRIVER,
  SIMULATED_PROVISIONER,
  STORAGE_PROVISIONER,
  VOLUME_ATTRIBUTES_CLASS_PROTECTION,
  VOLUME_PROTECTION,
  claimNamesOf,
  ephemeralClaimName,
  newestDefault,
  storageClassNameOf,
} from './volumes.js';
export { findVolume, givingPatch, isBoundTo, isWithinReach, mismatchOf } from './volume-match.js';
export type { MatchOptions } from './volume-match.js';
export {
  SHARD_HASHES,
  isInShard,
  shardHash,
  shardIndexOf,
  shardRangeOf,
  shardSelectorText,
} from './shard-ranges.js';
export type { ShardField, ShardRange } from './shard-ranges.js';
