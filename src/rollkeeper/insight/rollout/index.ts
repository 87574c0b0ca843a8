export type { RolloutReport } from './describe-rollout.js';
export { followRollout, lookAtRollout } from './follow-rollout.js';
export type { FollowOptions, RolloutEnd, RolloutReporter } from './follow-rollout.js';
export { HiddenValues, withoutMarks } from './hide-values.js';
export { hasSomethingToRetry, requestOfRollout } from './request-of-rollout.js';
export type { RolloutRequest } from './request-of-rollout.js';
export { GithubReporter, JsonReporter, LineReporter, TerminalReporter } from './reporters.js';
export type { Print } from './reporters.js';
export type { RolloutOutcome, WaitUntil } from './rollout-outcome.js';
export { readRelease, renderRelease } from './release-report.js';
export type { ReleaseMember, ReleaseReport } from './release-report.js';
export { rolloutTrack } from './rollout-track.js';
export type { RolloutTrack, TrackedStep } from './rollout-track.js';
export type { ChangeNote } from './change-note.js';
export { rolloutHistory } from './rollout-history.js';
export type { RevisionReport, RevisionResult } from './rollout-history.js';
export { renderDiff } from './revision-diff.js';
export type { RevisionChange, RevisionDiff } from './revision-diff.js';
export { renderTimeline } from './timeline.js';
export type { TimelineEntry } from './timeline.js';
export {
  compareRevisions,
  diffRevisions,
  prepareUndo,
  readHistory,
  readTimeline,
  renderHistory,
  restartRollout,
  setPaused,
} from './rollout-verbs.js';
export type { RolloutTarget, Undo } from './rollout-verbs.js';
export { findSetTarget, setRollout } from './set-target.js';
export { scaleDeployment, scaleReplicaSet } from './scale.js';
export type { ScaleEnd, ScaleRequest } from './scale.js';
export { readWholeTimeline } from './whole-timeline.js';
export type { Timeline } from './whole-timeline.js';
export { WatchedRollout } from './watched-rollout.js';
