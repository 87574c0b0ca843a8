export { adoptionPatch, decideClaims, releasePatch } from './claim-decision.js';
export type { ClaimDecision } from './claim-decision.js';
export { byPodName, classifyPod } from './classify-pod.js';
export type { ClassifiedPod, PodState } from './classify-pod.js';
export { counted } from './counted.js';
export { isRejectedByNode } from './node-rejection.js';
export { ORPHAN_INDEX, orphanIndex } from './orphan-index.js';
export {
  isPodActive,
  isPodAvailable,
  isPodFinished,
  isPodReady,
  isPodTerminating,
  msUntilPodAvailable,
  parseTimeMs,
  podReadySinceMs,
} from './pod-readiness.js';
export { POD_TROUBLES, describeReason, worstTrouble } from './pod-trouble.js';
export type { PodTrouble, TroubleState } from './pod-trouble.js';
export { WHOLE_PODS, clusterController, clusterControllerFrom, unlessGone } from './cluster-controller.js';
export { ClusterRole, Endpoints, EndpointSlice, HorizontalPodAutoscaler } from './kinds.js';
export { PodDisruptionBudget, ResourceQuota } from './kinds.js';
export { NODE_INDEX, deleteDisrupted, nodeIndex } from './disrupted-pods.js';
export type { Disruption } from './disrupted-pods.js';
export { scaledValue } from './scaled-value.js';
export {
  LABEL_INDEX,
  SELECTOR_INDEX,
  TEMPLATE_INDEX,
  labelIndex,
  selectedFrom,
  selectorIndex,
  selectorIndexValue,
  selectorIndexValuesFor,
  templateIndex,
} from './selector-index.js';
export { selectorsOverlap, watchSelectorOverlaps } from './selector-overlap.js';
