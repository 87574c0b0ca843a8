export { adoptionPatch, decideClaims, releasePatch } from './claim-decision.js';
export type { ClaimDecision } from './claim-decision.js';
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
export { SELECTOR_INDEX, selectorIndex, selectorIndexValuesFor } from './selector-index.js';
