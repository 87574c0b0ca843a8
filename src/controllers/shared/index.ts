export { changeWaits } from './change-waits.js';
export type { ChangeWaits, CompiledChangeWaits } from './change-waits.js';
export { claimChildren } from './claim-children.js';
export type { ChildClaim } from './claim-children.js';
export {
  adoptionPatch,
  decideClaims,
  releasePatch,
  withoutFinalizer,
  ORPHAN_INDEX,
  orphanIndex,
} from './claim-decision.js';
export type { ClaimDecision } from './claim-decision.js';
export { byPodName, classifyPod } from './classify-pod.js';
export type { ClassifiedPod, PodState } from './classify-pod.js';
export { counted, scaledValue } from './counts.js';
export { FIRST_TO_GO, firstToGo, isNamed, readFirstToGo, renderFirstToGo } from './first-to-go.js';
export type { FirstToGo } from './first-to-go.js';
export { isRoomFreed, watchFreedRoom } from './freed-quota.js';
export { isRejectedByNode } from './node-rejection.js';
export { claimOwnPods, failuresOf, isMade, ownPodIndexes, watchOrphans } from './own-pods.js';
export type { OwnPods } from './own-pods.js';
export { FAILED_CREATE, FAILED_DELETE, PodControl, slowStartBatch } from './pod-control.js';
export type {
  CreateOutcome,
  DeleteOutcome,
  DoomedPod,
  PodControlDependencies,
  PodWords,
  SlowStartResult,
} from './pod-control.js';
export { podFromTemplate } from './pod-from-template.js';
export { nodeLabels } from './node-labels.js';
export type { NodeLabels, WatchedNodes } from './node-labels.js';
export { DEFAULT_ZONE_LABEL, ZONE_FIRST, readZoneFirst, renderZoneFirst, zoneOf } from './zone-first.js';
export {
  POD_REPLACEMENT,
  POD_REPLACEMENTS,
  POD_REPLACEMENT_OF_OWNER,
  TERMINATED,
  replacesAfterEnd,
} from './pod-replacement.js';
export type { PodReplacement } from './pod-replacement.js';
export { choosePodNames, podNamePrefix, seedOf, stablePodNames } from './pod-name.js';
export {
  isPodAvailable,
  isPodServing,
  msUntilPodAvailable,
  parseTimeMs,
  podReadySinceMs,
} from './pod-readiness.js';
export { POD_TROUBLES, describeReason, worstTrouble } from './pod-trouble.js';
export type { PodTrouble, TroubleState } from './pod-trouble.js';
export { WHOLE_PODS, clusterController } from './cluster-controller.js';
export {
  POD_TEMPLATE_HASH,
  SELECTOR_INDEX,
  selectorIndex,
  selectorIndexValue,
  selectorIndexValuesFor,
  unlessGone,
} from '@rollkeeper/runtime';
export { ControllerRevision, REVISION_LABEL, SERVICE_NAME_LABEL } from './kinds.js';
export { granted, withGranted } from './granted-disruptions.js';
export { NODE_INDEX, deleteDisrupted, nodeIndex } from './disrupted-pods.js';
export type { Disruption } from './disrupted-pods.js';
export {
  BOOTSTRAP_TOKEN,
  CLUSTER_INFO,
  OwnConfigMap,
  ROOT_CA,
  SERVICE_ACCOUNT_TOKEN,
  TokenSecret,
} from './kept-parts.js';
export { KEEP_SPREAD, SCALE_DOWN, SCALE_DOWN_OF_OWNER, spreadsOf } from './keep-spread.js';
export { podsToDelete, rankForDeletion } from './pods-to-delete.js';
export { LABEL_INDEX, TEMPLATE_INDEX, labelIndex, selectedFrom, templateIndex } from './selector-index.js';
export { selectorsOverlap, watchSelectorOverlaps } from './selector-overlap.js';
export { isCount, isShortText, isTime, readJson } from './read-json.js';
export { shortenedTo } from './shortened.js';
export { stableHash } from './stable-hash.js';
