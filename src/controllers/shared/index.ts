export { changeWaits } from './change-waits.js';
export type { ChangeWaits, CompiledChangeWaits } from './change-waits.js';
export { claimChildren } from './ownership/claim-children.js';
export type { ChildClaim } from './ownership/claim-children.js';
export {
  adoptionPatch,
  decideClaims,
  releasePatch,
  withoutFinalizer,
  ORPHAN_INDEX,
  orphanIndex,
} from './ownership/claim-decision.js';
export type { ClaimDecision } from './ownership/claim-decision.js';
export { byPodName, classifyPod } from './pods/classify-pod.js';
export type { ClassifiedPod, PodState } from './pods/classify-pod.js';
export { countAttributes, scaledValue } from './counts.js';
export { DRAINING, DRAIN_NOTE, drainPatch, mayHaveSessions, readDraining } from './drain/draining-pod.js';
export type { DrainingPod } from './drain/draining-pod.js';
export { KEEP_OLD_OF_OWNER, keepOldRule, parseKeepOld, renderKeepOld } from './drain/keep-old.js';
export type { KeepOldRule } from './drain/keep-old.js';
export { renderDrainCondition } from './drain/drain-condition.js';
export type { DrainCondition } from './drain/drain-condition.js';
export { FIRST_TO_GO, firstToGo, isNamed, readFirstToGo, renderFirstToGo } from './pods/first-to-go.js';
export type { FirstToGo } from './pods/first-to-go.js';
export { isRoomFreed, watchFreedRoom } from './freed-quota.js';
export { isRejectedByNode } from './pods/node-rejection.js';
export {
  FAILED_PODS_OF_OWNER,
  decideFailedPods,
  failedPodsRule,
  parseFailedPods,
  renderFailedPods,
} from './pods/failed-pods.js';
export type { ExcessPods, FailedPodsRule } from './pods/failed-pods.js';
export {
  NO_MARKS,
  POD_MARKS,
  decideMarks,
  readPodMarks,
  renderPodMarks,
  selectorKeys,
  withMarks,
} from './pods/pod-marks.js';
export { podOfReplicaSet } from './pods/pod-of-replica-set.js';
export type { MarkedPod, PodMarks } from './pods/pod-marks.js';
export {
  CONFIG_COPIES,
  PINNED_CONFIG,
  READS_COPIES,
  awaitsCopies,
  pinnedConfigOf,
  readConfigCopies,
  readingCopies,
  renderConfigCopies,
} from './pods/config-copies.js';
export type { ConfigCopies, ConfigCopyNote } from './pods/config-copies.js';
export { SOURCE_KINDS, configReferencesOf, parseSource, sourceName } from './pods/config-references.js';
export type { ConfigReference, SourceKind, SourceName } from './pods/config-references.js';
export { NO_REQUESTS, REQUESTS_OF_VERSION, servingPods } from './pods/request-mark.js';
export { POD_FAILURE_BACK_OFF, failureBackOffOf } from './pods/failure-back-off.js';
export { diedAtMs, diedBeforeReady, hasBeenReady } from './pods/pod-death.js';
export { claimOwnPods, failuresOf, isMade, ownPodIndexes, watchOrphans } from './ownership/own-pods.js';
export type { OwnPods } from './ownership/own-pods.js';
export { FAILED_CREATE, FAILED_DELETE, PodControl, isRefusal, slowStartBatch } from './pods/pod-control.js';
export type {
  CreateOutcome,
  DeleteOutcome,
  DoomedPod,
  PodControlDependencies,
  PodWords,
  SlowStartResult,
} from './pods/pod-control.js';
export { podFromTemplate } from './pods/pod-from-template.js';
export { nodeLabels } from './pods/node-labels.js';
export type { NodeLabels, WatchedNodes } from './pods/node-labels.js';
export { DEFAULT_ZONE_LABEL, ZONE_FIRST, readZoneFirst, renderZoneFirst, zoneOf } from './pods/zone-first.js';
export {
  POD_REPLACEMENT,
  POD_REPLACEMENTS,
  POD_REPLACEMENT_OF_OWNER,
  TERMINATED,
  replacesAfterEnd,
} from './pods/pod-replacement.js';
export type { PodReplacement } from './pods/pod-replacement.js';
export { choosePodNames, podNamePrefix, seedOf, stablePodNames } from './pods/pod-name.js';
export {
  isPodAvailable,
  isPodServing,
  msUntilPodAvailable,
  parseTimeMs,
  podReadySinceMs,
} from './pods/pod-readiness.js';
export { POD_TROUBLES, describeReason, worstTrouble } from './pods/pod-trouble.js';
export type { PodTrouble, TroubleState } from './pods/pod-trouble.js';
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
export { granted, withGranted } from './pods/granted-disruptions.js';
export { NODE_INDEX, deleteDisrupted, nodeIndex } from './pods/disrupted-pods.js';
export type { Disruption } from './pods/disrupted-pods.js';
export {
  BOOTSTRAP_TOKEN,
  CLUSTER_INFO,
  OwnConfigMap,
  ROOT_CA,
  SERVICE_ACCOUNT_TOKEN,
  TokenSecret,
} from './kept-parts.js';
export { KEEP_SPREAD, SCALE_DOWN, SCALE_DOWN_OF_OWNER, spreadsOf } from './pods/keep-spread.js';
export { podsToDelete, rankForDeletion } from './pods/pods-to-delete.js';
export {
  LABEL_INDEX,
  TEMPLATE_INDEX,
  labelIndex,
  selectedFrom,
  templateIndex,
} from './selectors/selector-index.js';
export { selectorsOverlap, watchSelectorOverlaps } from './selectors/selector-overlap.js';
export { RESPONDER_OF_OWNER, RESPONDS, withResponder } from './pods/eviction-responder.js';
export {
  EVICTION_INDEX,
  TARGET_INDEXES,
  evictionsFor,
  requestsFor,
  watchEndingPods,
} from './evictions/eviction-targets.js';
export { HEARTBEAT_EVERY_MS, endOf, openTurnOf, podOf, reported } from './evictions/responder-turn.js';
export type { Progress } from './evictions/responder-turn.js';
export { isCount, isShortText, isTime, readJson } from './read-json.js';
export { shortenedTo } from './pods/shortened.js';
export { stableHash } from './stable-hash.js';
